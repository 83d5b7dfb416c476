// Package enginetest provides documents and kernels for the tests of several packages.
package enginetest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// Zipf returns documents whose terms follow Zipf's law. It adds edge cases: exact and near
// duplicates, proportional documents, empty documents, and documents with thousands of terms.
func Zipf(n, terms, length int, seed uint64) *sparse.CSR {
	r := rand.New(rand.NewPCG(seed, 1))
	m := &sparse.CSR{Cols: terms, Offsets: []int64{0}}
	add := func(counts map[uint32]float32) {
		var ts []uint32
		for t := range counts {
			ts = append(ts, t)
		}
		slices.Sort(ts)
		for _, t := range ts {
			m.Terms = append(m.Terms, t)
			m.Values = append(m.Values, counts[t])
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	var last map[uint32]float32
	for i := range n {
		counts := map[uint32]float32{}
		for t, v := range last {
			counts[t] = v
		}
		switch {
		case i%17 == 5: // the document duplicates the previous document
		case i%17 == 7: // the document has one more word than the previous document
			counts[uint32(r.IntN(terms))]++
		case i%17 == 9: // the document is three times the previous document
			for t := range counts {
				counts[t] *= 3
			}
		case i%41 == 3: // the document is empty
			clear(counts)
		default:
			clear(counts)
			size := length
			if i%29 == 11 {
				size = 40 * length
			}
			for range 1 + r.IntN(2*size) {
				counts[uint32(float64(terms)*math.Pow(r.Float64(), 4))]++
			}
		}
		add(counts)
		last = counts
	}
	return m
}

// Fit fits e to m. Labels alternate between two classes. The first document is in both classes.
func Fit(e sparse.Embedding, m *sparse.CSR) *sparse.Embedder {
	var labels sparse.Labels
	for i := range m.Rows() {
		if i == 0 {
			labels.Add(0, 1)
		} else {
			labels.Add(int32(i % 2))
		}
	}
	return e.FitLabels(m, labels, 2)
}

func EmbedCSR(t testing.TB, e sparse.Embedding, m *sparse.CSR) *sparse.Embedded {
	t.Helper()
	x, err := Fit(e, m).Transform(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func EmbedRows(t testing.TB, e sparse.Embedding, rows [][]float32) *sparse.Embedded {
	t.Helper()
	m := &sparse.CSR{Offsets: []int64{0}}
	for _, r := range rows {
		m.Cols = max(m.Cols, len(r))
		for term, v := range r {
			if v != 0 {
				m.Terms = append(m.Terms, uint32(term))
				m.Values = append(m.Values, v)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Values)))
	}
	x, err := Fit(e, m).Transform(m)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// SampleRows returns rows of counts: random rows of different density, near duplicates at many
// distances, a duplicate, a multiple, a row without common terms, and empty rows.
func SampleRows() [][]float32 {
	r := rand.New(rand.NewPCG(7, 1))
	const terms = 200
	var rows [][]float32
	for i := range 20 {
		row := make([]float32, terms)
		for t := range row {
			if r.IntN(1+i) < 3 {
				row[t] = float32(1 + r.IntN(9))
			}
		}
		rows = append(rows, row)
	}
	for _, big := range []float32{10, 1e3, 1e5, 1 << 23} {
		near := append([]float32(nil), rows[5]...)
		near[3] = big
		next := append([]float32(nil), near...)
		next[3]++
		rows = append(rows, near, next)
	}
	double := make([]float32, terms)
	for t, v := range rows[5] {
		double[t] = 2 * v
	}
	alone, empty := make([]float32, terms+1), make([]float32, terms)
	alone[terms] = 3
	return append(rows, rows[5], double, alone, empty, empty)
}

func SameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

// Kernels lists kernels with typical and extreme parameters for text.
var Kernels = []string{
	"c", "bhattacharyya",
	"diffusion:t=0.03", "diffusion:t=0.5", "diffusion:t=8",
	"diffusion:t=0.3,order=0,n=1", "diffusion:t=1e-4,order=2,n=60000",
	"diffusion:t=0.1,order=3,n=20,constant=full", "diffusion:t=0.7,order=8,n=5", "diffusion:t=0.5,cutoff=3",
	"diffusion:t=0.02,order=1,n=200,cutoff=0.7",
	"diffusion:t=0.1,order=0,n=20,form=printed,cutoff=3",
	"ngd", "ngd:shift=pi", "ngd:shift=-1.1",
	"ngd-exp:t=0.05", "ngd-exp:t=1", "ngd-exp:t=30",
	"linear",
	"polynomial:gamma=1e-4,r=0,degree=3", "polynomial:gamma=0.3,r=-1.7,degree=2", "polynomial:gamma=1,r=1,degree=1",
	"polynomial:gamma=1e-5,r=1,degree=7",
	"rbf:gamma=1.6e-5", "rbf:gamma=0.1", "rbf:gamma=1",
	"sigmoid:gamma=1e-3,r=0", "sigmoid:gamma=0.1,r=-1",
	"arccos:n=0", "arccos:n=1", "arccos:n=2",
	"arccos:n=3", "arccos:n=4", "arccos:n=9", "arccos:n=0.5", "arccos:n=-0.25", "arccos:n=1.5", "arccos:n=3.7",
	"arccos:n=0,bias=0.3", "arccos:n=0,bias=-2", "arccos:n=0,bias=1,sigma=0.5",
	"arccos:n=0,sigma=0.5", "arccos:n=0,sigma=100", "arccos:n=0,sigma=1,layers=2",
	"compose(arccos:n=0.5,arccos:n=3,arccos:n=0)", "product(arccos:n=0.5,arccos:n=1)",
	"compose(rbf:gamma=0.1,arccos:n=0.25)",
	"arccos:n=0,layers=3", "arccos:n=1,layers=3", "arccos:n=2,layers=2",
	"compose(arccos:n=1,arccos:n=0):layers=3", "compose(arccos:n=0,rbf:gamma=1)",
	"compose(ngd:shift=7,linear,polynomial:gamma=1,r=1)",
	"compose(polynomial:gamma=0.1,r=1,degree=2,arccos:n=1)", "compose(0.5*linear + rbf:gamma=0.1,arccos:n=0)",
	"compose(0.5*linear + arccos:n=0.5 + 2*polynomial:gamma=0.01,r=1,degree=2,0.1*rbf:gamma=0.1 + " +
		"arccos:n=0,arccos:n=1)",
	"product(arccos:n=1,arccos:n=0,arccos:n=0)", "product(rbf:gamma=0.1,linear)",
	"product(diffusion:t=0.03,arccos:n=0)",
	"0.5*diffusion:t=0.5 + 0.5*linear", "0.5*diffusion:t=0.1 + 0.5*bhattacharyya",
	"linear + -2.5*(arccos:n=1 + 3*linear)",
	"power(arccos:n=1):p=2.5", "power(bhattacharyya):p=3", "power(linear + rbf:gamma=0.1):p=2",
	"power(rbf:gamma=0.1):p=0.5",
	"power(polynomial:gamma=1e-3,r=1,degree=2):p=1.5", "power(polynomial:gamma=1e-3,r=1,degree=2):p=6.75",
	"power(linear + rbf:gamma=0.1):p=3",
	"power(exp(0.5*ned)):p=0.01", "power(3*rbf:gamma=0.1):p=0.5", "power(arccos:n=-0.45):p=20",
	"compose(arccos:n=20,arccos:n=-0.49)",
	"exp(2*bhattacharyya)", "exp(100*bhattacharyya)", "exp(1e-3*linear)", "exp(0.5*ngd)",
	"normalise(polynomial:gamma=0.1,r=1,degree=2)", "normalise(arccos:n=2)",
	"normalise(polynomial:gamma=0.1,r=0,degree=3)",
	"centred(ngd)", "centred(rbf:gamma=0.1)", "centred(ned)",
	"ngd-power:beta=0.3", "ngd-log", "hellinger:gamma=1", "hellinger:gamma=50", "chi2:gamma=1", "chi2:gamma=40",
	"js:t=1", "js:t=0.02",
	"ned", "ned:beta=0.5", "ned:beta=2", "ned-log",
	"compose(polynomial:gamma=0.1,r=0,degree=12,ngd)", "compose(linear + polynomial:gamma=0.1,r=0,degree=2,arccos:n=0)",
	"compose(power(rbf:gamma=0.1):p=0.5,ned)",
	"compose(arccos:n=0,sigma=0.5,arccos:n=1)", "compose(arccos:n=0,sigma=20,ngd)",
	"compose(linear + arccos:n=0,sigma=3,arccos:n=0,sigma=0.1)",
	"compose(arccos:n=1,rbf:gamma=0.1,arccos:n=1):layers=4", "compose(rbf:gamma=0.1,ngd)",
}

// ISAs returns all instruction sets that the CPU supports. With -short it returns only the fastest
// set, because under the race detector the generic kernels are twenty times as slow as the
// assembly.
func ISAs() []asm.ISA {
	all := asm.Available()
	if testing.Short() {
		return all[len(all)-1:]
	}
	return all
}
