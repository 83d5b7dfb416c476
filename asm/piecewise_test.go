package asm

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomRows returns a table of random coefficients that shrink as those of a polynomial on short
// intervals do.
func randomRows(r *rand.Rand, bits uint) [][8]float32 {
	rows := make([][8]float32, PiecewiseRows(bits))
	for i := range rows {
		for k := range rows[i] {
			rows[i][k] = float32(r.NormFloat64())
		}
	}
	for k := range rows[0] {
		rows[len(rows)-1][k] = float32(math.NaN())
	}
	return rows
}

// piecewisePoints are c at the ends and in the middle of intervals, over the whole range of
// float32, and random ones.
func piecewisePoints(r *rand.Rand) []float32 {
	c := []float32{
		0, 0x1p-149, 0x1p-148, 0x1.8p-140, 0x1p-126, 1, math.Nextafter32(1, 0), math.Nextafter32(1, 2),
		math.Nextafter32(2, 0), 2,
	}
	for e := -149; e < 0; e++ {
		for range 4 {
			c = append(c, float32(math.Ldexp(1+r.Float64(), e)), 2-float32(math.Ldexp(1+r.Float64(), e)))
		}
	}
	for range 1000 {
		c = append(c, 2*r.Float32())
	}
	return c
}

// The row of c is worked out here from the definition in real numbers, and the polynomial in
// float64. Horner's rule in float32 rounds the coefficient of tᵏ and what is added to it at most
// 2k+1 times.
func TestPiecewise(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		for _, bits := range []uint{0, 1, 3, 6, 12} {
			r := rand.New(rand.NewPCG(4, uint64(bits)))
			rows, c := randomRows(r, bits), piecewisePoints(r)
			dst := make([]float32, len(c))
			k.Piecewise(dst, c, rows, bits)
			for j, v := range c {
				u, fold := math.Ldexp(float64(v), 24), 0
				if v > 1 {
					u, fold = math.Ldexp(math.Max(2-float64(v), 0x1p-24), 24), PiecewiseFold
				}
				row, x := 0, 0.0
				if u > 0 {
					m, e := math.Frexp(u) // u = 2m·2^(e-1)
					m = 2*m - 1
					part := math.Floor(math.Ldexp(m, int(bits)))
					row = (e-1+127+fold)<<bits + int(part)
					x = m - math.Ldexp(part+0.5, -int(bits))
				} else {
					x = -math.Ldexp(0.5, -int(bits))
				}
				if at, y := PiecewiseRow(v, bits); at != row || float64(y) != x {
					t.Fatalf("bits %d: row and t of %v are %d and %v, expected %d and %v", bits, v, at, y, row, x)
				}
				var want, tol float64
				for i := 5; i >= 0; i-- {
					want = want*x + float64(rows[row][i])
					tol = tol*math.Abs(x) + float64(2*i+1)*0x1p-24*math.Abs(float64(rows[row][i]))
				}
				if err := math.Abs(float64(dst[j]) - want); !(err <= tol+0x1p-149) {
					t.Fatalf("bits %d: the value at %v is %v, expected %v, tolerance %v", bits, v, dst[j], want, tol)
				}
			}
			none := []float32{float32(math.NaN()), -1, float32(math.Inf(-1)), -0x1p-149}
			k.Piecewise(none, none, rows, bits)
			for _, v := range none {
				if v == v {
					t.Errorf("bits %d: what is no c gives %v", bits, v)
				}
			}
		}
	})
}

// Bits depend on the value alone, not on its place, the length or whether it is done in place; and
// nothing beyond the ends is touched.
func TestPiecewiseLengths(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(4, 4))
		const bits = 3
		rows, c := randomRows(r, bits), piecewisePoints(r)
		whole := make([]float32, len(c))
		k.Piecewise(whole, c, rows, bits)
		for _, n := range lengths {
			for _, from := range []int{0, 1, 3} {
				in, around := fenced(n, from)
				copy(in, c[from:])
				out, outside := fenced(n, 1)
				k.Piecewise(out, in, rows, bits)
				k.Piecewise(in, in, rows, bits)
				for j := range n {
					if w := math.Float32bits(whole[from+j]); math.Float32bits(out[j]) != w ||
						math.Float32bits(in[j]) != w {
						t.Fatalf("n = %d from %d: value %d is %v, in place %v, expected %v",
							n, from, j, out[j], in[j], whole[from+j])
					}
				}
				if !intact(in, around, from) || !intact(out, outside, 1) {
					t.Fatalf("n = %d: written beyond the ends", n)
				}
			}
		}
	})
}

// FuzzPiecewise compares the kernels in assembly with the portable one on any values: they take the
// same row, and differ by what two orders of rounding do.
func FuzzPiecewise(f *testing.F) {
	f.Add(uint32(0), uint32(0x3f800000), uint(3), uint64(1))
	f.Add(uint32(0x3fffffff), uint32(0x7fc00000), uint(0), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint32, bits uint, seed uint64) {
		bits %= 8
		rows := randomRows(rand.New(rand.NewPCG(seed, 0)), bits)
		c := []float32{math.Float32frombits(a), math.Float32frombits(b)}
		want := make([]float32, 2)
		piecewiseGeneric(want, c, rows, bits)
		for _, isa := range Available() {
			k, _ := For(isa)
			got := make([]float32, 2)
			k.Piecewise(got, c, rows, bits)
			for j := range got {
				// Coefficients are below 6 in size: the roundings of both orders together are below
				// 2·2⁻²⁴·6·Σ (2k+1)/2ᵏ < 200·2⁻²⁴.
				if err := math.Abs(float64(got[j]) - float64(want[j])); !(err <= 200*0x1p-24) &&
					(got[j] == got[j] || want[j] == want[j]) {
					t.Fatalf("isa=%s, c = %v: %v, expected %v", isa, c[j], got[j], want[j])
				}
			}
		}
	})
}
