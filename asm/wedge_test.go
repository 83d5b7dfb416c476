package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomSet writes a side of random numbers, of the size that those of a probability have, to every stride-th place of dst.
func randomSet(r *rand.Rand, dst []float32, stride int, h float32) {
	for i := range WedgeNumbers {
		dst[i*stride] = float32(r.NormFloat64() / 4)
	}
	dst[0] = h
	dst[wedgeHalf*stride] = r.Float32() / 2
	dst[wedgeMills*stride] = r.Float32()
}

// wantWedgeSide is a side's part by the stated formula in float64, for |a| up to 1 or above it as outer says, and the tolerance: each coefficient
// of a polynomial is rounded once for each power and with r, M is good to 5 units and three products, and exp to 8 units and 4 m². a, a quotient of a sum of parts
// that are so large together, is good to 4 units of them; what it multiplies changes with it.
func wantWedgeSide(set []float32, a, parts, m2 float64, outer bool) (part, tol float64) {
	const unit = 0x1p-24
	at := func(i int) float64 { return float64(set[i]) }
	h, half, r := at(0), at(wedgeHalf), math.Min(math.Abs(a), 1/math.Abs(a))
	s := 2*r*r - 1
	poly := func(first, count int) (p, size float64) {
		for i := count - 1; i >= 0; i-- {
			p = p*s + at(first+i)
			size += float64(2*i+6) * math.Abs(at(first+i))
		}
		return p, size
	}
	if p, size := poly(wedgeU, WedgeInner); !outer {
		part, tol = half-r*p, unit*(r+4*parts)*size
	} else {
		p, size = poly(wedgeP, WedgeOuter)
		z := h * math.Abs(a)
		var mills float64
		if z < 35 {
			mills = math.Exp(z*z/2) * math.Erfc(z/math.Sqrt2) / 2
		} else {
			mills = 1 / (z * math.Sqrt(2*math.Pi)) * (1 - 1/(z*z))
		}
		e := math.Exp(-m2 / 2)
		part = e * (r*p - at(wedgeMills)*mills)
		tol = unit * e * ((r+4*parts*r*r)*size + (10+4*parts*h)*at(wedgeMills)*mills + (8+4*m2)*(math.Abs(r*p)+at(wedgeMills)*mills))
	}
	if a < 0 {
		part = 2*half - part
	}
	return part + at(wedgePlus), tol + unit*(3*half+math.Abs(part)+math.Abs(at(wedgePlus))) + 0x1p-140
}

func TestWedge(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(8, 1))
		row, cols := make([]float32, WedgeNumbers), make([]float32, WedgeGroup*WedgeNumbers)
		dst, c := make([]float32, WedgeGroup), make([]float32, WedgeGroup)
		var worst float64
		for range 3000 {
			h := float32(3 * math.Exp(-6*r.Float64()))
			randomSet(r, row, 1, h)
			var sets [WedgeGroup][WedgeNumbers]float32
			for j := range sets {
				randomSet(r, sets[j][:], 1, float32(3*math.Exp(-6*r.Float64())))
				for i, v := range sets[j] {
					cols[i*WedgeGroup+j] = v
				}
				c[j] = float32(math.Exp(-10*r.Float64()*r.Float64()) * 1.999 * r.Float64())
			}
			k.Wedge(dst, c, row, cols)
			for j, got := range dst {
				c, x, y := float64(c[j]), float64(h), float64(sets[j][0])
				s := math.Sqrt(c * (2 - c))
				a, b := ((y-x)+x*c)/(x*s), ((x-y)+y*c)/(y*s)
				m2 := ((x-y)*(x-y) + 2*x*y*c) / (s * s)
				if math.Abs(math.Abs(a)-1) < 1e-5 || math.Abs(math.Abs(b)-1) < 1e-5 {
					continue // rounding may take either formula, and random numbers don't agree there
				}
				first, tol1 := wantWedgeSide(row, a, (math.Abs(y-x)+x*c)/(x*s), m2, math.Abs(a) > 1)
				second, tol2 := wantWedgeSide(sets[j][:], b, (math.Abs(y-x)+y*c)/(y*s), m2, math.Abs(b) > 1)
				want, tol := max(first+second, 0), tol1+tol2
				err := math.Abs(float64(got) - want)
				if !(err <= tol) {
					t.Fatalf("h = %v, k = %v, c = %v: found %v, expected %v, error %v, tolerance %v", x, y, c, got, want, err, tol)
				}
				worst = max(worst, err/tol)
			}
		}
		if !(worst >= 0.1) {
			t.Errorf("only %v of the tolerance is ever used", worst)
		}
	})
}

// Bits depend on the value and the two sets alone, in either order, not on the place, the length or whether it is done in place; nothing beyond the ends is
// touched; c = 0 with one and the same set gives twice the half and what is added, and c = 2, both of which have quotients of nothing, gives a number.
func TestWedgeElementwise(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(8, 2))
		const most = 1000
		sets := make([][WedgeNumbers]float32, most)
		groups := (most + WedgeGroup - 1) / WedgeGroup
		cols := make([]float32, groups*WedgeGroup*WedgeNumbers)
		c := make([]float32, most)
		for j := range sets {
			randomSet(r, sets[j][:], 1, float32(3*math.Exp(-30*r.Float64())))
			for i, v := range sets[j] {
				cols[(j/WedgeGroup*WedgeNumbers+i)*WedgeGroup+j%WedgeGroup] = v
			}
			c[j] = []float32{0, 2, 1, 0x1p-149, 2 * r.Float32(), r.Float32()}[r.IntN(6)]
		}
		row := sets[5][:]
		c[5] = 0
		whole := make([]float32, most)
		k.Wedge(whole, c, row, cols)
		if want := max(2*row[wedgeHalf]+2*row[wedgePlus], 0); !(math.Abs(float64(whole[5]-want)) <= 0x1p-23) {
			t.Errorf("c = 0 with itself: found %v, expected %v", whole[5], want)
		}
		alone := make([]float32, WedgeGroup*WedgeNumbers)
		for j, want := range whole {
			if !(want >= 0) {
				t.Fatalf("h = %v, k = %v, c = %v: found %v", row[0], sets[j][0], c[j], want)
			}
			for i, v := range row {
				alone[i*WedgeGroup] = v
			}
			var one [1]float32
			k.Wedge(one[:], c[j:j+1], sets[j][:], alone)
			if math.Float32bits(one[0]) != math.Float32bits(want) {
				t.Fatalf("h = %v, k = %v, c = %v: exchanged %v, expected %v", row[0], sets[j][0], c[j], one[0], want)
			}
		}
		for _, n := range lengths {
			for _, from := range []int{0, 8, 24} {
				if n+from > most {
					continue
				}
				in, around := fenced(n, from%5)
				copy(in, c[from:])
				out, outside := fenced(n, 1)
				k.Wedge(out, in, row, cols[from*WedgeNumbers:])
				k.Wedge(in, in, row, cols[from*WedgeNumbers:])
				for j := range n {
					if w := math.Float32bits(whole[from+j]); math.Float32bits(out[j]) != w || math.Float32bits(in[j]) != w {
						t.Fatalf("n = %d from %d: value %d is %v, in place %v, expected %v", n, from, j, out[j], in[j], whole[from+j])
					}
				}
				if !intact(in, around, from%5) || !intact(out, outside, 1) {
					t.Fatalf("n = %d: written beyond the ends", n)
				}
			}
		}
	})
}

// FuzzWedge wants a number of the size of the sides' from any h, k and c.
func FuzzWedge(f *testing.F) {
	f.Add(float32(1), float32(1), float32(0), uint64(1))
	f.Add(float32(0x1p-60), float32(3), float32(2), uint64(2))
	f.Add(float32(0.5), float32(0.25), float32(0.7), uint64(3))
	f.Fuzz(func(t *testing.T, h, k, c float32, seed uint64) {
		if !(h >= 0x1p-60 && h <= WedgeLimit && k >= 0x1p-60 && k <= WedgeLimit && c >= 0 && c <= 2) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		row, cols := make([]float32, WedgeNumbers), make([]float32, WedgeGroup*WedgeNumbers)
		randomSet(r, row, 1, h)
		randomSet(r, cols, WedgeGroup, k)
		var want [1]float32
		wedgeGeneric(want[:], []float32{c}, row, cols)
		for _, isa := range Available() {
			table, _ := For(isa)
			var got [1]float32
			table.Wedge(got[:], []float32{c}, row, cols)
			if !(got[0] >= 0) || !(want[0] >= 0) || !(got[0] <= 64) {
				t.Fatalf("isa=%s, h = %v, k = %v, c = %v: %v, expected %v", isa, h, k, c, got[0], want[0])
			}
		}
	})
}

func BenchmarkWedge(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, isa := range Available() {
		k, err := For(isa)
		if err != nil {
			b.Fatal(err)
		}
		const n = 64
		row, cols := make([]float32, WedgeNumbers), make([]float32, n*WedgeNumbers)
		randomSet(r, row, 1, 0.1)
		c, dst := make([]float32, n), make([]float32, n)
		for j := range c {
			randomSet(r, cols[j/WedgeGroup*WedgeGroup*WedgeNumbers+j%WedgeGroup:], WedgeGroup, r.Float32()/8)
			c[j] = 1 - float32(math.Pow(r.Float64(), 3))
		}
		b.Run(fmt.Sprintf("isa=%s/n=%d/values", isa, n), func(b *testing.B) {
			for b.Loop() {
				k.Wedge(dst, c, row, cols)
			}
			b.ReportMetric(float64(len(c))*float64(b.N)/b.Elapsed().Seconds(), "values/s")
		})
	}
}
