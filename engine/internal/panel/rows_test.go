package panel

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// c has the same bits for dense rows and dense columns: in one triangle of the matrix, for rows in
// any order, other documents and ranges of columns, with equal, empty and very long documents.
func TestRoles(t *testing.T) {
	musttest.SkipRace(t)
	for _, isa := range enginetest.ISAs() {
		k := musttest.Get(asm.KernelsFor(isa))(t)
		for _, n := range []int{1, 63, 700, 4500} {
			t.Run(fmt.Sprintf("%s/%d", isa, n), func(t *testing.T) { testRoles(t, k, n) })
		}
	}
}

func testRoles(t *testing.T, k *asm.Kernels, n int) {
	docs := enginetest.Zipf(n, 40000, 9, 3)
	add := func(first, count int) { // a document of consecutive terms
		for i := range count {
			docs.Terms, docs.Values = append(docs.Terms, uint32(first+i)), append(docs.Values, 1)
		}
		docs.Offsets = append(docs.Offsets, int64(len(docs.Terms)))
	}
	for _, d := range []int{0, n / 2} { // copies
		terms, values := docs.Row(d)
		docs.Terms, docs.Values = append(docs.Terms, terms...), append(docs.Values, values...)
		docs.Offsets = append(docs.Offsets, int64(len(docs.Terms)))
	}
	add(0, 0)
	add(20000, maxAccurateTail+1952) // 2,300 common terms
	add(21700, maxAccurateTail+1952)
	add(3, 1)
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, docs)
	other := musttest.Get(x.Embedder.Transform(enginetest.Zipf(150, 40000, 12, 4)))(t)
	var some []int
	for i := range min(130, x.Rows()) {
		some = append(some, (x.Rows()-1-5*i%x.Rows())%x.Rows())
	}
	all := run.Range(0, x.Rows())
	requests := map[string]*device.Request{
		"half":             {RowIndices: all, UpperOnly: true},
		"part of the half": {RowIndices: all[x.Rows()/3:], UpperOnly: true},
		"some":             {RowIndices: some},
		"some columns": {RowIndices: some, Lo: x.Rows() / 3 / sparse.BlockSize * sparse.BlockSize,
			Hi: x.Rows() - x.Rows()/4},
		"others":    {RowDocuments: other, RowIndices: []int{7, 3, 149, 3, 0, 11}},
		"one other": {RowDocuments: other, RowIndices: []int{5}},
	}
	for _, terms := range []int{16, 100} {
		rows := newBackend(t, x, Options{Kernels: k, Workers: 2, HeadTerms: terms, DenseOperand: DenseRows})
		columns := newBackend(t, x, Options{Kernels: k, Workers: 2, HeadTerms: terms, DenseOperand: DenseColumns})
		// If there are few documents, the two long ones may require more segments.
		if can := sparse.BlockSize%k.PanelWidth == 0; columns.denseColumns != can && n > 1 || rows.denseColumns {
			t.Fatalf("dense columns: %v and %v, expected %v", columns.denseColumns, rows.denseColumns, can)
		}
		if rows.layout.headTerms() != columns.layout.headTerms() {
			t.Fatalf("heads of %d and %d terms", rows.layout.headTerms(), columns.layout.headTerms())
		}
		for name, r := range requests {
			r.Workers = 2
			if r.Hi == 0 {
				r.Hi = x.Rows()
			}
			want, got := c(t, rows, r), c(t, columns, r)
			for i, v := range want {
				if math.Float32bits(v) != math.Float32bits(got[i]) {
					t.Fatalf("head of %d terms, %s: row %d, column %d: %v where columns are dense, %v where rows are", terms, name,
						i/x.Rows(), i%x.Rows(), got[i], v)
				}
			}
		}
		if a, b := rows.Stats(), columns.Stats(); a.TailMatches != b.TailMatches || b.RecomputedPairs == 0 {
			t.Errorf("head of %d terms: %d matches of tails and %d, %d pairs recomputed", terms, a.TailMatches, b.TailMatches,
				b.RecomputedPairs)
		}
	}
}

// Columns are dense only if the rounding errors of all documents allow a single segment.
func TestRolesOfLongDocument(t *testing.T) {
	musttest.SkipRace(t)
	docs := enginetest.Zipf(300, 5000, 9, 3)
	short := enginetest.EmbedCSR(t, sparse.SphereEmbedding, docs)
	frequent := device.ColumnsByFrequency(short.DocumentFrequency())[:120]
	slices.Sort(frequent)
	for _, term := range frequent {
		docs.Terms, docs.Values = append(docs.Terms, term), append(docs.Values, 1)
	}
	docs.Offsets = append(docs.Offsets, int64(len(docs.Terms)))
	o := Options{Workers: 1, HeadTerms: 100, DenseOperand: DenseColumns}
	if dense := newBackend(t, short, o).denseColumns; dense != (sparse.BlockSize%asm.BestKernels().PanelWidth == 0) {
		t.Errorf("short documents: dense columns: %v", dense)
	}
	long := enginetest.EmbedCSR(t, sparse.SphereEmbedding, docs)
	got := newBackend(t, long, o)
	o.DenseOperand = DenseRows
	want := newBackend(t, long, o)
	if got.denseColumns || len(got.columns.head) < 2 {
		t.Errorf("%d segments, expected several and dense rows", len(got.columns.head))
	}
	all := run.Range(0, long.Rows())
	r := &device.Request{RowIndices: all, Hi: len(all), UpperOnly: true, Workers: 1}
	if !slices.Equal(c(t, got, r), c(t, want, r)) {
		t.Error("other values where dense columns were asked for")
	}
}

// c returns the values of a request, and -1 for values that aren't requested.
func c(t *testing.T, b *Backend, r *device.Request) []float32 {
	n := b.columns.x.Rows()
	values := musttest.MakeSlice(len(r.RowIndices)*n, func(i int) float32 { return -1 })
	musttest.NoError(t, b.ComputeRows(t.Context(), r, func(tile *device.Tile) error {
		for i := range tile.Rows {
			for j := tile.Lo; j < tile.Hi; j++ {
				if at := (tile.FirstRow+i)*n + j; !r.UpperOnly || j >= r.RowIndices[tile.FirstRow+i] {
					values[at] = tile.Values[i*tile.RowStride+(j-tile.Lo)*tile.ColStride]
				}
			}
		}
		return nil
	}))
	for i, v := range values {
		if row, j := i/n, i%n; (v == -1) == (j >= r.Lo && j < r.Hi && (!r.UpperOnly || j >= r.RowIndices[row])) {
			t.Fatalf("row %d, column %d: %v", row, j, v)
		}
	}
	return values
}
