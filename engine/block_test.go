package engine

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Blocks of all places and shapes have the bits of Gram: on the diagonal, beside it, across the seam
// of tails, of any number of rows, with tails that go straight into a tile and those that don't.
func TestBlockSameBits(t *testing.T) {
	const n = SeamDocuments + 700
	for _, length := range []int{8, 60} {
		x := embedded(t, sparse.Sphere, zipf(n, 3000, length, 3))
		k := parse(t, "diffusion:t=0.5")
		for _, isa := range asm.Available() {
			for _, workers := range []int{1, 3} {
				e := newEngine(t, x, Options{ISA: string(isa), Workers: workers})
				want, err := e.Gram(t.Context(), k)
				if err != nil {
					t.Fatal(err)
				}
				for _, at := range [][2][2]int{
					{{0, n}, {0, n}}, {{1024, 2560}, {1024, 2560}}, {{n - n%128, n}, {n - n%128, n}}, {{4224, n}, {4224, n}},
					{{2048, 4096}, {0, 2048}}, {{4096, n}, {128, 640}}, {{3, 5}, {4096, n}},
					{{2048, 4096}, {1024, 4096}}, {{3000, n}, {128, n}}, {{100, 1280}, {0, 1280}},
					{{7, 7}, {0, 128}},
					{{0, 1}, {0, n}},
				} {
					rows, columns := at[0], at[1]
					dst := NewDense(rows[1]-rows[0], columns[1]-columns[0])
					for i := range dst.Data {
						dst.Data[i] = float32(math.NaN())
					}
					if err := e.Block(t.Context(), k, rows, columns, dst); err != nil {
						t.Fatal(err)
					}
					for i := range dst.Rows {
						if !sameBits(dst.Row(i), want.Row(rows[0] + i)[columns[0]:columns[1]]) {
							t.Fatalf("%s, %d workers: row %d of rows %v and columns %v differs from Gram", isa, workers, i, rows, columns)
						}
					}
				}
			}
		}
	}
}

func TestBlockRefuses(t *testing.T) {
	x := embedded(t, sparse.Sphere, zipf(300, 3000, 20, 3))
	e, k := newEngine(t, x, Options{}), parse(t, "diffusion:t=0.5")
	for _, at := range [][2][2]int{
		{{-1, 2}, {0, 128}}, {{2, 1}, {0, 128}}, {{0, 301}, {0, 128}}, {{0, 1}, {1, 129}}, {{0, 1}, {0, 100}},
		{{0, 1}, {256, 128}}, {{0, 1}, {128, 384}},
	} {
		dst := &Dense{Rows: at[0][1] - at[0][0], Cols: at[1][1] - at[1][0]}
		if dst.Rows > 0 && dst.Cols > 0 {
			dst = NewDense(dst.Rows, dst.Cols)
		}
		if err := e.Block(t.Context(), k, at[0], at[1], dst); err == nil {
			t.Errorf("rows %v and columns %v of 300 documents pass", at[0], at[1])
		}
	}
	for _, dst := range []*Dense{nil, NewDense(2, 127), NewDense(3, 128), {Rows: 2, Cols: 128}} {
		if err := e.Block(t.Context(), k, [2]int{0, 2}, [2]int{0, device.Columns}, dst); err == nil {
			t.Errorf("destination %+v passes for 2×128", dst)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := e.Block(ctx, k, [2]int{0, 300}, [2]int{0, 300}, NewDense(300, 300))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: error %v", err)
	}
}
