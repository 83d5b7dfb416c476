package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/asm/internal/layout"
	"github.com/gramengine/gram/internal/musttest"
)

// randomSet writes a side of random numbers, of the size that those of a probability have, to every
// stride-th place of dst.
func randomSet(r *rand.Rand, dst []float32, stride int, h float32) {
	for i := range BivariateNumbers {
		dst[i*stride] = float32(r.NormFloat64() / 4)
	}
	dst[0] = h
	dst[layout.BivariateHalf*stride] = r.Float32() / 2
	dst[layout.BivariateMills*stride] = r.Float32()
	lambda := 0.4 + 2*r.Float32()
	dst[layout.BivariateW*stride], dst[layout.BivariateT*stride] = 1-lambda, lambda
	dst[layout.BivariateShift*stride] = -1 - r.Float32()/4
}

// wantBivariateSide is a side's part by the stated formula in float64, and the tolerance. a, a
// quotient of a sum of parts that are so large together, is good to 4 units of them, w to 4 units
// for the opposite side and 8 for the sum of the others, y as far as the sum of its denominator's
// parts is larger than that. Each coefficient of the polynomial is rounded twice for each power;
// the tail is good to 5 units, 6 for z and three products, and exp to 8 units and 4 m².
func wantBivariateSide(set []float32, a, parts, m2 float64) (part, tol float64) {
	const unit = 0x1p-24
	at := func(i int) float64 { return float64(set[i]) }
	h, z := at(0), at(0)*math.Abs(a)
	w := h / (math.Sqrt(m2) + z)
	below := at(layout.BivariateW)*w + at(layout.BivariateT)
	y := w / below
	dy := unit * y * (5 + (9+4*parts*w)*(math.Abs(at(layout.BivariateW))*w+at(layout.BivariateT))/below)
	t := 2*y + at(layout.BivariateShift)
	dt := 2*dy + unit*(2*y-at(layout.BivariateShift)+math.Abs(t))
	var q, dq float64
	power, before := 1.0, 0.0
	for i := range BivariateTerms {
		v := at(layout.BivariateQ + i)
		q += v * power
		dq += math.Abs(v) * (float64(2*i+4)*unit*math.Abs(power) + dt*float64(i)*math.Abs(before))
		power, before = power*t, power
	}
	mills := at(layout.BivariateMills) * 0.5 * math.Exp(z*z/2) * math.Erfc(z/math.Sqrt2)
	if z > 30 {
		mills = at(layout.BivariateMills) / (z * math.Sqrt(2*math.Pi)) * (1 - 1/(z*z))
	}
	var e float64
	if m2 < layout.BivariateNothing {
		e = math.Exp(-m2 / 2)
	}
	part = e * (y*q - mills)
	tol = e * (y*dq + dy*math.Abs(q) + unit*(2*y*math.Abs(q)+14*mills+(8+4*m2)*math.Abs(y*q-mills)))
	if a < 0 {
		part = 2*at(layout.BivariateHalf) - part
	}
	plus := at(layout.BivariatePlus)
	return part + plus, tol + unit*(2*at(layout.BivariateHalf)+math.Abs(part)+math.Abs(plus))
}

func TestBivariateTail(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(8, 1))
		row, cols := make([]float32, BivariateNumbers), make([]float32, BivariateGroup*BivariateNumbers)
		dst, c := make([]float32, BivariateGroup), make([]float32, BivariateGroup)
		var worst float64
		for range 3000 {
			draw := func() float32 { return float32(BivariateMost * math.Exp(-8*r.Float64())) }
			h := draw()
			randomSet(r, row, 1, h)
			var sets [BivariateGroup][BivariateNumbers]float32
			for j := range sets {
				randomSet(r, sets[j][:], 1, draw())
				for i, v := range sets[j] {
					cols[i*BivariateGroup+j] = v
				}
				c[j] = float32(math.Exp(-10*r.Float64()*r.Float64()) * 1.999 * r.Float64())
			}
			k.BivariateTail(dst, c, row, cols)
			for j, got := range dst {
				c, x, y := float64(c[j]), float64(h), float64(sets[j][0])
				s := math.Sqrt(c * (2 - c))
				a, b := ((y-x)+x*c)/(x*s), ((x-y)+y*c)/(y*s)
				m2 := ((x-y)*(x-y) + 2*x*y*c) / (s * s)
				if math.Abs(m2-layout.BivariateNothing) < 0.01 {
					continue // rounding may take it for nothing
				}
				first, tol1 := wantBivariateSide(row, a, (math.Abs(y-x)+x*c)/(x*s), m2)
				second, tol2 := wantBivariateSide(sets[j][:], b, (math.Abs(y-x)+y*c)/(y*s), m2)
				want := max(first+second, 0)
				tol := tol1 + tol2 + 0x1p-24*math.Abs(first+second)
				err := math.Abs(float64(got) - want)
				if !(err <= tol) {
					t.Fatalf("h = %v, k = %v, c = %v: found %v, expected %v, error %v, tolerance %v",
						x, y, c, got, want, err, tol)
				}
				worst = max(worst, err/tol)
			}
		}
		if !(worst >= 0.1) {
			t.Errorf("only %v of the tolerance is ever used", worst)
		}
	})
}

// Bits depend on the value and the two sets alone, in either order, not on the place, the length or
// whether it is done in place; nothing beyond the ends is touched; c = 0 with one and the same set
// gives exactly twice the half and what is added, and c = 2, both of which have quotients of
// nothing, gives a number.
func TestBivariateTailElementwise(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(8, 2))
		const most = 1000
		sets := make([][BivariateNumbers]float32, most)
		groups := (most + BivariateGroup - 1) / BivariateGroup
		cols := make([]float32, groups*BivariateGroup*BivariateNumbers)
		c := make([]float32, most)
		for j := range sets {
			randomSet(r, sets[j][:], 1, float32(BivariateMost*math.Exp(-20*r.Float64())))
			for i, v := range sets[j] {
				cols[(j/BivariateGroup*BivariateNumbers+i)*BivariateGroup+j%BivariateGroup] = v
			}
			c[j] = []float32{0, 2, 1, 0x1p-149, 2 * r.Float32(), r.Float32()}[r.IntN(6)]
		}
		row := sets[5][:]
		c[5] = 0
		whole := make([]float32, most)
		k.BivariateTail(whole, c, row, cols)
		if want := max(2*(row[layout.BivariateHalf]+row[layout.BivariatePlus]), 0); whole[5] != want {
			t.Errorf("c = 0 with itself: found %v, expected %v", whole[5], want)
		}
		alone := make([]float32, BivariateGroup*BivariateNumbers)
		for j, want := range whole {
			if !(want >= 0) {
				t.Fatalf("h = %v, k = %v, c = %v: found %v", row[0], sets[j][0], c[j], want)
			}
			for i, v := range row {
				alone[i*BivariateGroup] = v
			}
			var one [1]float32
			k.BivariateTail(one[:], c[j:j+1], sets[j][:], alone)
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
				k.BivariateTail(out, in, row, cols[from*BivariateNumbers:])
				k.BivariateTail(in, in, row, cols[from*BivariateNumbers:])
				for j := range n {
					if w := math.Float32bits(whole[from+j]); math.Float32bits(out[j]) != w ||
						math.Float32bits(in[j]) != w {
						t.Fatalf("n = %d from %d: value %d is %v, in place %v, expected %v",
							n, from, j, out[j], in[j], whole[from+j])
					}
				}
				if !intact(in, around, from%5) || !intact(out, outside, 1) {
					t.Fatalf("n = %d: written beyond the ends", n)
				}
			}
		}
	})
}

// FuzzBivariateTail wants a number of the size of the sides' from any h, k and c.
func FuzzBivariateTail(f *testing.F) {
	f.Add(float32(1), float32(1), float32(0), uint64(1))
	f.Add(float32(BivariateLeast), float32(BivariateMost), float32(2), uint64(2))
	f.Add(float32(0.5), float32(0.25), float32(0.7), uint64(3))
	f.Fuzz(func(t *testing.T, h, k, c float32, seed uint64) {
		side := func(h float32) bool { return h >= BivariateLeast && h <= BivariateMost }
		if !(side(h) && side(k) && c >= 0 && c <= 2) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0))
		row, cols := make([]float32, BivariateNumbers), make([]float32, BivariateGroup*BivariateNumbers)
		randomSet(r, row, 1, h)
		randomSet(r, cols, BivariateGroup, k)
		var want [1]float32
		bivariateTailGeneric(want[:], []float32{c}, row, cols)
		for _, isa := range Available() {
			table, _ := For(isa)
			var got [1]float32
			table.BivariateTail(got[:], []float32{c}, row, cols)
			if !(got[0] >= 0) || !(want[0] >= 0) || !(got[0] <= 64) {
				t.Fatalf("isa=%s, h = %v, k = %v, c = %v: %v, expected %v", isa, h, k, c, got[0], want[0])
			}
		}
	})
}

func BenchmarkBivariateTail(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, isa := range Available() {
		k := musttest.Get(For(isa))(b)
		const n = 64
		row, cols := make([]float32, BivariateNumbers), make([]float32, n*BivariateNumbers)
		randomSet(r, row, 1, 0.1)
		c, dst := make([]float32, n), make([]float32, n)
		for j := range c {
			randomSet(r, cols[j/BivariateGroup*BivariateGroup*BivariateNumbers+j%BivariateGroup:], BivariateGroup,
				r.Float32()/8)
			c[j] = 1 - float32(math.Pow(r.Float64(), 3))
		}
		b.Run(fmt.Sprintf("isa=%s/n=%d/values", isa, n), func(b *testing.B) {
			for b.Loop() {
				k.BivariateTail(dst, c, row, cols)
			}
			b.ReportMetric(float64(len(c))*float64(b.N)/b.Elapsed().Seconds(), "values/s")
		})
	}
}
