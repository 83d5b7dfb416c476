package panel

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Offsets into a segment have 16 bits: the maximum number of ranks still has distinct offsets.
func TestSplitNeverWraps(t *testing.T) {
	for _, panel := range []int{1, 24, 32, 64, 65536} {
		cols := 65536 / panel
		m := &sparse.CSR{
			Cols:    cols,
			Offsets: []int64{0, int64(cols), int64(2 * cols)},
			Terms:   make([]uint32, 2*cols),
			Values:  make([]float32, 2*cols),
		}
		for k := range m.Terms {
			m.Terms[k], m.Values[k] = uint32(k%cols), float32(k+1)
		}
		l := &layout{panel, []int{0, cols}, device.InversePermutation(device.ColumnsByFrequency(m.DocumentFrequency())), 1}
		byRank := musttest.Get(device.TransposeByRank(t.Context(), nil, m, l.rank, 2))(t)
		h := &docSet{}
		musttest.NoError(t, l.split(t.Context(), h, nil, byRank, 2, nil))
		for i := range 2 {
			lo, hi := h.head[0].valueRange(i)
			for k := lo; k < hi; k++ {
				if want := (cols - 1 - int(k-lo)) * panel; int(h.head[0].offset[k]) != want {
					t.Fatalf("panels of %d: document %d, value %d: offset %d, expected %d", panel, i, k-lo,
						h.head[0].offset[k], want)
				}
			}
		}
	}
}

// Head and tail together contain every value of a document once, rarest term first. Each value of
// the tail is in the list of its term at the stored place.
func TestSplit(t *testing.T) {
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(300, 900, 6, 3))
	for _, terms := range []int{-1, 40, 900} {
		b := newBackend(t, x, Options{Workers: 2, HeadTerms: terms})
		head := b.layout.headTerms()
		for i := range x.Rows() {
			want := map[int]float32{}
			list, values := x.Row(i)
			for k, j := range list {
				v := values[k]
				if int(b.layout.rank[j]) >= head {
					v *= b.layout.scale
				}
				want[int(b.layout.rank[j])] = v
			}
			last, found := x.Cols, 0
			take := func(rank int, v float32) {
				if rank >= last || want[rank] != v {
					t.Fatalf("document %d has %v at rank %d after %d, expected %v", i, v, rank, last, want[rank])
				}
				last, found = rank, found+1
			}
			tail := &b.columns.tail
			for k := tail.Offsets[i]; k < tail.Offsets[i+1]; k++ {
				post, block := b.postings, i/b.postings.block
				at := post.base[block] + int64(post.first[block*(post.listCount+1)+int(tail.Terms[k])]) +
					int64(b.columns.positions[k])
				if int(post.doc[at]) != i%post.block || post.value[at] != tail.Values[k] {
					t.Fatalf("posting %d is %v of document %d of the block", at, post.value[at], post.doc[at])
				}
				take(head+int(tail.Terms[k]), tail.Values[k])
			}
			for s := len(b.columns.head) - 1; s >= 0; s-- {
				seg := &b.columns.head[s]
				for k, hi := seg.valueRange(i); k < hi; k++ {
					take(b.layout.bounds[s]+int(seg.offset[k])/b.layout.panel, seg.value[k])
				}
			}
			if found != len(list) {
				t.Fatalf("document %d has %d values, expected %d", i, found, len(list))
			}
		}
	}
}

// Ranges of columns in any order have the same bits as all columns, and so has the half for
// consecutive or other documents.
func TestColumns(t *testing.T) {
	n := 5*sparse.BlockSize + 17
	b := newBackend(t, enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(n, 4000, 12, 7)),
		Options{Workers: 1, HeadTerms: 100})
	docs := []int{4, 17, 18, 19, 600}
	want := c(t, b, &device.Request{RowIndices: docs, Hi: n})
	for _, blocks := range [][2]int{{2, 3}, {0, 1}, {1, 2}, {4, 6}, {3, 4}} {
		lo, hi := blocks[0]*sparse.BlockSize, min(blocks[1]*sparse.BlockSize, n)
		got := c(t, b, &device.Request{RowIndices: docs, Lo: lo, Hi: hi})
		for i := range docs {
			if !slices.Equal(got[i*n+lo:i*n+hi], want[i*n+lo:i*n+hi]) {
				t.Errorf("columns %d to %d of document %d differ", lo, hi, docs[i])
			}
		}
	}
	half := c(t, b, &device.Request{RowIndices: docs, Hi: n, UpperOnly: true})
	for i, d := range docs {
		if !slices.Equal(half[i*n+d:(i+1)*n], want[i*n+d:(i+1)*n]) {
			t.Errorf("the half of document %d differs", d)
		}
	}
}

// Documents have the same bits in memory reused from more or fewer documents with more or fewer
// values.
func TestRoomIsUsedAgain(t *testing.T) {
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(300, 900, 12, 3))
	used := newBackend(t, x, Options{Workers: 1, HeadTerms: 100})
	for _, n := range []int{70, 200, 7, 130, 1} {
		from := musttest.Get(x.Embedder.Transform(enginetest.Zipf(n, 900, 5+n%40, uint64(n))))(t)
		r := &device.Request{RowDocuments: from, RowIndices: run.Range(0, n), Hi: x.Rows()}
		want := c(t, newBackend(t, x, Options{Workers: 1, HeadTerms: 100}), r)
		if !slices.Equal(c(t, used, r), want) {
			t.Errorf("%d documents have other bits in the room of others", n)
		}
		if len(used.freeRows) != 1 {
			t.Fatalf("room of %d requests is free, expected 1", len(used.freeRows))
		}
	}
}

// soon is a context that is cancelled after a number of calls.
type soon struct {
	context.Context
	left atomic.Int32
}

func (c *soon) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// If all documents are close, all values are recomputed, and the work still ends with its context.
func TestCloseHistogramsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second on an emulated processor")
	}
	r := rand.New(rand.NewPCG(1, 9))
	m := &sparse.CSR{Cols: 300, Offsets: []int64{0}}
	for range 200 {
		for w := range 300 {
			m.Terms, m.Values = append(m.Terms, uint32(w)), append(m.Values, float32(100+r.IntN(20)))
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	x := enginetest.EmbedCSR(t, sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.JensenShannon}, m)
	b := newBackend(t, x, Options{Workers: 1})
	p := b.acquirePanel()
	p.load(b.columns, []int{0, 1, 2, 3, 4, 5, 6, 7})
	ctx := &soon{Context: t.Context()}
	ctx.left.Store(4)
	none := func(*device.Tile) error { return nil }
	if err := p.run(ctx, true, 0, 200, none); !errors.Is(err, context.Canceled) || p.stats.RecomputedPairs > 1100 {
		t.Errorf("error %v after %d pairs, expected that of the context after one look each 256", err,
			p.stats.RecomputedPairs)
	}
	p.stats.RecomputedPairs = 0
	if err := p.run(t.Context(), true, 0, 200, none); err != nil || p.stats.RecomputedPairs != 8*199 {
		t.Errorf("%d pairs recomputed, error %v", p.stats.RecomputedPairs, err)
	}
}

// Blocks grow with the table of lists up to the maximum of 16-bit places, for any sizes.
func TestBlock(t *testing.T) {
	for _, c := range []struct {
		rows, cols int
		values     int64
		want       int
	}{
		{0, 0, 0, sparse.BlockSize}, {200, 50_000, 900, 2 * sparse.BlockSize}, {11_314, 46_852, 1_695_628, MinTailBlockDocs},
		{9_000, 20_000, 18_000, 4 * MinTailBlockDocs}, {1_000_000, 1_000_000, 155_000_000, 2 * MinTailBlockDocs},
		{1_000_000, 10_000_000, 20_000_000, maxTailBlockDocs}, {math.MaxInt, math.MaxInt, math.MaxInt64, MinTailBlockDocs},
	} {
		if got := TailBlockDocs(c.rows, c.cols, c.values); got != c.want {
			t.Errorf("Block(%d, %d, %d) = %d, expected %d", c.rows, c.cols, c.values, got, c.want)
		}
	}
}

// Terms of histograms are at most the geometric mean of their values, as the rounding bound
// assumes, up to the rounding of both.
func TestTermsAreBelowTheRoot(t *testing.T) {
	for _, k := range []asm.Pairing{asm.BestKernels().ChiSquare, asm.BestKernels().JensenShannon} {
		var term [1]float32
		for ratio := 1.0; ratio > 1e-12; ratio *= 0.97 {
			a, b := float32(0.7), float32(0.7*ratio)
			k.Terms(term[:], []float32{a}, b)
			if root := math.Sqrt(float64(a) * float64(b)); !(float64(term[0]) <= root*(1+8*0x1p-24)) {
				t.Errorf("the term of %v and %v is %v, expected at most %v", a, b, term[0], root)
			}
		}
	}
}
