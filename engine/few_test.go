package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// The row of a single test document, computed from dense columns, has the same bits as among many
// rows, for every instruction set, head and pairing.
func TestSingleDocuments(t *testing.T) {
	musttest.SkipRace(t)
	ctx := context.Background()
	read := func(source string) *sparse.CSR {
		c := musttest.Get(corpus.Read(ctx, source, corpus.Options{}))(t)
		return c.Documents
	}
	for _, length := range []int{12, 90, 900} { // short tails, long tails, many segments
		terms := 40 * length
		train := read(fmt.Sprintf("synthetic:docs=601,terms=%d,length=%d,classes=2,seed=3", terms, length))
		test := read(fmt.Sprintf("synthetic:docs=9,terms=%d,length=%d,classes=2,seed=4", terms, length))
		same := train.SelectRows([]int{5})
		for _, spec := range []string{"diffusion:t=0.5", "rbf:gamma=0.1,embed=tfidf", "linear:embed=tf-l1-chi2"} {
			k := musttest.Get(kernel.Parse(spec))(t)
			embedder := k.Embedding().Fit(train)
			x := musttest.Get(embedder.Transform(train))(t)
			for _, isa := range enginetest.ISAs() {
				heads := []int{0, -1, 100, 40 * length}
				if length == 90 {
					heads = heads[:2]
				}
				for _, head := range heads {
					t.Run(fmt.Sprintf("%s/isa=%s/length=%d/head=%d", spec, isa, length, head), func(t *testing.T) {
						e := musttest.Get(engine.New(x, engine.Options{ISA: string(isa), HeadTerms: head, DenseCopyBytes: 1 << 30}))(t)
						both := []*sparse.CSR{test, same}
						var wanted [2]*engine.Dense
						for d, docs := range both {
							rows := slices.Repeat([]int{0}, 9) // enough rows for the usual method
							for i := range docs.Rows() {
								rows[i] = i
							}
							many := musttest.Get(embedder.Transform(docs.SelectRows(rows)))(t)
							wanted[d] = musttest.Get(e.Rows(ctx, k, engine.Request{TestDocuments: many}, nil))(t)
						}
						before := e.Info().Bytes
						for d, docs := range both {
							want := wanted[d]
							for round := range 2 {
								for i := range docs.Rows() {
									one := musttest.Get(embedder.Transform(docs.SelectRows([]int{i})))(t)
									got := musttest.Get(e.Rows(ctx, k, engine.Request{TestDocuments: one}, nil))(t)
									if !slices.Equal(got.Row(0), want.Row(i)) {
										t.Fatalf("round %d: row %d has other bits by itself", round, i)
									}
								}
							}
						}
						head := e.Info().Head
						if kept := e.Info().Bytes > before; kept != (head.TermCount > 0 && head.DenseOperand == engine.DenseRows) {
							t.Errorf("%d bytes, before single documents %d, of head %+v", e.Info().Bytes, before, head)
						}
					})
				}
			}
		}
	}
}
