package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A pairingCase is a similarity with its definition in float64 and the relative error that a term
// may have, in units of 2⁻²⁴.
type pairingCase struct {
	name  string
	of    func(k *Kernels) Pairing
	want  func(a, b float64) float64
	units float64
}

var pairingCases = []pairingCase{
	{
		"chisquare", func(k *Kernels) Pairing { return k.ChiSquare },
		func(a, b float64) float64 { return 2 * a * b / (a + b) }, 3,
	},
	{"jensenshannon", func(k *Kernels) Pairing { return k.JensenShannon }, wantJensenShannon, 7},
}

// wantJensenShannon has no differences: with p = a/(a+b), f = -½ (a log₂ p + b log₂ (1-p)).
func wantJensenShannon(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return (a*math.Log1p(b/a) + b*math.Log1p(a/b)) / (2 * math.Ln2)
}

func (c pairingCase) tolerance(f float64) float64 { return c.units * 0x1p-24 * f }

// share draws a value of a histogram: most of the size that text has, some from the whole range.
func share(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return 1
	case 1:
		return float32(math.Exp2(-60 * r.Float64()))
	case 2:
		return float32(1+r.IntN(5)) / 200 // equal ones, and simple quotients
	}
	return float32(math.Exp(-3 - 6*r.Float64()))
}

func eachPairing(t *testing.T, f func(t *testing.T, k *Kernels, c pairingCase)) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		for _, c := range pairingCases {
			t.Run(c.name, func(t *testing.T) { f(t, k, c) })
		}
	})
}

func TestPairingTerms(t *testing.T) {
	eachPairing(t, func(t *testing.T, k *Kernels, c pairingCase) {
		r := rand.New(rand.NewPCG(1, 7))
		nan := float32(math.NaN())
		for _, n := range append(slices.Clone(lengths), 20000) {
			whole, out := make([]float32, n+20), make([]float32, n+20)
			for i := range whole {
				whole[i], out[i] = nan, 7
			}
			y, dst := whole[10:n+10:n+10], out[10:n+10:n+10]
			for i := range y {
				y[i] = share(r)
				if r.IntN(5) == 0 {
					y[i] = 0
				}
			}
			x := share(r)
			for i := 0; i < n; i += 256 {
				end := min(i+256, n)
				c.of(k).Terms(dst[i:end], y[i:end], x)
				for j := i; j < end; j++ {
					want := c.want(float64(x), float64(y[j]))
					if err := math.Abs(float64(dst[j]) - want); !(err <= c.tolerance(want)) ||
						y[j] == 0 && dst[j] != 0 {
						t.Fatalf("n=%d: f(%v, %v) is %v, expected %v ± %v", n, x, y[j], dst[j], want, c.tolerance(want))
					}
				}
				x = share(r)
			}
			if slices.ContainsFunc(
				append(slices.Clone(out[:10]), out[n+10:]...), func(v float32) bool { return v != 7 },
			) {
				t.Fatalf("n=%d: a write outside of the destination", n)
			}
		}
	})
}

// Near r = 1 and around √½, where the parts of the logarithm change: every ratio of neighbouring
// float32 numbers there.
func TestPairingTermsAtSeams(t *testing.T) {
	eachPairing(t, func(t *testing.T, k *Kernels, c pairingCase) {
		for _, centre := range []float64{1, math.Sqrt(0.5), 0.5, math.Sqrt(0.125), 0x1p-24, math.Sqrt2} {
			y := make([]float32, 401)
			for i := range y {
				y[i] = math.Float32frombits(math.Float32bits(float32(centre)) + uint32(i) - 200)
			}
			dst := make([]float32, len(y))
			c.of(k).Terms(dst, y, 1)
			for j, v := range y {
				want := c.want(1, float64(v))
				if err := math.Abs(float64(dst[j]) - want); !(err <= c.tolerance(want)) {
					t.Fatalf("f(1, %v) is %v, expected %v ± %v", v, dst[j], want, c.tolerance(want))
				}
			}
		}
	})
}

// histograms makes the values of a case those of histograms, with a third of the panel empty.
func (c panelCase) histograms(r *rand.Rand) {
	for i := range c.panel {
		if c.panel[i] = share(r); r.IntN(3) == 0 {
			c.panel[i] = 0
		}
	}
	for k := c.start[0]; k < c.start[len(c.start)-1]; k++ {
		c.value[k] = share(r)
	}
}

// wantPairing returns the similarities and the bound on their errors: that of each term, half an
// ulp for each of the n sums, and one for the addition to what stood in out.
func (c panelCase) wantPairing(p pairingCase, out []float32, width int) (want, tolerance []float64) {
	want, tolerance = make([]float64, len(out)), make([]float64, len(out))
	for i, o := range out {
		want[i] = float64(o)
	}
	for place, d := range c.doc {
		for r := range width {
			var sum, err float64
			for k := c.start[place]; k < c.start[place+1]; k++ {
				f := p.want(float64(c.value[k]), float64(c.panel[int(c.offset[k])+r]))
				sum += f
				err += p.tolerance(f)
			}
			i := int(d)*width + r
			want[i] += sum
			n := float64(c.start[place+1] - c.start[place])
			err += n * 0x1p-24 * (sum + err)
			tolerance[i] = err + 0x1p-24*(math.Abs(want[i])+err)
		}
	}
	return want, tolerance
}

func TestPanelPairing(t *testing.T) {
	eachPairing(t, func(t *testing.T, k *Kernels, p pairingCase) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, docs := range []int{0, 1, 2, 3, 7, 64, 127, 128} {
			for _, most := range []int{0, 1, 2, 3, 8, 33} {
				t.Run(fmt.Sprintf("docs=%d/values=%d", docs, most), func(t *testing.T) {
					c := newPanelCase(r, k.Panel, docs, 0, most, 60)
					c.histograms(r)
					out := make([]float32, docs*k.Panel+20)
					for i := range out {
						out[i] = r.Float32()
					}
					before := slices.Clone(out)
					inside := out[10 : 10+docs*k.Panel : 10+docs*k.Panel]
					want, tolerance := c.wantPairing(p, inside, k.Panel)
					p.of(k).Panel(inside, c.panel, c.start, c.doc, c.offset, c.value)
					for i, got := range inside {
						if err := math.Abs(float64(got) - want[i]); !(err <= tolerance[i]) {
							t.Fatalf("document %d, column %d: %v, expected %v ± %v",
								i/k.Panel, i%k.Panel, got, want[i], tolerance[i])
						}
					}
					if !slices.Equal(out[:10], before[:10]) ||
						!slices.Equal(out[10+len(inside):], before[10+len(inside):]) {
						t.Error("a write outside of the block")
					}
				})
			}
		}
	})
}

// Terms, whichever of two values is x, have the same bits, and the panel's sum is that of the terms
// in their order, those that one lacks left out.
func TestPanelPairingIsSymmetric(t *testing.T) {
	eachPairing(t, func(t *testing.T, k *Kernels, p pairingCase) {
		r := rand.New(rand.NewPCG(3, 4))
		const terms = 40
		a, b := make([]float32, terms), make([]float32, terms)
		for range 200 {
			for j := range terms {
				a[j], b[j] = 0, 0
				if r.IntN(3) > 0 {
					a[j] = share(r)
				}
				if r.IntN(3) > 0 {
					b[j] = share(r)
				}
			}
			similarity := func(panelRow, streamRow []float32) float32 {
				c := panelCase{panel: make([]float32, terms*k.Panel), start: []int64{0}, doc: []uint8{0}}
				for j := range terms {
					c.panel[j*k.Panel+5] = panelRow[j]
					if streamRow[j] != 0 {
						c.offset, c.value = append(c.offset, uint16(j*k.Panel)), append(c.value, streamRow[j])
					}
				}
				c.start = append(c.start, int64(len(c.value)))
				out := make([]float32, k.Panel)
				p.of(k).Panel(out, c.panel, c.start, c.doc, c.offset, c.value)
				return out[5]
			}
			var sum float32
			for j := range terms {
				if a[j] != 0 && b[j] != 0 {
					one := make([]float32, 1)
					p.of(k).Terms(one, b[j:j+1], a[j])
					sum += one[0]
				}
			}
			if x, y := similarity(a, b), similarity(b, a); math.Float32bits(x) != math.Float32bits(y) || x != sum {
				t.Fatalf("%v one way, %v the other, %v by terms", x, y, sum)
			}
		}
	})
}

func FuzzPairingTerms(f *testing.F) {
	f.Add(float32(0.5), float32(0.25))
	f.Add(float32(1), float32(MinShare))
	f.Fuzz(func(t *testing.T, x, y float32) {
		if !(x >= MinShare && x <= 1 && y >= MinShare && y <= 1) {
			t.Skip()
		}
		for _, isa := range Available() {
			k, _ := For(isa)
			for _, c := range pairingCases {
				both := make([]float32, 2)
				c.of(k).Terms(both[:1], []float32{y}, x)
				c.of(k).Terms(both[1:], []float32{x}, y)
				want := c.want(float64(x), float64(y))
				if err := math.Abs(float64(both[0]) - want); !(err <= c.tolerance(want)) || both[0] != both[1] {
					t.Fatalf("%s %s: f(%v, %v) is %v and %v, expected %v ± %v",
						isa, c.name, x, y, both[0], both[1], want, c.tolerance(want))
				}
			}
		}
	})
}
