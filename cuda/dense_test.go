//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/timemodel"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// everyTerm is the share for which all terms are dense, up to timemodel.DenseMax.
const everyTerm = 1 << 30

// points makes documents of numbers of both signs, of which a share are nonzero. The second half of
// the documents are near the first half.
func points(n, dimensions int, share float64, seed uint64) *sparse.CSR {
	r := rand.New(rand.NewPCG(seed, 3))
	m := &sparse.CSR{Cols: dimensions, Offsets: []int64{0}}
	for i := range n {
		for t := range dimensions {
			v := float32(r.NormFloat64())
			if near := i - n/2; near > 0 && near < len(m.Offsets)-1 {
				v *= 0.2
				from, to := m.Offsets[near], m.Offsets[near+1]
				for k := from; k < to; k++ {
					if int(m.Terms[k]) == t {
						v += m.Values[k]
					}
				}
			} else if r.Float64() >= share {
				continue
			}
			if v != 0 {
				m.Terms, m.Values = append(m.Terms, uint32(t)), append(m.Values, v)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// loadDense loads documents with all terms dense, and checks the number of dense terms.
func loadDense(t *testing.T, x *sparse.Embedded, terms int) *columns {
	t.Helper()
	d := open(t, Options{})
	d.denseShare = everyTerm
	cols := load(t, d, x)
	if cols.layout.dense != terms {
		t.Errorf("%d terms in the dense end, expected %d", cols.layout.dense, terms)
	}
	return cols
}

// c is correct and symmetric bit for bit for every pair, for any number of dense terms, for counts
// and for vectors of both signs.
func TestTensor(t *testing.T) {
	for _, c := range []struct {
		name          string
		counts        *sparse.CSR
		embedding     sparse.Embedding
		share         int64
		shared        string
		dense, chunks int
	}{
		{"one", zipf(1, 80, 300, 7), sparse.SphereEmbedding, everyTerm, "49152", 74, 1},
		{"all", zipf(131, 79, 30, 7), sparse.SphereEmbedding, everyTerm, "49152", 80, 1},
		{"part", zipf(261, 300, 90, 7), sparse.SphereEmbedding, 6, "8192", 160, 10},
		{"few", zipf(70, 400, 5, 7), sparse.SphereEmbedding, 4, "49152", 0, 3},
		{"signed", points(150, 100, 0.4, 5), sparse.Embedding{Weighting: sparse.TF, Norm: sparse.NormL2},
			4, "49152", 96, 1},
		{"raw", points(65, 130, 0.9, 6), sparse.Embedding{Weighting: sparse.TF}, 4, "49152", 128, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("FAKE_SHARED", c.shared)
			noLeaks(t)
			x := transformed(t, c.embedding, c.counts)
			n := x.Rows()
			d := openTiled(t, 4*137*padded(n), Options{Tensor: true})
			if d.denseShare != timemodel.ByModel {
				t.Errorf("a share of %d, expected %d", d.denseShare, timemodel.ByModel)
			}
			d.denseShare = c.share
			cols := load(t, d, x)
			if l := cols.layout; l.dense != c.dense || l.chunks() != c.chunks && !onRealDevice() {
				t.Errorf("%d terms in the dense end and %d chunks, expected %d and %d",
					l.dense, l.chunks(), c.dense, c.chunks)
			}
			holdAll(t, cols, c.counts)
			if n > 1 {
				docs := []int{n - 1, 0, n / 2}
				holdReduced(t, cols, &device.Request{Program: gaussianC, RowIndices: docs, Hi: n})
			}
		})
	}
}

// If all terms are dense, the results of tensor cores equal integer arithmetic bit for bit. On a
// device this tests the hardware's sums and the layout of its matrices.
func TestTensorExact(t *testing.T) {
	noLeaks(t)
	const n = 140
	counts := points(n, 97, 0.7, 9)
	x := transformed(t, sparse.Embedding{Weighting: sparse.TF, Norm: sparse.NormL2}, counts)
	cols := loadDense(t, x, 97)
	all := gather(t, cols, whole(cols), n)
	steps := cols.layout.steps()
	dense, scale := make([][]step, n), make([]float32, n)
	for i := range dense {
		dense[i] = make([]step, steps)
		terms, _ := x.Row(i)
		scale[i] = cols.layout.fillDense(dense[i], terms, x.UnitVector64(i, nil))
	}
	checked := 0
	for i := range n {
		for j := range n {
			var sum int64
			for q := range steps {
				for k := range timemodel.DenseStep {
					for a := range 4 {
						for b := range 4 - a {
							sum += int64(dense[i][q][a][k]) * int64(dense[j][q][b][k]) << (8 * (3 - a - b))
						}
					}
				}
			}
			units := math.RoundToEven(float64(sum) / (127 * 127) * 0x1p6 * float64(scale[i]) * float64(scale[j]))
			want := float32(1<<30-units) * 0x1p-30
			if want < 0.1 { // recomputed in float64
				continue
			}
			checked++
			// The quotient in float64 differs from the rounded product by a millionth of a unit, so
			// they almost never round to different units.
			if got := all[i*n+j]; got != min(want, 2) {
				t.Fatalf("(%d, %d): found %v, expected %v", i, j, got, want)
			}
		}
	}
	if checked < n*n/2 {
		t.Errorf("%d pairs of %d checked", checked, n*n)
	}
}

// Equal values are all rounded in the same direction, up to the maximum number of dense terms.
func TestTensorLongDocuments(t *testing.T) {
	noLeaks(t)
	const n, terms = 40, timemodel.DenseMax + 1 // no document has the first term
	cols := loadDense(t, transformed(t, sparse.SphereEmbedding, equalValues(n, terms)), timemodel.DenseMax)
	holdReference(t, "all terms", cols)
}

// Documents of equal values have the same digits in all terms, so all omitted products have the
// same sign. In units of the largest value they are at most rounding errors. Of all numbers of
// terms from 1,138 to 2,400, these have the worst digits in units of 1.
func TestTensorEqualValues(t *testing.T) {
	noLeaks(t)
	lengths := []int{1351, 1354, 1309, 2365, 1195}
	m := &sparse.CSR{Offsets: []int64{0}, Cols: timemodel.DenseMax}
	for _, length := range lengths { // two documents of each length share timemodel.DenseMax terms and no others
		for range 2 {
			for term := range length {
				if term >= timemodel.DenseMax {
					term = m.Cols
					m.Cols++
				}
				m.Terms, m.Values = append(m.Terms, uint32(term)), append(m.Values, 1)
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
	}
	x := transformed(t, sparse.SphereEmbedding, m)
	cols := loadDense(t, x, timemodel.DenseMax)
	n := x.Rows()
	all := gather(t, cols, whole(cols), n)
	for i := range n {
		for j := range n {
			want := 1 - timemodel.DenseMax/math.Sqrt(float64(lengths[i/2]*lengths[j/2]))
			if i == j || want < 0.1 { // 0, or recomputed
				continue
			}
			// Omitted products, rounding of values to digits, and the roundings of s, below 1, and
			// of c.
			if err := math.Abs(float64(all[i*n+j]) - want); !(err <= 2.9e-9+1.5e-8+0x1p-25+0x1p-25) {
				t.Errorf("%d and %d terms: found %v, expected %v, error %.3g",
					lengths[i/2], lengths[j/2], all[i*n+j], want, err)
			}
		}
	}
}

// There are so many documents that their dense values are copied in several pieces.
func TestTensorPieces(t *testing.T) {
	noLeaks(t)
	const n, terms = 2*denseBatchBytes/(4*timemodel.DenseMax) + 77, timemodel.DenseMax
	m := points(n, terms, 0.05, 11)
	x := transformed(t, sparse.Embedding{Weighting: sparse.TF, Norm: sparse.NormL2}, m)
	cols := loadDense(t, x, terms)
	if size := 4 * timemodel.DenseStep * n * cols.layout.steps(); size <= 2*denseBatchBytes {
		t.Errorf("%d bytes of the dense end, expected more than two pieces of %d", size, denseBatchBytes)
	}
	lo := n / device.ColumnAlignment * device.ColumnAlignment
	holdRows(t, cols, &device.Request{RowIndices: []int{0, n / 2, n - 1}, Lo: lo, Hi: n})
	holdRows(t, cols, &device.Request{RowIndices: []int{n / 3}, Hi: 1})
}

// Digits represent the nearest integer, also at the ends of the range.
func TestDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	values := []float64{
		0, 1, -1, math.Copysign(0, -1), 0.5 / digitScale, -1.5 / digitScale, 1 + 1e-15, -1 - 1e-15,
		0x7fffff / float64(digitScale), 0x808080 / float64(digitScale), -0x808081 / float64(digitScale),
	}
	for range 10_000 {
		values = append(values, 2*r.Float64()-1, r.NormFloat64()/1000)
	}
	for _, v := range values {
		var q int64
		for _, d := range digits(v) {
			q = q*256 + int64(d)
		}
		if want := int64(math.RoundToEven(min(max(v, -1), 1) * digitScale)); q != want {
			t.Errorf("the digits %v of %v are %d, expected %d", digits(v), v, q, want)
		}
	}
}

// Dense values count as device memory. Histograms have no dense terms.
func TestTensorMemory(t *testing.T) {
	noLeaks(t)
	const n, terms = 300, 95
	m := points(n, terms, 0.8, 4)
	for i, v := range m.Values {
		m.Values[i] = float32(math.Abs(float64(v)))
	}
	load := func(e sparse.Embedding, opt Options) (held int64, dense int, err error) {
		d := open(t, opt)
		err = within(t, d, transformed(t, e, m), func(cols *columns) error {
			held, dense = d.allocated, cols.layout.dense
			return nil
		})
		return max(held, d.allocated), dense, err
	}
	plain, none, err := load(sparse.SphereEmbedding, Options{})
	if err != nil || none != 0 {
		t.Fatalf("%d terms in a dense end that nobody asked for, error %v", none, err)
	}
	with, dense, err := load(sparse.SphereEmbedding, Options{Tensor: true})
	if err != nil || dense != terms {
		t.Fatalf("%d terms in the dense end, expected %d, error %v", dense, terms, err)
	}
	values := int64(len(m.Values))
	// 96 dense terms of 4 bytes each replace head entries of 8 bytes, except for padding.
	if want := plain + 4*96*n - 8*values; with < want-4096 || with > want+4096+8*4*n {
		t.Errorf("%d bytes with the dense end and %d without, expected %d", with, plain, want)
	}
	held, _, err := load(sparse.SphereEmbedding, Options{Tensor: true, MemoryBytes: 4 * 96 * n})
	if !errors.Is(err, cu.OutOfMemory) || held != 0 {
		t.Errorf("%d bytes held after error %v", held, err)
	}
	histograms := sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.ChiSquare}
	if _, dense, err := load(histograms, Options{Tensor: true}); dense != 0 || err != nil {
		t.Errorf("%d terms in the dense end of histograms, error %v", dense, err)
	}
}
