package verify

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

func TestSpread(t *testing.T) {
	matrix := func(rows, length int) *sparse.CSR {
		m := &sparse.CSR{Cols: length, Offsets: make([]int64, rows+1)}
		for i := range m.Offsets {
			m.Offsets[i] = int64(i * length)
		}
		return m
	}
	for _, test := range []struct {
		rows, length int
		room         int64
		least, most  int // allowed numbers of documents
	}{
		{100, 10, 0, 100, 100},
		{10_000, 200, 0, sameBitsDocuments, sameBitsDocuments},
		// 10 documents have 1,000,000 values; each step removes at most an eighth of the documents.
		{260, 100_000, 0, 8, 10},
		{10, 3_000_000, 0, 2, 2},      // never fewer than 2
		{5000, 10, 8 << 20, 800, 900}, // 8n² + 1200n + 760n is at most 8 MiB for n = 908
		{1, 10, 0, 1, 1},
	} {
		got := spacedDocuments(matrix(test.rows, test.length), sameBitsDocuments, test.room)
		if len(got) < test.least || len(got) > test.most {
			t.Errorf("%d documents of %d values in %d bytes: %d are taken, expected %d to %d", test.rows, test.length,
				test.room, len(got), test.least, test.most)
		}
		for k, d := range got {
			if d < 0 || d >= test.rows || k > 0 && d <= got[k-1] {
				t.Fatalf("documents %v aren't ascending ones of %d", got, test.rows)
			}
		}
		if len(got) > 1 && got[len(got)-1] < test.rows/2 {
			t.Errorf("documents %v aren't spread over %d", got, test.rows)
		}
	}
}

// Each of the other methods must detect a changed value of the matrix.
func TestAnyWayFindsDifferences(t *testing.T) {
	docs := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=400,terms=500,length=20", corpus.Options{}))(t)
	c := kernel.MustParse("c")
	x := musttest.Get(source.Embed(t.Context(), docs, c.Embedding(), 1))(t)
	v := &verifier{p: &cli.Progress{}}
	v.Workers = 2
	whole, again := newSymmetric(400), newSymmetric(400)
	first := whole.Data
	for _, isa := range asm.Available() {
		eng, differ, err := v.compareWorkers(context.Background(), x, isa, c, whole, again)
		if err != nil || differ != "" {
			t.Fatalf("%s: %v, %q", isa, err, differ)
		}
		if differ, err = compareMethods(context.Background(), docs, x, eng, c, first); err != nil || differ != "" {
			t.Fatalf("%s: %v, %q", isa, err, differ)
		}
		at := 399*400 + 7 // in the last row, which all methods compute
		first[at] = math.Nextafter32(first[at], 9)
		if last := spacedDocuments(docs.Documents, crossDocuments, 0)[crossDocuments-1]; last != 398 {
			t.Fatalf("the last test document is %d, expected 398", last)
		}
		first[398*400+7] = math.Nextafter32(first[398*400+7], 9)
		differ, err = compareMethods(context.Background(), docs, x, eng, c, first)
		for _, want := range []string{"stripes differ", "row 399 differs", "row of test document 398 differs"} {
			if err != nil || !strings.Contains(differ, want) {
				t.Errorf("%s: found %q, %v, expected %q", isa, differ, err, want)
			}
		}
	}
}
