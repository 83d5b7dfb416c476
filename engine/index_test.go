package engine

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// An index stores panels if memory allows. Results are the same without panels.
func TestIndexMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("one worker, thousands of documents")
	}
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(8000, 3000, 30, 1))
	index := func(opt Options) *Index {
		opt.Workers, opt.HeadTerms = 1, 2500
		return musttest.Get(NewIndex(t.Context(), x, opt))(t)
	}
	all, none := index(Options{}), index(Options{DenseCopyBytes: 1})
	kept := all.e.Info().Bytes - none.e.Info().Bytes
	if kept < 64<<20 {
		t.Fatalf("panels take %d bytes, too few for this test", kept)
	}
	forward, lists := none.j.Bytes(none.j.Counts.PrefixValues)
	bound := none.e.Info().Bytes + 2*(forward+lists) + kept/2
	tight := index(Options{MemoryBytes: bound})
	defer func(f func() (int64, bool)) { compute.AvailableMemory = f }(compute.AvailableMemory)
	compute.AvailableMemory = func() (int64, bool) { return kept / 2, true }
	for name, own := range map[string]*Index{"a bound": tight, "the machine": index(Options{})} {
		if own.e.Info().Bytes > bound {
			t.Errorf("%s: %d bytes, expected at most %d", name, own.e.Info().Bytes, bound)
		}
		for i := 0; i < x.Rows(); i += 999 {
			got, err := own.Nearest(t.Context(), x, i, 9, nil)
			want, failed := all.Nearest(t.Context(), x, i, 9, nil)
			if err != nil || failed != nil || !slices.Equal(got, want) {
				t.Errorf("%s: document %d has %v, %v, expected %v, %v", name, i, got, err, want, failed)
			}
		}
	}
	if _, err := NewIndex(t.Context(), x, Options{MemoryBytes: none.e.Info().Bytes}); !errors.As(err, new(*MemoryError)) {
		t.Errorf("memory for no lists: %v", err)
	}
	device := func(context.Context, *sparse.Embedded) (Device, error) { t.Error("a device was made"); return nil, nil }
	musttest.WantError(NewIndex(t.Context(), x, Options{Device: device}))(t, "an index by a device")
	if _, err := New(x, Options{Device: device, MemoryBytes: 1}); !errors.As(err, new(*MemoryError)) {
		t.Errorf("memory for nothing, and a device: %v", err)
	}
}

// Nearest fills its result with documents that share no term with the query.
func TestIndexNearestFew(t *testing.T) {
	const n, k = 10_000, 20
	rows := make([][]float32, n)
	for i := range rows {
		rows[i] = []float32{0, 1, 0, 0}
		if i%30 == 9 && i < 100 {
			rows[i] = []float32{1, float32(i), 0, 1}
		}
	}
	rows[0] = []float32{2, 0, 0, 0}
	x := enginetest.EmbedRows(t, sparse.SphereEmbedding, rows)
	index := musttest.Get(NewIndex(t.Context(), x, Options{Workers: 1}))(t)
	want := []Match{{0, 0}}
	for j := 1; j < n; j++ {
		want = append(want, Match{j, float32(panel.ExactC(x, 0, x, j))})
	}
	SortMatches(want)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 20 {
		if got, err := index.Nearest(t.Context(), x, 0, k, nil); err != nil || !slices.Equal(got, want[:k]) {
			t.Fatalf("%v, %v, expected %v", got, err, want[:k])
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / 20; each > 16*n {
		t.Errorf("%d bytes for a query, as for a list of all documents", each)
	}
}
