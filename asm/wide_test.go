package asm

import (
	"fmt"
	"math"
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
	for _, x := range []float64{1, 0.3, 17.5} {
		for _, gamma := range []float64{1e-9, 0.01, 1, 20} {
			list = append(list, mapCase{fmt.Sprintf("gaussian deficit/x=%g/gamma=%g", x, gamma),
				func(k *Kernels, dst, c, y []float32) { k.GaussianDeficit(dst, c, y, x, gamma) },
				func(c, y float64) (float64, float64) {
					v := -math.Expm1(-gamma * ((x-y)*(x-y) + 2*x*y*c))
					return v, half(v, 1<<19)
				}, false})
		}
		// The feature space of (⟨x, y⟩+1)ⁿ: x beside 1, of which 1 - cosine is ((x-y)²/(√(AB)+xy+1)
		// + xyc)/√(AB), A = x²+1, B = y²+1, as Lagrange's identity has it.
		for _, degree := range []int{1, 2, 3, 20} {
			n := float64(degree)
			list = append(list, mapCase{fmt.Sprintf("join/x=%g/degree=%d", x, degree),
				func(k *Kernels, dst, c, y []float32) {
					q := [][]float64{make([]float64, len(c)), make([]float64, len(c))}
					for j, v := range y[:len(c)] {
						b := math.Sqrt(float64(v)*float64(v) + 1)
						q[0][j], q[1][j] = float64(v)/b, 1/b
					}
					a := math.Sqrt(x*x + 1)
					k.Join(dst, [][]float32{c}, q, []float64{x / a, 1 / a}, degree)
				},
				func(c, y float64) (float64, float64) {
					root := math.Sqrt((x*x + 1) * (y*y + 1))
					v := ((x-y)*(x-y)/(root+x*y+1) + x*y*c) / root
					w := -math.Expm1(n * math.Log1p(-min(v, 1)))
					if v > 0.5 {
						w = 1 - math.Pow(1-v, n)
					}
					// Norms are within 3 units: v within 12·2⁻⁵³ √(2v) and a few units of itself.
					return w, half(w, 8*n) + n*0x1p-49*math.Sqrt(v)
				}, false})
		}
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
		for _, out := range []float64{math.NaN(), -1, 0x1p160, math.Nextafter(0x1p-160, 0), 5e-324, math.Inf(1), math.Inf(-1)} {
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
// touched. Joins with several parts, of which any may be the result, likewise.
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
				testJoin(t, k, r, n, from)
			}
		}
	})
}

// testJoin joins three parts, the last of them without a c.
func testJoin(t *testing.T, k *Kernels, r *rand.Rand, n, from int) {
	c, q, p := make([][]float32, 2), make([][]float64, 3), make([]float64, 3)
	var arounds [][]float32
	for i := range c {
		inner, around := fenced(n, from+i)
		for j := range inner {
			inner[j] = 2 * r.Float32()
		}
		c[i], arounds = inner, append(arounds, around)
	}
	unit := func(at func(i int) *float64) {
		var sum float64
		for i := range 3 {
			*at(i) = r.Float64()
			sum += *at(i) * *at(i)
		}
		for i := range 3 {
			*at(i) /= math.Sqrt(sum)
		}
	}
	for i := range q {
		q[i] = make([]float64, n)
	}
	unit(func(i int) *float64 { return &p[i] })
	for j := range n {
		unit(func(i int) *float64 { return &q[i][j] })
	}
	dst, around := fenced(n, from+2)
	k.Join(dst, c, q, p, 2)
	for j, got := range dst {
		var v, product float64
		for i := range p {
			product += p[i] * q[i][j]
			if i < len(c) {
				v += p[i] * q[i][j] * float64(c[i][j])
			}
		}
		v += 1 - product
		want := v * (2 - v)
		if err := math.Abs(float64(got) - want); !(err <= ulp32(want)/2+0x1p-48) {
			t.Fatalf("n = %d: element %d is %v, want %v", n, j, got, want)
		}
	}
	if !intact(dst, around, from+2) {
		t.Fatalf("n = %d: written beyond the ends", n)
	}
	for i := range c { // in the place of each part
		kept := append([]float32(nil), c[i]...)
		k.Join(c[i], c, q, p, 2)
		for j := range dst {
			if math.Float32bits(c[i][j]) != math.Float32bits(dst[j]) {
				t.Fatalf("n = %d: element %d is %v, %v in place of part %d", n, j, dst[j], c[i][j], i)
			}
		}
		if !intact(c[i], arounds[i], from+i) {
			t.Fatalf("n = %d: written beyond the ends", n)
		}
		copy(c[i], kept)
	}
}

// FuzzHalfLine holds the kernels in assembly to the portable one on any numbers: the same row, and
// as near as two orders of rounding are.
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
		for _, k := range tables() {
			if k.HalfLine(got, v, rows, 0.5) != outside {
				t.Fatalf("isa=%s, v = %v: outside is not %t", k.ISA, v, outside)
			}
			for j := range got {
				// The sum of the terms' sizes is below 7·Σ 2⁻⁵ᵏ < 8, and either order rounds 11
				// times at most.
				if err := math.Abs(float64(got[j]) - float64(want[j])); !(err <= ulp32(float64(want[j]))+8*22*0x1p-53) &&
					(got[j] == got[j] || want[j] == want[j]) {
					t.Fatalf("isa=%s, v = %v: %v, expected %v", k.ISA, v[j], got[j], want[j])
				}
			}
		}
	})
}

func BenchmarkWide(b *testing.B) {
	const n = 256
	rng := rand.New(rand.NewPCG(1, 2))
	c, y, dst, v := make([]float32, n), make([]float32, n), make([]float32, n), make([]float64, n)
	q := [][]float64{make([]float64, n), make([]float64, n)}
	for i := range c {
		c[i], y[i], v[i] = rng.Float32(), 1+rng.Float32(), rng.Float64()
		q[0][i], q[1][i] = v[i], 1-v[i]
	}
	rows, row := randomHalfLine(rng), [HalfAngleNumbers]float64{1, 0.5, 0.5, 0.5, 0.1}
	for _, k := range tables() {
		for name, run := range map[string]func(){
			"halfline":  func() { k.HalfLine(dst, v, rows, 0) },
			"deficit":   func() { k.GaussianDeficit(dst, c, y, 1.5, 0.5) },
			"tanh":      func() { k.Tanh(dst, v) },
			"squares":   func() { k.Squares(v, c, y, 0.5) },
			"affine":    func() { k.Affine(v, c, y, 0.5, 1, 0) },
			"halfAngle": func() { k.HalfAngle(v, c, row[:], [][]float64{q[0], q[0], q[0], q[0], q[0]}) },
			"join":      func() { k.Join(dst, [][]float32{c, c}, q, []float64{0.5, 0.5}, 1) },
			"join3":     func() { k.Join(dst, [][]float32{c}, q, []float64{0.5, 0.5}, 3) },
		} {
			b.Run(fmt.Sprintf("isa=%s/map=%s/values", k.ISA, name), func(b *testing.B) {
				for b.Loop() {
					run()
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
			})
		}
	}
}
