package engine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Helpers that tests of several packages share.
var (
	zipf     = enginetest.Zipf
	embedded = enginetest.EmbedCSR
	embed    = enginetest.EmbedRows
	testRows = enginetest.SampleRows
	sameBits = enginetest.SameBits
	mapSpecs = enginetest.Kernels
)

func parse(t testing.TB, spec string) kernel.Kernel {
	t.Helper()
	return musttest.Get(kernel.Parse(spec))(t)
}

func newEngine(t testing.TB, x *sparse.Embedded, opt Options) *Engine {
	t.Helper()
	return musttest.Get(New(x, opt))(t)
}

func gram(t testing.TB, e *Engine, k kernel.Kernel) *Symmetric {
	t.Helper()
	return musttest.Get(e.Gram(t.Context(), k, nil))(t)
}

// eachISA runs a test for every instruction set that this CPU supports.
func eachISA(t *testing.T, test func(t *testing.T, isa string)) {
	for _, isa := range enginetest.ISAs() {
		t.Run("isa="+string(isa), func(t *testing.T) { test(t, string(isa)) })
	}
}

// There are more documents than a block of the tail contains, with long and short tails.
func TestSeveralTailBlocks(t *testing.T) {
	n := MinTailBlockDocuments + compute.BlockDocs + 77
	if testing.Short() {
		t.Skip("takes a second and more on an emulated processor")
	}
	eachISA(t, func(t *testing.T, isa string) {
		for _, length := range []int{8, 60} {
			x := embedded(t, sparse.SphereEmbedding, zipf(n, 3000, length, 3))
			e := newEngine(t, x, Options{ISA: isa, HeadTerms: 40})
			g := gram(t, e, parse(t, "c"))
			ref := NewReference(x)
			rows := []int{0, 1, 700, MinTailBlockDocuments - 1, MinTailBlockDocuments, n - 1}
			d := musttest.Get(e.Rows(t.Context(), parse(t, "c"), Request{RowIndices: rows}, nil))(t)
			for r, i := range rows {
				if !sameBits(d.Row(r), g.Row(i)) {
					t.Errorf("length=%d: Rows differs from Gram in row %d", length, i)
				}
				for j := range n {
					want, got := ref.C(i, j), g.At(i, j)
					if err := math.Abs(got - want); !(err <= 1e-6) || !(err <= 1e-5*want) {
						t.Fatalf("length=%d: c(%d, %d) = %v, expected %v", length, i, j, got, want)
					}
				}
			}
		}
	})
}

// For every pairing, |c - ref| <= 1e-6 and |c - ref| <= 1e-5·ref. c is exactly 0 on the diagonal
// and if the reference is 0.
func TestGramAgreesWithReference(t *testing.T) {
	musttest.SkipRace(t)
	for _, emb := range append([]sparse.Embedding{sparse.SphereEmbedding}, histogramEmbeddings()...) {
		sizes, length := []int{0, 1, 2, 27, 28, 29, 31, 32, 33, 63, 64, 65, 300, 700}, 100
		if emb.Pairing != sparse.Cosine {
			sizes, length = []int{0, 1, 29, 64, 65, 150, 250}, 60
		}
		if testing.Short() {
			sizes = sizes[:len(sizes)-1]
		}
		for _, n := range sizes {
			if n == 0 && emb.Supervised() {
				continue // no labels to fit
			}
			x := embedded(t, emb, zipf(n, 20000, length, uint64(n)))
			ref, exact := NewReference(x), make([]float64, n*n)
			for i := range n {
				for j := range i + 1 {
					exact[i*n+j] = ref.C(i, j)
				}
			}
			eachISA(t, func(t *testing.T, isa string) {
				for _, head := range []int{0, -1, 1, 63, 64, 65, 500, 100000} {
					if n != sizes[len(sizes)-1] && head > 0 && head != 65 {
						continue
					}
					g := gram(t, newEngine(t, x, Options{ISA: isa, HeadTerms: head}), cIn(t, emb))
					for i := range n {
						for j := range i + 1 {
							want, got := exact[i*n+j], g.At(i, j)
							if math.Float32bits(g.Row(i)[j]) != math.Float32bits(g.Row(j)[i]) {
								t.Fatalf("%v, n=%d head=%d: different bits at (%d, %d) and (%d, %d)", emb, n, head, i, j, j, i)
							}
							if err := math.Abs(got - want); !(err <= 1e-6) || !(err <= 1e-5*want) {
								t.Fatalf("%v, n=%d head=%d: c(%d, %d) = %v, expected %v", emb, n, head, i, j, got, want)
							}
						}
					}
				}
			})
		}
	}
}

// Documents that share nine tenths of their words, each with count 1, are the worst case: all
// products are equal, and c is as small as possible without being recomputed. With additional
// documents of one word (field short), they also have the maximum number of terms in a segment.
func TestEqualProducts(t *testing.T) {
	// even and odd: count of each unshared word in even and odd documents
	type corpus struct{ shared, own, even, odd, short int }
	cases := []corpus{
		{9649, 1, 1048, 1100, 60},
		{9000, 1, 1000, 1001, 60},
		{600, 1, 67, 68, 60},
		{16000, 1, 1780, 1850, 200},
		{2040, 1, 229, 231, 0}, // nearly the maximum size of a tail
	}
	longest := 70000
	if testing.Short() {
		longest = 9000
	}
	for length := 50; length < longest; length = length*118/100 + 1 {
		own := int(0.101*float64(length)) + 1
		cases = append(cases, corpus{length - own, own, 1, 1, 0})
	}
	for _, c := range cases {
		const n = 3
		m := &sparse.CSR{Cols: c.shared + n*c.own, Offsets: []int64{0}}
		for i := range n {
			for w := range c.shared {
				m.Terms = append(m.Terms, uint32(w))
				m.Values = append(m.Values, 1)
			}
			for w := range c.own {
				m.Terms = append(m.Terms, uint32(c.shared+i*c.own+w))
				m.Values = append(m.Values, float32([]int{c.even, c.odd}[i%2]))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		for range c.short {
			m.Terms = append(m.Terms, uint32(m.Cols-1))
			m.Values = append(m.Values, 1)
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		embeddings := []sparse.Embedding{sparse.SphereEmbedding}
		if c.even == 1 && c.shared < 20000 {
			embeddings = append(embeddings, histogramEmbeddings()[:2]...)
		}
		for _, emb := range embeddings {
			x := embedded(t, emb, m)
			want := NewReference(x).C(0, 1)
			eachISA(t, func(t *testing.T, isa string) {
				for _, head := range []int{-1, 0, m.Cols} {
					got := gram(t, newEngine(t, x, Options{ISA: isa, HeadTerms: head, Workers: 1}), cIn(t, emb)).At(0, 1)
					if err := math.Abs(got - want); !(err <= 1e-6) || !(err <= 1e-5*want) {
						t.Errorf("%v, %+v, head=%d: c = %v, expected %v", emb, c, head, got, want)
					}
				}
			})
		}
	}
}

// A large product that is added before many small products, each about half a unit in its last
// place, is the worst case: the error is above 10⁻⁶, and within device.ErrorBound.
func TestWorstProducts(t *testing.T) {
	// Documents 0 and 1 share many terms of a small count and one of a large count. The number of
	// other documents with the small terms is others, so that the large term is the rarest.
	type corpus struct {
		many, others      int
		small, large, own float32
	}
	worst := 0.0
	for _, c := range []corpus{{44, 0, 11, 46400, 46380}, {44, 3, 11, 46400, 46380}, {27, 60, 11, 46400, 46380},
		{1200, 70, 1, 4000, 1470}, {40, 1200, 11, 46400, 17000}, {2040, 0, 1, 6500, 2400}} {
		m := &sparse.CSR{Cols: c.many + 3, Offsets: []int64{0}}
		for i := range c.others + 2 {
			for w := range c.many {
				m.Terms, m.Values = append(m.Terms, uint32(w)), append(m.Values, c.small)
			}
			if i < 2 {
				m.Terms = append(m.Terms, uint32(c.many), uint32(c.many+1+i))
				m.Values = append(m.Values, c.large, c.own)
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		x := embedded(t, sparse.Embedding{}, m)
		want := NewReference(x).C(0, 1)
		eachISA(t, func(t *testing.T, isa string) {
			for _, head := range []int{-1, 0, c.many, m.Cols} {
				got := gram(t, newEngine(t, x, Options{ISA: isa, HeadTerms: head, Workers: 1}), cIn(t, sparse.Embedding{})).At(0, 1)
				err := math.Abs(got - want)
				if worst = max(worst, err); !(err <= device.ErrorBound(want)) {
					t.Errorf("%+v, head=%d: c = %v, expected %v", c, head, got, want)
				}
			}
		})
	}
	if !(worst > 1.2e-6) {
		t.Errorf("the greatest error is %.3g, expected a case above 1.2e-6", worst)
	}
}

// Gram and all requests of Rows compute the same bits, for any number of workers and any panels.
func TestSameBits(t *testing.T) {
	eachISA(t, func(t *testing.T, isa string) {
		m := zipf(401, 5000, 60, 7)
		for _, spec := range []string{"c", "diffusion:t=0.5", "ngd", "linear", "rbf:gamma=0.01", "arccos:n=1",
			"chi2", "js:t=0.3"} {
			k := parse(t, spec)
			x := embedded(t, k.Embedding(), m)
			want := gram(t, newEngine(t, x, Options{ISA: isa, Workers: 1}), k)
			n := want.N
			for _, workers := range []int{1, 2, 7} {
				e := newEngine(t, x, Options{ISA: isa, Workers: workers})
				if got := gram(t, e, k); !sameBits(got.Data, want.Data) {
					t.Errorf("%s: Gram differs with %d workers", spec, workers)
				}
				used := &Symmetric{N: n, Data: slices.Clone(want.Data)}
				for i := range used.Data {
					used.Data[i] = float32(math.NaN())
				}
				if to, err := e.Gram(t.Context(), k, used); err != nil || to != used || !sameBits(used.Data, want.Data) {
					t.Errorf("%s: Gram into a matrix differs with %d workers: %v", spec, workers, err)
				}
				rows := rand.New(rand.NewPCG(3, 4)).Perm(n)
				rows = append(rows, rows[:50]...)
				d := musttest.Get(e.Rows(t.Context(), k, Request{RowIndices: rows}, nil))(t)
				for r, i := range rows {
					if !sameBits(d.Row(r), want.Row(i)) {
						t.Fatalf("%s: Rows differs in row %d with %d workers", spec, i, workers)
					}
				}
				part, err := e.Rows(t.Context(), k, Request{RowRange: [2]int{77, 300}, ColumnRange: [2]int{128, 256}}, nil)
				for r := range part.Rows {
					if err != nil || !sameBits(part.Row(r), want.Row(77 + r)[128:256]) {
						t.Fatalf("%s: a block differs with %d workers: %v", spec, workers, err)
					}
				}
				cross, err := e.Rows(t.Context(), k, Request{TestDocuments: x}, nil)
				if err != nil || !sameBits(cross.Data, want.Data) {
					t.Errorf("%s: Cross differs with %d workers: %v", spec, workers, err)
				}
			}
		}
	})
}

func TestMemoryBound(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(1000, 5000, 50, 1))
	var memory *MemoryError
	if _, err := New(x, Options{MemoryBytes: 1000}); !errors.As(err, &memory) || memory.LimitBytes != 1000 ||
		memory.NeedBytes <= 1000 {
		t.Errorf("New under a bound of 1000 bytes: %v", err)
	}
	e := newEngine(t, x, Options{Workers: 2})
	panel := e.c.Bytes() - newEngine(t, x, Options{Workers: 1}).c.Bytes()
	if held := e.c.Bytes() - 2*panel; held > MaxEngineBytes(x.Rows(), x.Cols, x.NNZ()) {
		t.Errorf("%d bytes are held for documents, NewBytes says %d", held, MaxEngineBytes(x.Rows(), x.Cols, x.NNZ()))
	}
	bound := e.c.Bytes() + MatrixBytes(1000, 1000) - 1
	if e, err := New(x, Options{Workers: 2, MemoryBytes: bound}); err != nil {
		t.Fatal(err)
	} else if _, err := e.Gram(t.Context(), parse(t, "c"), nil); !errors.As(err, &memory) || memory.NeedBytes != bound+1 {
		t.Errorf("Gram one byte above the bound: %v", err)
	} else if _, err := e.Rows(t.Context(), parse(t, "c"), Request{RowRange: [2]int{0, 900}}, nil); err != nil {
		t.Errorf("Rows within the bound: %v", err)
	}
}

func TestCancellation(t *testing.T) {
	n := 4000
	if testing.Short() { // this test is slow
		n = 1000
	}
	x := embedded(t, sparse.SphereEmbedding, zipf(n, 20000, 100, 1))
	e := newEngine(t, x, Options{Workers: 2, ISA: "generic"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(e.Gram(ctx, parse(t, "c"), nil))(t, "Gram after the end", context.Canceled)
	ctx, cancel = context.WithTimeout(t.Context(), 2*time.Millisecond) // Gram takes some hundred milliseconds
	defer cancel()
	musttest.WantError(e.Gram(ctx, parse(t, "c"), nil))(t, "Gram past its deadline", context.DeadlineExceeded)
	failure := errors.New("disk full")
	if err := e.EachTile(t.Context(), nil, Request{}, func(*Tile) error { return failure }); err != failure {
		t.Errorf("Tiles after an error of visit: %v", err)
	}
	// Returned scratch space can be reused.
	want := gram(t, newEngine(t, x, Options{ISA: "generic"}), parse(t, "c"))
	if got := gram(t, e, parse(t, "c")); !sameBits(got.Data, want.Data) {
		t.Error("an interrupted computation leaves traces")
	}
}

func TestProgress(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(500, 5000, 50, 1))
	var busy atomic.Int32
	var last Progress
	e := newEngine(t, x, Options{Workers: 2, Progress: func(p Progress) {
		if busy.Add(1) != 1 {
			t.Error("two reports at once")
		}
		if p.Done < last.Done {
			t.Errorf("progress goes back from %d to %d", last.Done, p.Done)
		}
		last = p
		busy.Add(-1)
	}})
	gram(t, e, parse(t, "c"))
	if want := int64(500 * 501 / 2); last.Done != want || last.Total != want {
		t.Errorf("last report %+v, expected %d of %d", last, want, want)
	}
}

// If there are more terms than values, a block of the posting lists has more documents than usual.
func TestLargeBlocks(t *testing.T) {
	const n, terms = 3*MinTailBlockDocuments + 5, 40_000
	r := rand.New(rand.NewPCG(1, 2))
	m := &sparse.CSR{Cols: terms, Offsets: []int64{0}}
	for i := range n {
		word := uint32(r.IntN(terms / 2))
		if i%50 == 49 {
			word = m.Terms[2*r.IntN(i)] // a word of an earlier document
		}
		m.Terms, m.Values = append(m.Terms, word, terms/2+uint32(r.IntN(terms/2))), append(m.Values, 1, float32(1+r.IntN(3)))
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	x := embedded(t, sparse.SphereEmbedding, m)
	ref, rows := NewReference(x), []int{0, 49, MinTailBlockDocuments + 1, n - 2}
	eachISA(t, func(t *testing.T, isa string) {
		e := newEngine(t, x, Options{ISA: isa, HeadTerms: -1})
		d := musttest.Get(e.Rows(t.Context(), parse(t, "c"), Request{RowIndices: rows}, nil))(t)
		near := 0
		for r, i := range rows {
			for j := range n {
				want, got := ref.C(i, j), d.At(r, j)
				if err := math.Abs(got - want); !(err <= 1e-6) || !(err <= 1e-5*want) {
					t.Fatalf("c(%d, %d) = %v, expected %v", i, j, got, want)
				}
				if want < 1 {
					near++
				}
			}
		}
		if near <= len(rows) {
			t.Errorf("%d pairs have a term in common, expected more than each document with itself", near)
		}
	})
}
