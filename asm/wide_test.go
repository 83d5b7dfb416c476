package asm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// half is the error of a result that is rounded once from what is within n units of 2⁻⁵³, relative
// to it.
func half(v, n float64) float64 { return ulp32(v)/2 + n*0x1p-53*math.Abs(v) }

// wideCases lists the maps that compute in float64 and take c and norms.
func wideCases() []mapCase {
	var list []mapCase
	for _, scale := range []float64{1, -1e-3, 50} {
		list = append(list, mapCase{fmt.Sprintf("tanh/scale=%g", scale),
			func(k *Kernels, dst, c, y []float32) {
				v := make([]float64, len(dst))
				for j := range v {
					v[j] = scale * float64(c[j])
				}
				k.Tanh(dst, v)
			},
			func(c, _ float64) (float64, float64) {
				v := math.Tanh(scale * c)
				return v, half(v, 1<<20)
			}, false})
	}
	for _, scale := range []float64{1e-30, 1e-3, 1, 50} {
		list = append(list, mapCase{fmt.Sprintf("decay/scale=%g", scale),
			func(k *Kernels, dst, c, y []float32) {
				v := make([]float64, len(dst))
				for j := range v {
					v[j] = scale * float64(c[j])
				}
				k.Decay(dst, v)
			},
			func(c, _ float64) (float64, float64) {
				v := -math.Expm1(-scale * c)
				return v, half(v, 1<<19)
			}, false})
	}
	return list
}

// randomHalfLine returns rows of random coefficients.
func randomHalfLine(r *rand.Rand) [][8]float64 {
	rows := make([][8]float64, HalfLineRows+1)
	for i := range rows {
		for k := range rows[i] {
			rows[i][k] = r.NormFloat64()
		}
	}
	for k := range rows[0] {
		rows[HalfLineRows][k] = math.NaN()
	}
	return rows
}

// halfLinePoints are numbers at the ends and in the middle of intervals, over the whole range, and
// random ones.
func halfLinePoints(r *rand.Rand) []float64 {
	v := []float64{0, 0x1p-160, math.Nextafter(1, 0), 1, 1.0625, math.Nextafter(1.0625, 0), math.Nextafter(0x1p160, 0)}
	for e := HalfLineLow; e < HalfLineHigh; e++ {
		for range 3 {
			v = append(v, math.Ldexp(1+r.Float64(), e))
		}
	}
	return v
}

// The row is worked out here from the definition in real numbers, and the polynomial in float64,
// term by term.
func TestHalfLine(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(9, 1))
		rows, v := randomHalfLine(r), halfLinePoints(r)
		const zero = 0.1
		dst := make([]float32, len(v))
		if k.HalfLine(dst, v, rows, zero) {
			t.Error("a result is called NaN")
		}
		for j, v := range v {
			want, size := zero, 0.0
			if v > 0 {
				m, e := math.Frexp(v) // v = 2m·2^(e-1)
				part := math.Floor((2*m - 1) * HalfLineIntervals)
				row, x := (e-1-HalfLineLow)*HalfLineIntervals+int(part), 2*m-1-(part+0.5)/HalfLineIntervals
				want = 0
				for i := range 6 {
					term := rows[row][i] * math.Pow(x, float64(i))
					want, size = want+term, size+math.Abs(term)
				}
			}
			if err := math.Abs(float64(dst[j]) - want); !(err <= ulp32(want)/2+20*0x1p-53*size) {
				t.Fatalf("the value at %v is %v, expected %v", v, dst[j], want)
			}
		}
		for _, out := range []float64{
			math.NaN(), -1, 0x1p160, math.Nextafter(0x1p-160, 0), 5e-324, math.Inf(1), math.Inf(-1),
		} {
			for _, n := range []int{1, 4, 5, 8, 11} {
				for at := range n {
					in := append([]float64(nil), v[1:1+n]...)
					in[at] = out
					if outside := k.HalfLine(dst[:n], in, rows, zero); !outside || dst[at] == dst[at] {
						t.Errorf("%v at %d of %d gives %v, outside %t", out, at, n, dst[at], outside)
					}
				}
			}
		}
	})
}

// Bits depend on the value alone, not on its place or the length; and nothing beyond the ends is
// touched.
func TestWideLengths(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(9, 2))
		rows, all := randomHalfLine(r), halfLinePoints(r)
		for _, n := range lengths[:16] {
			for _, from := range []int{0, 1, 3} {
				v := all[from : from+n : from+n]
				dst, around := fenced(n, from)
				k.HalfLine(dst, v, rows, 2)
				one := make([]float32, 1)
				for j := range dst {
					if k.HalfLine(one, v[j:j+1], rows, 2); math.Float32bits(one[0]) != math.Float32bits(dst[j]) {
						t.Fatalf("n = %d from %d: value %d is %v, %v by itself", n, from, j, dst[j], one[0])
					}
				}
				if !intact(dst, around, from) {
					t.Fatalf("n = %d: written beyond the ends", n)
				}
			}
		}
	})
}

// FuzzHalfLine compares the kernels in assembly with the portable one on any numbers: they take the
// same row, and differ by what two orders of rounding do.
func FuzzHalfLine(f *testing.F) {
	f.Add(uint64(0), math.Float64bits(1), uint64(1))
	f.Add(math.Float64bits(-1), math.Float64bits(0x1p160), uint64(2))
	f.Fuzz(func(t *testing.T, a, b, seed uint64) {
		rows := randomHalfLine(rand.New(rand.NewPCG(seed, 0)))
		v := []float64{
			math.Float64frombits(a), math.Float64frombits(b), 1, math.Float64frombits(a), math.Float64frombits(b),
		}
		want, got := make([]float32, len(v)), make([]float32, len(v))
		outside := halfLineGeneric(want, v, rows, 0.5)
		for _, k := range tables {
			if k.HalfLine(got, v, rows, 0.5) != outside {
				t.Fatalf("isa=%s, v = %v: outside is not %t", k.ISA, v, outside)
			}
			for j := range got {
				// The sum of the terms' sizes is below 7·Σ 2⁻⁵ᵏ < 8, and either order rounds 11
				// times at most.
				got, want := float64(got[j]), float64(want[j])
				err := math.Abs(got - want)
				if !(err <= ulp32(want)+8*22*0x1p-53) && (got == got || want == want) {
					t.Fatalf("isa=%s, v = %v: %v, expected %v", k.ISA, v[j], got, want)
				}
			}
		}
	})
}

// Affine and Squares against math/big, to some roundings of each term, and to the bit against the
// portable ones; lengths, fences and every element by itself.
func TestInner(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(12, 1))
		for _, n := range lengths[:16] {
			c, y := make([]float32, n), make([]float32, n)
			for j := range c {
				c[j], y[j] = 2*r.Float32()*r.Float32(), float32(math.Exp(3*r.NormFloat64()))
			}
			x, gamma, add := math.Exp(r.NormFloat64()), math.Exp(r.NormFloat64()), r.NormFloat64()
			if n > 0 {
				y[0], c[0] = float32(x), 0x1p-149
				x = float64(y[0])
			}
			for name, run := range map[string]struct {
				map64 func(k *Kernels, dst []float64, c, y []float32)
				want  func(c, x, y *big.Float) *big.Float
				size  func(c, y float64) float64
			}{
				"affine": {func(k *Kernels, dst []float64, c, y []float32) { k.Affine(dst, c, y, x, gamma, add) },
					func(c, x, y *big.Float) *big.Float {
						return bigAdd(bigMul(bigOf(gamma), bigMul(bigMul(x, y), bigSub(bigOf(1), c))), bigOf(add))
					}, func(c, y float64) float64 { return gamma*x*y*math.Abs(1-c) + math.Abs(add) }},
				"squares": {func(k *Kernels, dst []float64, c, y []float32) {
					wide := [3][]float64{make([]float64, n), make([]float64, n), make([]float64, n)}
					for j := range n {
						wide[0][j] = x
					}
					k.Widen(wide[1], y)
					k.Widen(wide[2], c)
					k.Squares(dst, wide[0], wide[1], wide[2])
				},
					func(c, x, y *big.Float) *big.Float {
						d := bigSub(x, y)
						return bigAdd(bigMul(d, d), bigMul(bigOf(2), bigMul(bigMul(x, y), c)))
					}, func(c, y float64) float64 { return (x-y)*(x-y) + 2*x*y*c }},
			} {
				room, want := make([]float64, n+2), make([]float64, n)
				room[0], room[n+1] = math.NaN(), math.NaN()
				run.map64(k, room[1:n+1], c, y)
				run.map64(&generic, want, c, y)
				for j, got := range room[1 : n+1] {
					exact, _ := run.want(bigOf(float64(c[j])), bigOf(x), bigOf(float64(y[j]))).Float64()
					if err := math.Abs(got - exact); !(err <= 5*0x1p-53*run.size(float64(c[j]), float64(y[j]))) ||
						math.Float64bits(got) != math.Float64bits(want[j]) {
						t.Fatalf("%s, n = %d: element %d of c = %v, y = %v is %v, portable %v, exactly %v",
							name, n, j, c[j], y[j], got, want[j], exact)
					}
				}
				if room[0] == room[0] || room[n+1] == room[n+1] {
					t.Fatalf("%s, n = %d: written beyond the ends", name, n)
				}
			}
		}
	})
}

// Arithmetic and conversions have the bits of Go's, for any length, and touch nothing beyond the ends.
func TestArithmetic(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(12, 2))
		for _, n := range lengths[:16] {
			a, b, narrow := make([]float64, n), make([]float64, n), make([]float32, n+2)
			for j := range a {
				a[j], b[j] = math.Exp(90*r.NormFloat64()), -math.Exp(90*r.NormFloat64())
			}
			for name, run := range map[string]struct {
				f    func(dst, a, b []float64)
				want func(a, b float64) float64
			}{
				"Add64": {k.Add64, func(a, b float64) float64 { return a + b }},
				"Sub64": {k.Sub64, func(a, b float64) float64 { return a - b }},
				"Mul64": {k.Mul64, func(a, b float64) float64 { return a * b }},
				"Div64": {k.Div64, func(a, b float64) float64 { return a / b }},
				"Narrow and Widen": {func(dst, a, _ []float64) {
					narrow[0], narrow[n+1] = 7, 7
					k.Narrow(narrow[1:n+1], a)
					k.Widen(dst, narrow[1:n+1])
					if narrow[0] != 7 || narrow[n+1] != 7 {
						t.Errorf("Narrow, n = %d: written beyond the ends", n)
					}
				}, func(a, _ float64) float64 { return float64(float32(a)) }},
			} {
				room := make([]float64, n+2)
				room[0], room[n+1] = 7, 7
				run.f(room[1:n+1], a, b)
				for j, got := range room[1 : n+1] {
					if want := run.want(a[j], b[j]); math.Float64bits(got) != math.Float64bits(want) {
						t.Fatalf("%s of %v and %v, n = %d: found %v, expected %v", name, a[j], b[j], n, got, want)
					}
				}
				if room[0] != 7 || room[n+1] != 7 {
					t.Errorf("%s, n = %d: written beyond the ends", name, n)
				}
			}
		}
	})
}
