package svm

import (
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
)

// If part of the matrix fits into memory, one-vs-one computes little more than the block of each
// pair of classes: values in diagonal blocks once while they are cached, other values twice.
// Problems sorted by size compute 5% more here, longer tiles four times as much.
func TestPairsShareTiles(t *testing.T) {
	musttest.SkipRace(t)
	const n, classes = 6144, 12 // 512 documents per class, as a tile has columns
	c := read(t, "synthetic:docs=6144,terms=3000,length=12,classes=12,seed=4", corpus.Options{})
	k := kernel.MustParse(DefaultKernel)
	p := problem(t, c, k, Options{CacheBytes: 2 * 4 * n * n / 6, Workers: 1})
	if p.cached.FitsInMemory() {
		t.Fatal("the whole matrix fits")
	}
	if _, _, err := p.Train(t.Context(), Settings{Kernel: k, C: 10}); err != nil {
		t.Fatal(err)
	}
	if got := p.CacheStats().PairsComputed; !(got <= 6*n*n/5) {
		t.Errorf("%d dot products, expected at most %d for %d pairs of documents and %d classes", got, 6*n*n/5,
			n*(n+1)/2, classes)
	}
}
