//go:build cuda && cgo && linux

package cuda

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cuda/internal/ptxsim"
)

// The solver's kernels as the PTX that ships has them give the bits of package asm, for a problem
// of two blocks of variables on every second column of few rows.
func TestPTXSolve(t *testing.T) {
	const documents, variables, rows, stride = 530, 1060, 11, 1152
	m, err := ptxsim.Parse(ptx)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	k := asm.Best()
	const padded = (variables + asm.ScanBlock - 1) / asm.ScanBlock * asm.ScanBlock
	score, narrow, mask := make([]float64, padded), make([]byte, padded), make([]uint32, variables)
	column, matrix := make([]uint32, documents), make([]float32, rows*stride)
	for i := range variables {
		score[i], narrow[i] = float64(random.IntN(2000)-1000)/64, byte(random.IntN(16))
		mask[i] = uint32(narrow[i])
	}
	for i := range column {
		column[i] = uint32(2*i + 3)
	}
	for i := range matrix {
		matrix[i] = random.Float32()
	}
	g := &ptxsim.Grid{}
	own := slices.Clone(score[:variables])
	board := ptxsim.Buffer(g, []uint64{
		ptxsim.Buffer(g, own), ptxsim.Buffer(g, mask), ptxsim.Buffer(g, column), ptxsim.Buffer(g, matrix),
		documents, variables,
	})
	run := func(name string, blocks, y, threads int, arguments ...any) {
		t.Helper()
		g.Blocks, g.Threads = [2]uint32{uint32(blocks), uint32(y)}, [2]uint32{uint32(threads), 1}
		if err := m.Run(name, g, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	const blocks = (variables + boardVariables - 1) / boardVariables

	from, by := make([]int64, rows), make([]float64, rows)
	for r := range rows {
		from[r], by[r] = int64((r*7)%rows)*stride, random.NormFloat64()
	}
	changed, masks := []uint32{0, 529, 530, 1059}, []uint32{3, 0, 15, 1}
	update := ptxsim.Buffer(g, []uint64{
		ptxsim.Buffer(g, from), ptxsim.Buffer(g, by), ptxsim.Buffer(g, changed), ptxsim.Buffer(g, masks),
		rows, uint64(len(changed)),
	})
	run("addRows", (documents+boardThreads-1)/boardThreads, 1, boardThreads, board, update)
	for i := range variables {
		for r := range rows {
			score[i] = math.FMA(by[r], float64(matrix[from[r]+int64(column[i%documents])]), score[i])
		}
		if own[i] != score[i] {
			t.Fatalf("score %d is %v, expected %v", i, own[i], score[i])
		}
	}
	for i, at := range changed {
		narrow[at] = byte(masks[i])
		if mask[at] != masks[i] {
			t.Errorf("mask %d is %d, expected %d", at, mask[at], masks[i])
		}
	}

	e := make([]ends, blocks)
	run("extremes", blocks, 1, boardThreads, board, ptxsim.Buffer(g, e), int32(1), int32(2))
	for b, e := range e {
		lo, hi := b*boardVariables, min((b+1)*boardVariables, padded)
		i, most, j, least := k.Extremes(score[lo:hi], narrow[lo:hi], 1, 2)
		if want := (ends{most, least, int64(lo + i), int64(lo + j)}); e != want {
			t.Errorf("block %d: extremes %v, expected %v", b, e, want)
		}
	}

	for _, way := range []float64{1, -1} {
		const above = 3.25
		count, found := make([]uint32, blocks), make([]candidate, 1+variables)
		bound := ptxsim.Buffer(g, []uint64{
			ptxsim.Buffer(g, count), ptxsim.Buffer(g, found), math.Float64bits(way), math.Float64bits(above),
			4, blocks,
		})
		run("beyondCount", blocks, 1, boardThreads, board, bound)
		run("beyondList", blocks, 1, boardThreads, board, bound)
		want := make([]int32, padded)
		want = want[:k.Beyond(want, score, narrow, 4, way, above)]
		if n := int(found[0].at); n != len(want) || n == 0 {
			t.Fatalf("%d variables beyond the bound, expected %d", n, len(want))
		}
		for i, at := range want {
			if found[1+i] != (candidate{score[at], int64(at)}) {
				t.Fatalf("variable %d of those beyond is %v, expected %d", i, found[1+i], at)
			}
		}
	}

	vars := make([]uint32, 131)
	places := make([]uint32, len(vars))
	for c := range vars {
		vars[c] = uint32(c * 8)
		places[c] = column[vars[c]%documents]
	}
	value, scores := make([]float32, rows*len(vars)), make([]float64, len(vars))
	picked := ptxsim.Buffer(g, []uint64{
		ptxsim.Buffer(g, from), ptxsim.Buffer(g, places), ptxsim.Buffer(g, vars),
		ptxsim.Buffer(g, value), ptxsim.Buffer(g, scores), rows, uint64(len(vars)),
	})
	run("pick", (len(vars)+pickThreads-1)/pickThreads, rows+1, pickThreads, board, picked)
	for c, at := range vars {
		if scores[c] != score[at] {
			t.Errorf("score %d is %v, expected %v", at, scores[c], score[at])
		}
		for r := range rows {
			if got, want := value[r*len(vars)+c], matrix[from[r]+int64(places[c])]; got != want {
				t.Fatalf("(%d, %d) is %v, expected %v", r, c, got, want)
			}
		}
	}
}
