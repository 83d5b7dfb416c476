package engine

import (
	"fmt"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Blocks of all positions and shapes are bit-identical to Gram, with each pair once, or at most
// once above a final diagonal: on and off the diagonal, across the boundary of tail blocks, for any
// number of rows, and for tails that are summed in a tile directly or not.
func TestBlocksSameBits(t *testing.T) {
	const n = MinTailBlockDocuments + 700
	lengths := []int{8, 60}
	if testing.Short() { // under the race detector a pass takes half a minute
		lengths = lengths[:1]
	}
	for at, length := range lengths {
		x := embedded(t, sparse.SphereEmbedding, zipf(n, 3000, length, 3))
		k := parse(t, "diffusion:t=0.5")
		isas := enginetest.ISAs()
		for in, isa := range isas {
			workers := 1 + 2*((at+in+1)%2) // each set is tested with both numbers
			e := newEngine(t, x, Options{ISA: string(isa), Workers: workers})
			want := musttest.Get(e.Gram(t.Context(), k, nil))(t)
			for _, at := range [][2][2]int{
				{{0, n}, {0, n}}, {{1024, 2560}, {1024, 2560}}, {{n - n%128, n}, {n - n%128, n}}, {{4224, n}, {4224, n}},
				{{2048, 4096}, {0, 2048}}, {{4096, n}, {128, 640}}, {{3, 5}, {4096, n}},
				{{2048, 4096}, {1024, 4096}}, {{3000, n}, {128, n}}, {{100, 1280}, {0, 1280}},
				{{7, 7}, {0, 128}},
				{{0, 1}, {0, n}},
			} {
				rows, columns := at[0], at[1]
				high := rows[1] - rows[0]
				seen := make([]byte, (columns[1]-columns[0])*high) // by columns; no two tiles share a value, nor a race
				err := e.EachTile(t.Context(), k, Request{RowRange: rows, ColumnRange: columns, OmitSymmetric: true},
					func(tile *Tile) error {
						for a := range tile.Rows {
							j := tile.FirstRow + a
							if !sameBits(tile.Values[a*tile.Stride:][:tile.Cols], want.Row(j)[tile.FirstColumn:][:tile.Cols]) {
								return fmt.Errorf("column %d, rows from %d on differ from Gram", j, tile.FirstColumn)
							}
							line := seen[(j-columns[0])*high+tile.FirstColumn-rows[0]:][:tile.Cols]
							for i := range line {
								line[i]++
							}
						}
						return nil
					})
				if err != nil {
					t.Fatalf("%s, %d workers, rows %v and columns %v: %v", isa, workers, rows, columns, err)
				}
				for j := columns[0]; j < columns[1]; j++ {
					for at, n := range seen[(j-columns[0])*high:][:high] {
						i := rows[0] + at
						if n != 1 && (n > 1 || rows[1] != columns[1] || rows[0] < columns[0] || j <= i) {
							t.Fatalf("%s, %d workers, rows %v and columns %v: row %d, column %d is in %d tiles", isa, workers, rows,
								columns, i, j, n)
						}
					}
				}
			}
		}
	}
}
