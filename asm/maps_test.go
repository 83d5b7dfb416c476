package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// lengths are numbers near the widths of vectors and of unrolled blocks.
var lengths = []int{0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 1000}

// eachISA runs a test for every instruction set that this machine can run.
func eachISA(t *testing.T, f func(t *testing.T, k *Kernels)) {
	for _, isa := range Available() {
		t.Run("isa="+string(isa), func(t *testing.T) {
			k := musttest.Get(KernelsFor(isa))(t)
			f(t, k)
		})
	}
}

// A mapCase is a map with its parameters: a function that calls it, and functions that return the
// exact value and the tolerance of an element.
type mapCase struct {
	name string
	run  func(k *Kernels, dst, c, y []float32)
	want func(c, y float64) (value, tolerance float64)
	exp  bool // the argument is any float32, not a c in [0, 2]
}

// within allows n ulp of the value.
func within(n float64, f func(c float64) float64) func(c, y float64) (float64, float64) {
	return func(c, _ float64) (float64, float64) {
		v := f(c)
		return v, n * ulp32(v)
	}
}

// mapCases lists every map with the tolerances that the generic functions document.
func mapCases() []mapCase {
	list := []mapCase{
		{"add", func(k *Kernels, dst, c, y []float32) { k.Add(dst, c, y) },
			func(a, b float64) (float64, float64) { return a + b, ulp32(a+b) / 2 }, false},
		{"exp", func(k *Kernels, dst, c, y []float32) { k.Exp(dst, c) }, within(4, math.Exp), true},
		{
			"arccosine0", func(k *Kernels, dst, c, y []float32) { k.ArcCosine0(dst, c) }, within(4, wantArcCosine0),
			false,
		},
	}
	for _, invT := range []float32{0, 0.125, 1, 2, 7.3, 37, 41, 1e3, 1e9} {
		list = append(list, mapCase{fmt.Sprintf("diffusion/invT=%g", invT),
			func(k *Kernels, dst, c, y []float32) { k.Diffusion(dst, c, invT) },
			func(c, _ float64) (float64, float64) {
				e := float64(invT) * wantArcCosSq(c)
				v := math.Exp(-e)
				return v, 4 * ulp32(v) * (1 + e)
			}, false})
	}
	for _, invT := range []float32{0, 0.5, 3, 30, 1e9} {
		list = append(list, mapCase{fmt.Sprintf("ngdexp/invT=%g", invT),
			func(k *Kernels, dst, c, y []float32) { k.NGDExp(dst, c, invT) },
			func(c, _ float64) (float64, float64) {
				e := float64(invT) * wantArcCos(c)
				v := math.Exp(-e)
				return v, 4 * ulp32(v) * (1 + e)
			}, false})
	}
	for _, shift := range []float32{0, math.Pi} {
		list = append(list, mapCase{fmt.Sprintf("ngd/shift=%g", shift),
			func(k *Kernels, dst, c, y []float32) { k.NGD(dst, c, shift) },
			func(c, _ float64) (float64, float64) {
				d := 2 * wantArcCos(c)
				v := float64(shift) - d
				return v, 4*ulp32(d) + ulp32(v)/2
			}, false})
	}
	for _, x := range []float32{1, 0.3, 17.5} {
		list = append(list,
			mapCase{fmt.Sprintf("dot/x=%g", x),
				func(k *Kernels, dst, c, y []float32) { k.Dot(dst, c, y, x) },
				func(c, y float64) (float64, float64) {
					v := (1 - c) * (float64(x) * y)
					return v, 3 * ulp32(v)
				}, false},
			mapCase{fmt.Sprintf("arccosine1/x=%g", x),
				func(k *Kernels, dst, c, y []float32) { k.ArcCosine1(dst, c, y, x) },
				func(c, y float64) (float64, float64) {
					v := float64(x) * y * wantArcCosine1(c)
					return v, 8 * ulp32(v)
				}, false},
			mapCase{fmt.Sprintf("arccosine2/x=%g", x),
				func(k *Kernels, dst, c, y []float32) { k.ArcCosine2(dst, c, y, x) },
				func(c, y float64) (float64, float64) {
					w := float64(x) * y
					v := w * w * wantArcCosine2(c)
					return v, 12 * ulp32(v)
				}, false})
		for _, gamma := range []float32{0.01, 1, 20} {
			list = append(list, mapCase{fmt.Sprintf("gaussian/x=%g/gamma=%g", x, gamma),
				func(k *Kernels, dst, c, y []float32) { k.Gaussian(dst, c, y, x, gamma) },
				func(c, y float64) (float64, float64) {
					d := float64(x) - y
					e := float64(gamma) * (d*d + 2*float64(x)*y*c)
					v := math.Exp(-e)
					return v, 5 * ulp32(v) * (1 + e)
				}, false})
		}
	}
	return slices.Concat(list, wideCases(), tableCases(), termCases())
}

// off reports whether got is not within the tolerance of want. If want is above the largest
// float32, +Inf is correct.
func off(got float32, want, tol float64) bool {
	if math.IsInf(float64(got), 1) {
		return !(want+tol >= math.MaxFloat32)
	}
	return !(math.Abs(float64(got)-want) <= tol)
}

// fill draws valid arguments of the map, with both ends of the range more often. Half of the calls
// have only c <= 1, for which some kernels have a fast path.
func (m mapCase) fill(rng *rand.Rand, c, y []float32) {
	ends := []float32{0, 0x1p-149, 0x1p-126, 0x1p-24, 1 - 0x1p-24, 1, 1 + 0x1p-23, 2 - 0x1p-23, 2}
	text := rng.IntN(2) == 0
	for i := range c {
		switch {
		case rng.IntN(8) == 0:
			c[i] = ends[rng.IntN(len(ends))]
		case m.exp:
			c[i] = float32(rng.NormFloat64() * 40)
		case rng.IntN(16) == 0:
			c[i] = 1 + rng.Float32()
		default:
			c[i] = rng.Float32()
		}
		if text && !m.exp && c[i] > 1 {
			c[i] = 2 - c[i]
		}
		y[i] = float32(math.Exp(rng.NormFloat64()))
	}
}

// Each element is within the tolerance of the oracle, and has the same bits by itself and in place.
func TestMaps(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		for _, m := range mapCases() {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, n := range slices.Repeat(lengths, 3) {
				c, y, dst, one := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, 1)
				m.fill(rng, c, y)
				m.run(k, dst, c, y)
				in := slices.Clone(c)
				m.run(k, in, in, y)
				for i, got := range dst {
					if want, tol := m.want(float64(c[i]), float64(y[i])); off(got, want, tol) {
						t.Fatalf("%s, n=%d: element %d of c=%v, y=%v is %v, want %v within %.2g",
							m.name, n, i, c[i], y[i], got, want, tol)
					}
					m.run(k, one, c[i:i+1], y[i:i+1])
					if b := math.Float32bits(got); math.Float32bits(one[0]) != b || math.Float32bits(in[i]) != b {
						t.Fatalf("%s, n=%d: element %d of c=%v, y=%v is %v, but %v by itself and %v in place",
							m.name, n, i, c[i], y[i], got, one[0], in[i])
					}
				}
			}
		}
	})
}

// TestMapsExact checks values that must be exact, and that NaN gives NaN at any index.
func TestMapsExact(t *testing.T) {
	inf := float32(math.Inf(1))
	eachISA(t, func(t *testing.T, k *Kernels) {
		dst, y := make([]float32, 19), make([]float32, 19)
		in := make([]float32, len(dst))
		check := func(name string, c, norm, want float32, run func(dst, c, y []float32)) {
			t.Helper()
			for i := range in {
				in[i], y[i] = c, norm
			}
			run(dst, in, y)
			for i, v := range dst {
				if v != want {
					t.Errorf("%s: element %d of c=%v is %v, want exactly %v", name, i, c, v, want)
				}
			}
		}
		check("diffusion", 0, 0, 1, func(d, c, y []float32) { k.Diffusion(d, c, 3) })
		check("ngd", 0, 0, 3, func(d, c, y []float32) { k.NGD(d, c, 3) })
		check("ngd-exp", 0, 0, 1, func(d, c, y []float32) { k.NGDExp(d, c, 3) })
		check("gaussian", 0, 3.7, 1, func(d, c, y []float32) { k.Gaussian(d, c, y, 3.7, 2) })
		check("dot", 0, 3, 6, func(d, c, y []float32) { k.Dot(d, c, y, 2) })
		check("degree 0", 0, 0, 1, func(d, c, y []float32) { k.ArcCosine0(d, c) })
		check("degree 0", 2, 0, 0, func(d, c, y []float32) { k.ArcCosine0(d, c) })
		check("degree 1", 0, 3, 6, func(d, c, y []float32) { k.ArcCosine1(d, c, y, 2) })
		check("degree 1", 2, 3, 0, func(d, c, y []float32) { k.ArcCosine1(d, c, y, 2) })
		check("degree 2", 0, 3, 108, func(d, c, y []float32) { k.ArcCosine2(d, c, y, 2) })
		check("degree 2", 2, 3, 0, func(d, c, y []float32) { k.ArcCosine2(d, c, y, 2) })
		check("exp", 0, 0, 1, func(d, c, y []float32) { k.Exp(d, c) })
		check("exp", inf, 0, inf, func(d, c, y []float32) { k.Exp(d, c) })
		check("exp", 88.8, 0, inf, func(d, c, y []float32) { k.Exp(d, c) })
		check("exp", -104, 0, 0, func(d, c, y []float32) { k.Exp(d, c) })
		check("exp", -inf, 0, 0, func(d, c, y []float32) { k.Exp(d, c) })
		check("exp", float32(-math.MaxFloat32), 0, 0, func(d, c, y []float32) { k.Exp(d, c) })
		for _, m := range mapCases() {
			for place := range in {
				for i := range in {
					in[i], y[i] = 0.25, 1
				}
				in[place] = float32(math.NaN())
				m.run(k, dst, in, y)
				for i, v := range dst {
					if (v != v) != (i == place) {
						t.Fatalf("%s: NaN at %d gives %v at %d", m.name, place, v, i)
					}
				}
			}
		}
	})
}

// accuracyInputs calls f with blocks of arguments: the float32 numbers nearest to the ends, near in
// all per end, and every stride-th bit pattern.
func accuracyInputs(exp bool, near, stride uint32, f func(c []float32)) {
	block := make([]float32, 0, 4096)
	run := func(from, n, step uint32) {
		for i := uint32(0); i < n; i++ {
			block = append(block, math.Float32frombits(from+i*step))
			if len(block) == cap(block) {
				f(block)
				block = block[:0]
			}
		}
	}
	bits := math.Float32bits
	if exp {
		for _, sign := range []uint32{0, 1 << 31} {
			run(sign, near, 1)
			run(sign|bits(104)-near/2, near, 1) // where results become 0
			run(sign|bits(88.72)-near/2, near, 1)
			run(sign|bits(87.33)-near/2, near, 1) // where results become denormal
			run(sign, bits(1e30)/stride, stride)
		}
	} else {
		run(0, near, 1)
		run(bits(0x1p-126), near, 1)
		run(bits(1)-near, 2*near, 1)
		run(bits(2)-near+1, near, 1)
		run(0, (bits(2)-bits(0))/stride, stride)
		run(bits(0x1p-12), (bits(2)-bits(0x1p-12))/(stride/16), stride/16)                         // typical c of text
		for _, seam := range []float32{math.Sqrt2 / 2, 0.5, math.Sqrt2 / 4, 0x1p-24, math.Sqrt2} { // near ends of log
			run(bits(seam)-200, 401, 1)
		}
	}
	f(block)
}

// TestMapsAccuracy checks every map of every instruction set over the whole domain, and logs the
// largest error as a fraction of the tolerance.
func TestMapsAccuracy(t *testing.T) {
	near, stride := uint32(1<<18), uint32(4099)
	if testing.Short() {
		near, stride = 1<<12, 400_009
	}
	for _, m := range mapCases() {
		t.Run("map="+m.name, func(t *testing.T) {
			t.Parallel()
			list := tables
			worst := make([]float64, len(list))
			at := make([]float32, len(list))
			dst := make([]float32, 4096)
			y := musttest.MakeSlice(4096, func(i int) float32 { return float32(math.Exp2(float64(i%65-32) / 16)) })
			want := make([]float64, 4096)
			tol := make([]float64, 4096)
			accuracyInputs(m.exp, near, stride, func(c []float32) {
				for i, v := range c {
					want[i], tol[i] = m.want(float64(v), float64(y[i]))
				}
				for n, k := range list {
					m.run(k, dst[:len(c)], c, y[:len(c)])
					for i, v := range dst[:len(c)] {
						if off(v, want[i], tol[i]) {
							t.Fatalf("isa=%s: c=%v (%#x), y=%v gives %v, want %v within %.3g",
								k.ISA, c[i], math.Float32bits(c[i]), y[i], v, want[i], tol[i])
						}
						if e := math.Abs(float64(v)-want[i]) / tol[i]; e > worst[n] && !math.IsInf(e, 0) {
							worst[n], at[n] = e, c[i]
						}
					}
				}
			})
			for n, k := range list {
				t.Logf("isa=%s: greatest error %.2f of what is allowed, at c=%v", k.ISA, worst[n], at[n])
			}
		})
	}
}
