package engine

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
)

// blocksOf finds the neighbours in all blocks between cuts, and merges the lists of each range of
// documents.
func blocksOf(t *testing.T, e *Engine, k kernel.Kernel, cuts []int, opt NeighbourOptions) (lists [][]Neighbour) {
	t.Helper()
	parts := make([][][][]Neighbour, len(cuts)-1) // one list of blocks per range
	for a := range parts {
		for b := range a + 1 {
			rows, columns := [2]int{cuts[a], cuts[a+1]}, [2]int{cuts[b], cuts[b+1]}
			if (a+b)%2 == 0 {
				rows, columns = columns, rows
			}
			block := musttest.Get(e.NeighbourBlock(t.Context(), k, rows, columns, opt))(t)
			if (a+b)%2 == 0 && a != b {
				block.Rows, block.Columns = block.Columns, block.Rows
			}
			parts[a] = append(parts[a], block.Rows)
			if a != b {
				parts[b] = append(parts[b], block.Columns)
			} else if block.Columns != nil {
				t.Fatal("columns of a block on the diagonal have lists")
			}
		}
	}
	for _, part := range parts {
		near := musttest.Get(e.MergeNeighbours(t.Context(), k, 0, part, opt))(t)
		for i := range near.Len() {
			lists = append(lists, near.List(i))
		}
	}
	return lists
}

// Merged blocks equal Neighbours bit for bit on every instruction set, for any ranges: for equal
// values, if a minimum or rounding of the map excludes documents, and for the kernel c.
func TestNeighbourBlocks(t *testing.T) {
	specs := []string{"diffusion:t=0.5", "linear", "rbf:gamma=0.01", "chi2", "ngd"}
	if testing.Short() {
		specs = specs[:2]
	}
	r := rand.New(rand.NewPCG(5, 5))
	for _, isa := range enginetest.ISAs() {
		for _, spec := range specs {
			k := kernel.MustParse(spec)
			size := 250
			if spec == "diffusion:t=0.5" {
				size = 1200 // several tiles
			}
			x := enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(size, 2000, 8, 5))
			e := newEngine(t, x, Options{ISA: string(isa), Workers: 3})
			n := e.Len()
			for round, count := range []int{1, 10, 70, n + 5} {
				opt := NeighbourOptions{Count: count}
				if round%3 == 1 {
					near := musttest.Get(e.Neighbours(t.Context(), k, opt))(t)
					opt.MinValue = new(float64(near.List(n / 2)[0].Value)) // largest value of document n/2
				}
				want := musttest.Get(e.Neighbours(t.Context(), k, opt))(t)
				cuts := []int{0, r.IntN(n), r.IntN(n), r.IntN(n), n}
				slices.Sort(cuts)
				before := e.Stats().Pairs
				got := blocksOf(t, e, k, cuts, opt)
				// Other pairs within panels and columns before the block are computed, too.
				most := compute.TrianglePairCount(n) + int64(n)*int64(e.Info().Kernels.PanelWidth+4*128)
				if pairs := e.Stats().Pairs - before; pairs > most {
					t.Errorf("%d pairs of %d documents, expected at most %d", pairs, n, most)
				}
				for i := range n {
					if !slices.Equal(got[i], want.List(i)) {
						t.Fatalf("%s, %s, k = %d, cuts %d, document %d: %v, expected %v", isa, spec, count, cuts, i, got[i],
							want.List(i))
					}
				}
			}
		}
	}
}

// Blocks of one document, or of none, have no neighbours.
func TestNeighbourBlocksOfNone(t *testing.T) {
	k := kernel.MustParse("diffusion")
	e := newEngine(t, enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(30, 200, 8, 5)), Options{})
	one := NeighbourOptions{Count: 1}
	for _, b := range [][2][2]int{{{3, 3}, {3, 3}}, {{3, 4}, {3, 4}}, {{3, 3}, {5, 9}}} { // one document, or none
		block, err := e.NeighbourBlock(t.Context(), k, b[0], b[1], one)
		if err != nil || len(slices.Concat(block.Rows...))+len(slices.Concat(block.Columns...)) > 0 {
			t.Errorf("rows %d, columns %d: %v, %v", b[0], b[1], block, err)
		}
	}
}
