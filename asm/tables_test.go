package asm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// half returns the maximum error of a float64 value with relative error n·2⁻⁵³, rounded to float32.
func half(v, n float64) float64 { return ulp32(v)/2 + n*0x1p-53*math.Abs(v) }

// scaled returns the case of a map of float64 numbers, called with scale·c.
func scaled(name string, scale float64, run func(k *Kernels, dst []float32, v []float64),
	want func(v float64) (value, tolerance float64),
) mapCase {
	return mapCase{fmt.Sprintf("%s/scale=%g", name, scale), func(k *Kernels, dst, c, _ []float32) {
		v := musttest.MakeSlice(len(dst), func(j int) float64 { return scale * float64(c[j]) })
		run(k, dst, v)
	}, func(c, _ float64) (float64, float64) { return want(scale * c) }, false}
}

// wideCases lists the maps that compute in float64.
func wideCases() (list []mapCase) {
	for _, scale := range []float64{1, -1e-3, 50} {
		list = append(list, scaled("tanh", scale, func(k *Kernels, dst []float32, v []float64) { k.Tanh(dst, v) },
			func(v float64) (float64, float64) { return math.Tanh(v), half(math.Tanh(v), 1<<20) }))
	}
	for _, scale := range []float64{1e-30, 1e-3, 1, 50} {
		list = append(list, scaled("decay", scale, func(k *Kernels, dst []float32, v []float64) { k.Decay(dst, v) },
			func(v float64) (float64, float64) { return -math.Expm1(-v), half(math.Expm1(-v), 1<<19) }))
	}
	return list
}

// randomRows returns a table of random coefficients whose last row is NaN.
func randomRows[T float32 | float64](r *rand.Rand, n int) [][8]T {
	rows := make([][8]T, n)
	for i := range rows {
		for k := range rows[i] {
			if rows[i][k] = T(r.NormFloat64()); i == n-1 {
				rows[i][k] = T(math.NaN())
			}
		}
	}
	return rows
}

// pieceOf returns the row of c and its variable, from the definition in real numbers.
func pieceOf(c float64, bits uint) (row int, x float64) {
	u, fold := math.Ldexp(c, 24), 0
	if c > 1 {
		u, fold = math.Ldexp(math.Max(2-c, 0x1p-24), 24), PiecewiseFold
	}
	if !(u > 0) {
		return 0, -math.Ldexp(0.5, -int(bits))
	}
	m, e := math.Frexp(u) // u = 2m·2^(e-1)
	m = 2*m - 1
	part := math.Floor(math.Ldexp(m, int(bits)))
	return (e-1+127+fold)<<bits + int(part), m - math.Ldexp(part+0.5, -int(bits))
}

// tableCases lists piecewise polynomials and half lines with random coefficients.
func tableCases() (list []mapCase) {
	for _, bits := range []uint{0, 1, 3, 6, 12} {
		rows := randomRows[float32](rand.New(rand.NewPCG(4, uint64(bits))), PiecewiseRows(bits))
		list = append(list, mapCase{fmt.Sprintf("piecewise/bits=%d", bits),
			func(k *Kernels, dst, c, _ []float32) { k.Piecewise(dst, c, rows, bits) },
			func(c, _ float64) (want, tol float64) {
				row, x := pieceOf(c, bits)
				if at, y := PiecewiseRow(float32(c), bits); at != row || float64(y) != x {
					panic(fmt.Sprintf("bits %d: row and t of %v are %d and %v, expected %d and %v", bits, c, at, y, row, x))
				}
				// Horner's rule in float32 rounds the term in tᵏ at most 2k+1 times.
				for i := 5; i >= 0; i-- {
					want = want*x + float64(rows[row][i])
					tol = tol*math.Abs(x) + float64(2*i+1)*0x1p-24*math.Abs(float64(rows[row][i]))
				}
				return want, tol + 0x1p-149
			}, false})
	}
	rows := randomRows[float64](rand.New(rand.NewPCG(9, 1)), HalfLineRows+1)
	for _, scale := range []float64{1, 0x1p-10, 0x1p150} {
		list = append(list, scaled("halfline", scale,
			func(k *Kernels, dst []float32, v []float64) { k.HalfLine(dst, v, rows, 0.1) },
			func(v float64) (want, tol float64) {
				if v == 0 {
					return 0.1, ulp32(0.1) / 2
				}
				m, e := math.Frexp(v) // v = 2m·2^(e-1)
				part := math.Floor((2*m - 1) * HalfLineIntervals)
				row, x := (e-1-HalfLineMinExponent)*HalfLineIntervals+int(part), 2*m-1-(part+0.5)/HalfLineIntervals
				size := 0.0
				for i := range 6 {
					term := rows[row][i] * math.Pow(x, float64(i))
					want, size = want+term, size+math.Abs(term)
				}
				return want, ulp32(want)/2 + 20*0x1p-53*size
			}))
	}
	return list
}

// NaN, negative arguments and, for HalfLine, arguments out of range give NaN at any index. HalfLine
// reports NaN.
func TestOutsideOfTables(t *testing.T) {
	inf := math.Inf(1)
	eachISA(t, func(t *testing.T, k *Kernels) {
		for _, bits := range []uint{0, 3, 12} {
			none := []float32{float32(math.NaN()), -1, float32(-inf), -0x1p-149}
			k.Piecewise(none, none, randomRows[float32](rand.New(rand.NewPCG(4, 4)), PiecewiseRows(bits)), bits)
			for _, v := range none {
				if v == v {
					t.Errorf("bits %d: what is no c gives %v", bits, v)
				}
			}
		}
		rows, dst := randomRows[float64](rand.New(rand.NewPCG(9, 1)), HalfLineRows+1), make([]float32, 11)
		for _, out := range []float64{1, math.NaN(), -1, 0x1p160, math.Nextafter(0x1p-160, 0), 5e-324, inf, -inf} {
			for _, n := range []int{1, 4, 5, 8, 11} {
				for at := range n {
					in := musttest.MakeSlice(n, func(j int) float64 { return 1 + float64(j) })
					in[at] = out
					outside := k.HalfLine(dst[:n], in, rows, 0.1)
					if want := out != 1; outside != want || (dst[at] != dst[at]) != want {
						t.Errorf("%v at %d of %d gives %v, outside %t", out, at, n, dst[at], outside)
					}
				}
			}
		}
	})
}

// Affine and Squares agree with math/big to a few roundings of each term.
func TestInner(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(12, 1))
		const n = 200
		c, y := make([]float32, n), make([]float32, n)
		var x64, y64, c64, affine, squares [n]float64
		x, gamma, add := float64(float32(math.Exp(r.NormFloat64()))), math.Exp(r.NormFloat64()), r.NormFloat64()
		for j := range c {
			c[j], y[j] = 2*r.Float32()*r.Float32(), float32(math.Exp(3*r.NormFloat64()))
			if j%8 == 0 {
				y[j], c[j] = float32(x), 0x1p-149
			}
			x64[j], y64[j], c64[j] = x, float64(y[j]), float64(c[j])
		}
		k.Affine(affine[:], c, y, x, gamma, add)
		k.Squares(squares[:], x64[:], y64[:], c64[:])
		for j := range n {
			c, y := c64[j], y64[j]
			d, product := bigSub(bigOf(x), bigOf(y)), bigMul(bigOf(x), bigOf(y))
			for _, of := range []struct {
				name string
				got  float64
				want *big.Float
				size float64
			}{
				{"affine", affine[j], bigAdd(bigMul(bigOf(gamma), bigMul(product, bigSub(bigOf(1), bigOf(c)))), bigOf(add)),
					gamma*x*y*math.Abs(1-c) + math.Abs(add)},
				{"squares", squares[j], bigAdd(bigMul(d, d), bigMul(bigOf(2*c), product)), (x-y)*(x-y) + 2*x*y*c},
			} {
				exact, _ := of.want.Float64()
				if err := math.Abs(of.got - exact); !(err <= 5*0x1p-53*of.size) {
					t.Fatalf("%s of c = %v, y = %v is %v, exactly %v", of.name, c, y, of.got, exact)
				}
			}
		}
	})
}
