package engine

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// counts returns n documents with integer counts up to most, and with frequent and rare words.
func counts(n, terms, length, most int, seed uint64) *sparse.CSR {
	m, r := zipf(n, terms, length, seed), rand.New(rand.NewPCG(seed, 8))
	for i := range m.Values {
		m.Values[i] = float32(1 + r.IntN(most))
	}
	return m
}

// dots returns ⟨x, y⟩ of row i of x and row j of y, exactly.
func dots(x *sparse.CSR, i int, y *sparse.CSR, j int) (dot float64) {
	of := map[uint32]float64{}
	terms, values := x.Row(i)
	for k, t := range terms {
		of[t] = float64(values[k])
	}
	terms, values = y.Row(j)
	for k, t := range terms {
		dot += of[t] * float64(values[k])
	}
	return dot
}

// Inner products and distances of integer counts are exact on every instruction set and with every
// method. Kernel values equal the kernel of the exact number.
func TestWholeCountsAreExact(t *testing.T) {
	const n = 140
	for _, most := range []int{1, 3, 12} {
		train, test := counts(n, 2000, 30, most, 1), counts(70, 2000, 30, most, 2)
		test.Values[0] += 0.5 // document 0 has a fractional count
		x := embedded(t, sparse.Embedding{}, train)
		other := musttest.Get(x.Embedder.Transform(test))(t)
		eachISA(t, func(t *testing.T, isa string) {
			e := newEngine(t, x, Options{ISA: isa, Workers: 2})
			cached := newCached(t, e, CacheOptions{})
			of := func(spec string) (kernel.Kernel, *Symmetric, *Dense, [][]float32) {
				k := parse(t, spec)
				rows := [][]float32{make([]float32, n), make([]float32, n)}
				musttest.NoError(t, cached.Rows(t.Context(), k, []int{5, 77}, [][2]int{{0, n}}, rows))
				return k, gram(t, e, k), musttest.Get(e.Rows(t.Context(), k, Request{TestDocuments: other}, nil))(t), rows
			}
			_, linear, cross, rows := of("linear")
			_, squares, _, _ := of("ned:beta=2")
			_, distance, _, _ := of("ned")
			poly, powers, _, _ := of("polynomial:gamma=0.5,r=1,degree=2")
			for i := range n {
				for j := range n {
					dot := dots(train, i, train, j)
					square := dots(train, i, train, i) + dots(train, j, train, j) - 2*dot
					if linear.At(i, j) != dot || squares.At(i, j) != -square ||
						!(math.Abs(distance.At(i, j)+math.Sqrt(square)) <= 0x1p-22*math.Sqrt(square)) ||
						float32(powers.At(i, j)) != float32(poly.Eval(1-dot, 1, 1)) {
						t.Fatalf("counts to %d: %v, %v, %v, %v of documents %d and %d, expected those of ⟨x, y⟩ = %v", most,
							linear.At(i, j), squares.At(i, j), distance.At(i, j), powers.At(i, j), i, j, dot)
					}
				}
				for r, d := range []int{5, 77} {
					if dot := dots(train, d, train, i); float64(rows[r][i]) != dot {
						t.Fatalf("cached: %v of documents %d and %d, expected %v", rows[r][i], d, i, dot)
					}
				}
				for r := 1; r < cross.Rows; r++ {
					if dot := dots(test, r, train, i); float64(cross.Row(r)[i]) != dot {
						t.Fatalf("cross: %v of documents %d and %d, expected %v", cross.Row(r)[i], r, i, dot)
					}
				}
			}
			near := musttest.Get(e.Neighbours(t.Context(), parse(t, "linear"), NeighbourOptions{Count: n - 1}))(t)
			for i := range n {
				list := near.List(i)
				for k := 1; k < len(list); k++ {
					if a, b := list[k-1], list[k]; a.Value == b.Value && a.Document > b.Document {
						t.Fatalf("document %d: neighbours %v and %v, expected equal ones by number", i, a, b)
					}
				}
			}
		})
	}
}

// Distances are accurate for vectors at any distance from the origin.
func TestFarFromTheOrigin(t *testing.T) {
	const n, d = 150, 8
	r := rand.New(rand.NewPCG(3, 3))
	values := musttest.MakeSlice(n*d, func(int) float32 { return float32(10000 + r.NormFloat64()) })
	m := musttest.Get(sparse.FromDense(n, d, values))(t)
	x := embedded(t, sparse.Embedding{}, m)
	eachISA(t, func(t *testing.T, isa string) {
		e := newEngine(t, x, Options{ISA: isa, Workers: 1})
		rbf, ned := gram(t, e, parse(t, "rbf:gamma=0.1")), gram(t, e, parse(t, "ned"))
		for i := range n {
			for j := range n {
				var square float64
				for k := range d {
					u := float64(m.Values[i*d+k]) - float64(m.Values[j*d+k])
					square += u * u
				}
				want := math.Exp(-0.1 * square)
				if err := math.Abs(rbf.At(i, j) - want); !(err <= 1e-6) { // 5 ulp · (1+z) of e^-z
					t.Fatalf("rbf of documents %d and %d is %v, expected %v", i, j, rbf.At(i, j), want)
				}
				if err := math.Abs(ned.At(i, j) + math.Sqrt(square)); !(err <= 1e-6*math.Sqrt(square)) {
					t.Fatalf("ned of documents %d and %d is %v, expected %v", i, j, ned.At(i, j), -math.Sqrt(square))
				}
			}
		}
	})
}
