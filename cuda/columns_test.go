//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/cuda/internal/timemodel"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// zipf makes documents whose terms follow Zipf's law, including duplicates, near duplicates, and
// empty and very long documents.
func zipf(n, terms, length int, seed uint64) *sparse.CSR {
	r := rand.New(rand.NewPCG(seed, 2))
	m := &sparse.CSR{Cols: terms, Offsets: []int64{0}}
	var last map[uint32]float32
	for i := range n {
		counts := map[uint32]float32{}
		switch {
		case i%11 == 5 || i%11 == 7:
			for t, v := range last {
				counts[t] = v
			}
			if i%11 == 7 {
				counts[uint32(r.IntN(terms))]++
			}
		case i%23 == 3:
		default:
			for range 1 + r.IntN(2*length)*(1+9*(i%13/12)) {
				counts[uint32(float64(terms)*math.Pow(r.Float64(), 3))]++
			}
		}
		ts := slices.Sorted(maps.Keys(counts))
		for _, t := range ts {
			m.Terms = append(m.Terms, t)
			m.Values = append(m.Values, counts[t])
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		last = counts
	}
	return m
}

// embedded makes unit vectors, and gives successive documents different norms, so that using the
// wrong row's norm is noticed.
func embedded(t testing.TB, m *sparse.CSR) *sparse.Embedded {
	t.Helper()
	x := transformed(t, sparse.SphereEmbedding, m)
	for i := range x.Norms { // they are all 1
		x.Norms[i] = 1 + float64(i%5)/4
	}
	return x
}

// cosines returns the reference for documents whose norms were changed.
func cosines(x *sparse.Embedded) *engine.Reference {
	rest := *x
	rest.Norms = nil
	return engine.NewReference(&rest)
}

// transformed embeds documents with an embedding fitted to them.
func transformed(t testing.TB, e sparse.Embedding, m *sparse.CSR) *sparse.Embedded {
	t.Helper()
	return musttest.Get(e.Fit(m).Transform(m))(t)
}

// load copies documents to a device, and frees both at the end of the test.
func load(t testing.TB, d *Device, x *sparse.Embedded) *columns {
	t.Helper()
	cols, err := d.Load(t.Context(), x)
	if err != nil {
		t.Fatal(errors.Join(err, d.Close()))
	}
	t.Cleanup(func() {
		musttest.NoError(t, errors.Join(cols.Close(), d.Close()))
	})
	return cols.(*columns)
}

// within loads documents, calls a function with them and frees them.
func within(t *testing.T, d *Device, x *sparse.Embedded, work func(cols *columns) error) error {
	t.Helper()
	cols, err := d.Load(t.Context(), x)
	if err == nil {
		err = errors.Join(work(cols.(*columns)), cols.Close())
	}
	return errors.Join(err, d.Close())
}

// reference returns c of a dense row and another row by the difference form.
func reference(x *sparse.Embedded, i int, y *sparse.Embedded, j int) float64 {
	dense := make([]float64, max(x.Cols, y.Cols))
	terms, _ := x.Row(i)
	for k, v := range x.UnitVector64(i, nil) {
		dense[terms[k]] = v
	}
	terms, _ = y.Row(j)
	for k, v := range y.UnitVector64(j, nil) {
		dense[terms[k]] -= v
	}
	var c float64
	for _, d := range dense {
		c += d * d
	}
	return c / 2
}

// compare compares values of c with the reference.
func compare(t *testing.T, rows, cols *sparse.Embedded, docs []int, lo int, b *device.Tile) {
	t.Helper()
	for r := range b.Rows {
		doc := docs[b.FirstRow+r]
		for j, v := range b.Row(r) {
			want := reference(rows, doc, cols, lo+j)
			if err := math.Abs(float64(v) - want); !(err <= min(1e-6, 1e-5*want)+0x1p-150) {
				t.Fatalf("row %d, column %d: found %v, expected %v, error %.3g", doc, lo+j, v, want, err)
			}
		}
	}
}

func gather(t testing.TB, c *columns, r *device.Request, width int) []float32 {
	t.Helper()
	out := make([]float32, len(r.RowIndices)*width)
	next := 0
	err := c.ComputeRows(t.Context(), r, func(b *device.Tile) error {
		if b.FirstRow != next {
			t.Errorf("a tile from row %d on, expected %d", b.FirstRow, next)
		}
		next += b.Rows
		for i := range b.Rows {
			copy(out[(b.FirstRow+i)*width+b.Lo-r.Lo:], b.Row(i))
		}
		return nil
	})
	musttest.NoError(t, err)
	if next != len(r.RowIndices) {
		t.Errorf("%d rows, expected %d", next, len(r.RowIndices))
	}
	return out
}

// holdRows compares the rows of a request with the reference, and returns them.
func holdRows(t *testing.T, cols *columns, r *device.Request) []float32 {
	t.Helper()
	rows, width := cols.x, r.Hi-r.Lo
	if r.RowDocuments != nil {
		rows = r.RowDocuments
	}
	all := gather(t, cols, r, width)
	tile := &device.Tile{Rows: len(r.RowIndices), Hi: width, RowStride: width, ColStride: 1, Values: all}
	compare(t, rows, cols.x, r.RowIndices, r.Lo, tile)
	return all
}

func whole(cols *columns) *device.Request {
	return &device.Request{RowIndices: run.Range(0, cols.x.Rows()), Hi: cols.x.Rows()}
}

// sameBits compares rows of some documents, from column lo on, with the matrix of all pairs.
func sameBits(t *testing.T, n int, all []float32, docs []int, lo int, part []float32) {
	t.Helper()
	for r, i := range docs {
		for j := lo; j < n; j++ {
			if got, want := part[r*(n-lo)+j-lo], all[i*n+j]; math.Float32bits(got) != math.Float32bits(want) {
				t.Fatalf("row %d, column %d alone: %v, expected %v", i, j, got, want)
			}
		}
	}
}

// holdAll compares c of all pairs with the reference. The bits must be symmetric, and the same for
// any requested rows and columns, also for copies of the documents as rows.
func holdAll(t *testing.T, cols *columns, counts *sparse.CSR) (all []float32) {
	t.Helper()
	n, x := cols.x.Rows(), cols.x
	all = holdRows(t, cols, whole(cols))
	for i := range n {
		for j := range i {
			if math.Float32bits(all[i*n+j]) != math.Float32bits(all[j*n+i]) {
				t.Fatalf("(%d, %d) and (%d, %d) differ: %v, %v", i, j, j, i, all[i*n+j], all[j*n+i])
			}
		}
		if all[i*n+i] != 0 {
			t.Fatalf("c of document %d and itself is %v", i, all[i*n+i])
		}
	}
	y := musttest.Get(x.Embedder.Transform(counts))(t)
	docs, lo := []int{n - 1, 0, n / 2}, n/2/device.ColumnAlignment*device.ColumnAlignment
	for _, from := range []*sparse.Embedded{nil, y, x} {
		sameBits(t, n, all, docs, lo, gather(t, cols, &device.Request{RowDocuments: from, RowIndices: docs, Lo: lo, Hi: n},
			n-lo))
	}
	half := gather(t, cols, &device.Request{RowIndices: run.Range(0, n), Hi: n, UpperOnly: true}, n)
	for i := range n {
		if !slices.Equal(half[i*n+i:(i+1)*n], all[i*n+i:(i+1)*n]) {
			t.Fatalf("row %d of the half differs", i)
		}
	}
	return all
}

// c is correct for every pair, with panels of few or many terms, and with or without head and tail.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		n, terms, length int
		shared           string
	}{{1, 5, 3, "49152"}, {131, 40, 30, "4096"}, {300, 900, 30, "2048"}, {260, 5000, 12, "49152"}} {
		t.Run(fmt.Sprintf("n=%d/terms=%d", c.n, c.terms), func(t *testing.T) {
			t.Setenv("FAKE_SHARED", c.shared)
			noLeaks(t)
			counts := zipf(c.n, c.terms, c.length, 7)
			d := openTiled(t, 4*37*padded(c.n), Options{})
			d.tileRows = 101 // a tile is copied in three pieces, the last with fewer rows
			cols := load(t, d, embedded(t, counts))
			t.Logf("head of %d terms in %d chunks", cols.layout.head, cols.layout.chunks())
			holdAll(t, cols, counts)
		})
	}
}

// Long posting lists store where blocks of columns begin. c is correct in several blocks, from any
// column on, with the same bits as without these positions.
func TestLists(t *testing.T) {
	noLeaks(t)
	const n, lo = 2*tailColumns + 300, tailColumns + 128
	d := open(t, Options{})
	d.tailShare = -1 // all in the tail
	cols := load(t, d, embedded(t, zipf(n, 90, 2, 3)))
	docs := []int{n - 1, 5, 4100}
	holdRows(t, cols, &device.Request{RowIndices: docs, Hi: n})
	holdRows(t, cols, &device.Request{RowIndices: docs, Lo: lo, Hi: n - 70})
}

// Each long document has its bit set; without long documents there are no bits.
func TestLongs(t *testing.T) {
	s := deviceFormat{tail: []int64{0}}
	for d := range 70 {
		s.tail = append(s.tail, s.tail[d]+narrowValues)
	}
	if got := s.longDocuments(); got != nil {
		t.Errorf("no long document: %x", got)
	}
	for d := 38; d <= 70; d++ { // document 37 gets one more value
		s.tail[d]++
	}
	if got := s.longDocuments(); !slices.Equal(got, []uint32{0, 1 << 5, 0, 0}) {
		t.Errorf("document 37 is long: %x", got)
	}
}

// Long documents are among short ones, in both halves of a block of columns and in the next block.
// The wide sums of two long documents take two passes over the lists, and have symmetric bits.
func TestLongRows(t *testing.T) {
	noLeaks(t)
	const n, terms = tailColumns + 300, 3 * narrowValues / 2
	m := &sparse.CSR{Cols: terms, Offsets: []int64{0}}
	long := []int{3, tailColumns / 2, tailColumns - 1, tailColumns + 200}
	for i := range n {
		step := terms / 2 // two or three values
		if slices.Contains(long, i) {
			step = 1
		}
		for t := i % step; t < terms; t += step {
			m.Terms, m.Values = append(m.Terms, uint32(t)), append(m.Values, float32(1+(t+i)%7))
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	d := open(t, Options{})
	d.tailShare = -1 // all in the tail
	cols := load(t, d, embedded(t, m))
	docs := append([]int{0, 5000 % n, n - 1}, long...)
	for _, lo := range []int{0, tailColumns/2 + 128} {
		all := holdRows(t, cols, &device.Request{RowIndices: docs, Lo: lo, Hi: n})
		at := func(i, j int) float32 { return all[slices.Index(docs, i)*(n-lo)+j-lo] }
		for _, i := range long {
			for _, j := range long {
				if i >= lo && j >= lo && math.Float32bits(at(i, j)) != math.Float32bits(at(j, i)) {
					t.Errorf("(%d, %d) is %v, and the other way round %v", i, j, at(i, j), at(j, i))
				}
			}
		}
	}
}

// Rows are sorted by number of values in the tail, rounded to a power of two, largest first. Each
// row occurs once.
func TestOrder(t *testing.T) {
	s := documentSet{tail: []int64{0, 0, 3, 1000, 1001, 3100}} // 0, 3, 997, 1 and 2,099 values
	before := []uint32{7}
	got := s.appendOrder(slices.Clone(before), []int{0, 2, 1, 4, 3, 2, 1})
	if want := append(before, 3, 1, 5, 2, 6, 4, 0); !slices.Equal(got, want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

// The layout is the model's choice, and gives the same values as other layouts.
func TestModelLayout(t *testing.T) {
	noLeaks(t)
	d := open(t, Options{})
	d.tailShare = 0
	x := embedded(t, zipf(400, 300, 30, 3))
	cols := load(t, d, x)
	byRank := musttest.Get(device.TransposeByRank(t.Context(), nil, &x.CSR, cols.layout.rank, 1))(t)
	head := timemodel.MeasuredCosts.HeadTerms(byRank.Offsets, 400, d.kernels.panelTerms, maxChunks, computedRows)
	if head == 0 || cols.layout.head != head {
		t.Errorf("a head of %d terms, expected the model's %d", cols.layout.head, head)
	}
	holdRows(t, cols, &device.Request{RowIndices: []int{399, 0, 200, 201}, Hi: 400})
}

// All values of these documents are equal, so they are all rounded in the same direction.
func TestLongDocuments(t *testing.T) {
	noLeaks(t)
	const n, terms = 6, 20000
	m := equalValues(n, terms)
	for _, c := range []struct {
		shared  string
		pairing sparse.Pairing
	}{
		{"49152", sparse.Cosine}, {"232448", sparse.Cosine},
		{"49152", sparse.ChiSquare}, {"232448", sparse.ChiSquare},
		{"49152", sparse.JensenShannon}, {"232448", sparse.JensenShannon},
	} {
		t.Setenv("FAKE_SHARED", c.shared)
		embedding := sparse.SphereEmbedding
		if c.pairing != sparse.Cosine {
			embedding = sparse.Embedding{Norm: sparse.NormL1, Pairing: c.pairing}
		}
		cols := load(t, open(t, Options{}), transformed(t, embedding, m))
		if cols.layout.head == 0 || cols.layout.head == terms {
			t.Errorf("%d terms in the head, want some but not all", cols.layout.head)
		}
		holdReference(t, fmt.Sprintf("pairing %d, %s bytes of shared memory", c.pairing, c.shared), cols)
	}
}

// equalValues makes documents of ones: document i has all terms except multiples of i+2.
func equalValues(n, terms int) *sparse.CSR {
	m := &sparse.CSR{Cols: terms, Offsets: []int64{0}}
	for i := range n {
		for t := range terms {
			if t%(i+2) != 0 {
				m.Terms, m.Values = append(m.Terms, uint32(t)), append(m.Values, 1)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// holdReference compares c of all pairs with engine's reference, for any pairing.
func holdReference(t *testing.T, name string, cols *columns) {
	t.Helper()
	n, ref := cols.x.Rows(), cosines(cols.x)
	all := gather(t, cols, whole(cols), n)
	var worst float64
	for i := range n {
		for j := range n {
			want := ref.C(i, j)
			err := math.Abs(float64(all[i*n+j]) - want)
			if worst = max(worst, err); !(err <= min(1e-6, 1e-5*want)+0x1p-150) {
				t.Errorf("%s, (%d, %d): found %v, expected %v, error %.3g", name, i, j, all[i*n+j], want, err)
			}
		}
	}
	t.Logf("%s: error %.2g", name, worst)
}

// A computation ends when its context is done or visit fails. The next computation works.
func TestEndsEarly(t *testing.T) {
	noLeaks(t)
	const n = 100
	x := embedded(t, zipf(n, 100, 8, 3))
	d := openTiled(t, 4<<10, Options{})
	cols := load(t, d, x)
	ctx, cancel := context.WithCancel(t.Context())
	blocks := 0
	err := cols.ComputeRows(ctx, whole(cols), func(*device.Tile) error {
		if blocks++; blocks == 2 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) || blocks != 2 {
		t.Errorf("%d tiles, error %v", blocks, err)
	}
	stop := errors.New("stop")
	musttest.WantError(cols.ComputeRows(t.Context(), whole(cols), func(*device.Tile) error { return stop }))(t,
		"an error of visit", stop)
	if err := cols.ComputeRows(t.Context(), &device.Request{Hi: 100},
		func(*device.Tile) error { return stop }); err != nil {
		t.Errorf("no rows: error %v", err)
	}
	holdRows(t, cols, whole(cols))
	musttest.NoError(t, errors.Join(cols.Close(), d.Close()))
	musttest.WantError(d.Load(ctx, x))(t, "after the end of the context")
}

// Errors of copying documents mention the documents; errors of compiling kernels don't.
func TestLoadErrors(t *testing.T) {
	noLeaks(t)
	x := embedded(t, zipf(70, 100, 8, 3))
	for fail, copying := range map[string]bool{"cuModuleLoadDataEx:1:218": false, "cuMemcpyHtoD_v2:1:700": true} {
		d := open(t, Options{})
		t.Setenv("FAKE_FAIL", fail)
		_, err := d.Load(t.Context(), x)
		if err == nil || strings.Contains(err.Error(), "copying 70 documents") != copying {
			t.Errorf("%s: error %v, expected the documents in it: %v", fail, err, copying)
		}
		t.Setenv("FAKE_FAIL", "")
		musttest.NoError(t, d.Close())
	}
}

// holdProgram compares a program's values for all pairs with Program.Eval. The tolerance is the
// rounding to float32 plus the given fraction of the value.
func holdProgram(t *testing.T, name string, cols *columns, c []float32, p *device.Program, besides float64) {
	t.Helper()
	n, norms := cols.x.Rows(), cols.x.Norms
	for at, v := range gather(t, cols, &device.Request{Program: p, RowIndices: run.Range(0, n), Hi: n}, n) {
		want, got := p.Eval(c[at], norms[at/n], norms[at%n]), float64(v)
		near := math.Abs(got-want) <= 0x1p-23*math.Abs(want)+besides
		if !near && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%s at c = %v: found %v, expected %v", name, c[at], got, want)
		}
	}
}

// Even and odd integer powers of any size agree with the program in Go on [0, 2]. The function is 1
// - (1-v)^p with v = 2c, so documents without common terms have v = 2.
func TestGreatPowers(t *testing.T) {
	noLeaks(t)
	const n = 70
	cols := load(t, open(t, Options{}), embedded(t, zipf(n, 100, 8, 3)))
	c := gather(t, cols, whole(cols), n)
	for _, power := range []float64{3, 1<<20 - 1, 1 << 20, 1<<20 + 1, 1 << 32, 1<<32 + 1, 1 << 33, 1<<40 + 1, 1e300} {
		p := &device.Program{Consts: []float64{2, power},
			Instructions: ops(device.OpC, device.OpConst, 0, device.OpMul, device.OpDeficit, 1)}
		// The logarithm's rounding times the power matters down to e^-40 of the value.
		holdProgram(t, fmt.Sprint("power ", power), cols, c, p, 40*0x1p-50)
	}
	if !slices.Contains(c, 1) {
		t.Error("all documents have common terms")
	}
}
