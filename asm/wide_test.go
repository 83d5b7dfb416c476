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
	for _, k := range tables {
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
				"squares": {func(k *Kernels, dst []float64, c, y []float32) { k.Squares(dst, c, y, x) },
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

// halfAngleSide returns the numbers of a document of norm x for angles with cos θ_x = x²/(x²+1), in
// float64 and exactly.
func halfAngleSide(x float64) (numbers [HalfAngleNumbers]float64, root, sin, cos *big.Float) {
	sqrt := func(v *big.Float) *big.Float { return new(big.Float).SetPrec(bigPrec).Sqrt(v) }
	square := bigMul(bigOf(x), bigOf(x))
	full := bigAdd(square, bigOf(1))
	cosine := bigQuo(square, full)
	root = sqrt(cosine)
	sin, cos = sqrt(bigQuo(bigQuo(bigOf(1), full), bigOf(2))), sqrt(bigQuo(bigAdd(bigOf(1), cosine), bigOf(2)))
	numbers[0] = x
	numbers[1], _ = root.Float64()
	numbers[2], _ = sin.Float64()
	numbers[3], _ = cos.Float64()
	numbers[4] = 1 / (math.Sqrt2 * (x*x + 1))
	return numbers, root, sin, cos
}

// The definition in math/big: sin θ cos m - cos θ sin m over 1 + cos θ cos m + sin θ sin m. Each
// number of a document is rounded, and some 20 operations are, none of which takes away: 2⁻⁴⁷.
func TestTurn(t *testing.T) {
	norms := []float64{0, 1e-9, 1e-3, 0.5, 1, 1.0000001, 3, 1000}
	cs := []float32{0, 0x1p-149, 1e-20, 1e-5, 0.3, 0.999, 1, 1.0001, 1.7, 2 - 0x1p-23, 2}
	eachISA(t, func(t *testing.T, k *Kernels) {
		for _, x := range norms {
			row, rootX, sinX, cosX := halfAngleSide(x)
			cols, slices := make([][]float64, HalfAngleNumbers), make([][]float64, HalfAngleNumbers)
			var c []float32
			var want []float64
			for _, y := range norms {
				col, rootY, sinY, cosY := halfAngleSide(y)
				for _, v := range cs {
					for i, w := range col {
						cols[i] = append(cols[i], w)
					}
					cosM := bigSub(bigMul(cosX, cosY), bigMul(sinX, sinY))
					sinM := bigAdd(bigMul(sinX, cosY), bigMul(cosX, sinY))
					cosT := bigMul(bigMul(rootX, rootY), bigSub(bigOf(1), bigOf(float64(v))))
					sinT := new(big.Float).SetPrec(bigPrec).Sqrt(bigSub(bigOf(1), bigMul(cosT, cosT)))
					sin := bigSub(bigMul(sinT, cosM), bigMul(cosT, sinM))
					cos := bigAdd(bigMul(cosT, cosM), bigMul(sinT, sinM))
					w, _ := bigQuo(sin, bigAdd(bigOf(1), cos)).Float64()
					c, want = append(c, v), append(want, w)
				}
			}
			// From each place on, so that all fall to all lanes, up to the end and alone.
			for from := range 9 {
				for i := range cols {
					slices[i] = cols[i][from:]
				}
				dst := make([]float64, len(c)-from+1)
				dst[len(dst)-1] = math.NaN()
				k.HalfAngle(dst[:len(dst)-1], c[from:], row[:], slices)
				for j, got := range dst[:len(dst)-1] {
					w := want[from+j]
					// 10⁻⁸⁵: what big.Float has lost
					if err := math.Abs(got - w); !(err <= 0x1p-47*w+1e-85) && from == 0 {
						t.Errorf("norms %v and %v, c = %v: found %v, expected %v, relative error %v",
							x, slices[0][j], c[from+j], got, w, err/w)
					}
					var one, back [1]float64
					var other [HalfAngleNumbers]float64
					alone, mirror := make([][]float64, HalfAngleNumbers), make([][]float64, HalfAngleNumbers)
					for i := range alone {
						alone[i], mirror[i], other[i] = slices[i][j:j+1], row[i:i+1], slices[i][j]
					}
					k.HalfAngle(one[:], c[from+j:], row[:], alone)
					k.HalfAngle(back[:], c[from+j:], other[:], mirror)
					if one[0] != got || back[0] != got {
						t.Fatalf("norms %v and %v, c = %v: found %v, alone %v, exchanged %v",
							x, slices[0][j], c[from+j], got, one[0], back[0])
					}
				}
				if last := dst[len(dst)-1]; last == last {
					t.Fatal("written beyond the end")
				}
			}
		}
	})
}
