package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// A pairingCase is a similarity, including the dot product, with its definition in float64 and the
// maximum relative error of a term in units of 2⁻²⁴.
type pairingCase struct {
	name  string
	of    func(k *Kernels) Pairing
	want  func(a, b float64) float64
	units float64
}

var pairingCases = []pairingCase{
	{"dot", func(k *Kernels) Pairing { return Pairing{Panel: k.PanelDot} },
		func(a, b float64) float64 { return a * b }, 1},
	{"chisquare", func(k *Kernels) Pairing { return k.ChiSquare },
		func(a, b float64) float64 { return 2 * a * b / (a + b) }, 3},
	{"jensenshannon", func(k *Kernels) Pairing { return k.JensenShannon }, wantJensenShannon, 7},
}

// wantJensenShannon computes f without cancellation: with p = a/(a+b), f = -½ (a log₂ p + b log₂
// (1-p)).
func wantJensenShannon(a, b float64) float64 {
	if a == 0 || b == 0 {
		return 0
	}
	return (a*math.Log1p(b/a) + b*math.Log1p(a/b)) / (2 * math.Ln2)
}

// termCases lists Terms of both pairings as maps, for one value and many others, including zeros.
func termCases() (list []mapCase) {
	for _, p := range pairingCases[1:] {
		for _, x := range []float32{1, 0.005, 0.3, 0x1p-50} {
			list = append(list, mapCase{fmt.Sprintf("%s/x=%g", p.name, x),
				func(k *Kernels, dst, c, _ []float32) {
					y := make([]float32, len(c))
					for j, v := range c {
						y[j] = float32(histogram(float64(v)))
					}
					p.of(k).Terms(dst, y, x)
					for j, v := range y {
						if v != v { // histograms have no NaN
							dst[j] = v
						}
					}
				},
				func(c, _ float64) (float64, float64) {
					v := p.want(float64(x), histogram(c))
					return v, p.units * 0x1p-24 * v
				}, false})
		}
	}
	return list
}

// histogram maps c to a valid histogram value.
func histogram(c float64) float64 {
	switch {
	case c > 1:
		return c / 2
	case c < MinShare:
		return 0
	}
	return c
}

// share draws a histogram value, mostly of a size typical of text, sometimes from the whole range.
func share(r *rand.Rand) float32 {
	switch r.IntN(8) {
	case 0:
		return 1
	case 1:
		return float32(math.Exp2(-60 * r.Float64()))
	case 2:
		return float32(1+r.IntN(5)) / 200 // equal values, and values with simple quotients
	}
	return float32(math.Exp(-3 - 6*r.Float64()))
}

// A panelCase is a block of documents against a panel.
type panelCase struct {
	panel  []float32
	start  []int64
	doc    []uint8
	offset []uint16
	value  []float32
}

// newPanelCase draws a block whose documents have ascending numbers of values between least and
// most, and a panel of the given number of terms. Memory that the kernel must not read is NaN, and
// the slices start in the middle of their arrays.
func newPanelCase(r *rand.Rand, width, docs, least, most, terms int) panelCase {
	nan := float32(math.NaN())
	fence := func(n int) []float32 {
		s := musttest.MakeSlice(n+10, func(i int) float32 { return nan })
		return s[5 : n+5 : n+5]
	}
	counts := make([]int, docs)
	total := 0
	for i := range counts {
		counts[i] = least + r.IntN(most-least+1)
		total += counts[i]
	}
	slices.Sort(counts)
	const before = 3 // values of earlier blocks
	c := panelCase{
		panel:  fence(terms * width),
		start:  []int64{before},
		value:  fence(before + total),
		offset: make([]uint16, before+total),
	}
	for i := range c.offset {
		c.offset[i] = math.MaxUint16 // reading it would be out of bounds
	}
	for i := range c.panel {
		c.panel[i] = float32(r.NormFloat64())
	}
	for p, d := range r.Perm(docs) {
		c.doc = append(c.doc, uint8(d))
		k := c.start[p]
		for range counts[p] {
			c.offset[k] = uint16(r.IntN(terms) * width)
			c.value[k] = float32(r.NormFloat64())
			k++
		}
		c.start = append(c.start, k)
	}
	return c
}

// histograms replaces the values of a case by histogram values; a third of the panel is 0.
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

// want returns the similarities and their error bounds: the error of each term, half an ulp for
// each of the n sums, and one ulp for the addition to out.
func (c panelCase) want(p pairingCase, out []float32, width int) (want, tolerance []float64) {
	want, tolerance = make([]float64, len(out)), make([]float64, len(out))
	for i, o := range out {
		want[i] = float64(o)
	}
	for place, d := range c.doc {
		for r := range width {
			var sum, size float64
			for k := c.start[place]; k < c.start[place+1]; k++ {
				f := p.want(float64(c.value[k]), float64(c.panel[int(c.offset[k])+r]))
				sum, size = sum+f, size+math.Abs(f)
			}
			i := int(d)*width + r
			want[i] += sum
			n, err := float64(c.start[place+1]-c.start[place]), p.units*0x1p-24*size
			err += n * 0x1p-24 * (size + err)
			tolerance[i] = err + 0x1p-24*(math.Abs(want[i])+err)
		}
	}
	return want, tolerance
}

// check compares one block with the oracle.
func (p pairingCase) check(t *testing.T, k *Kernels, r *rand.Rand, docs, least, most int) {
	t.Helper()
	c := newPanelCase(r, k.PanelWidth, docs, least, most, 70)
	if p.name != "dot" {
		c.histograms(r)
	}
	out := numbers[float32](r, docs*k.PanelWidth, -1, 1)
	want, tolerance := c.want(p, out, k.PanelWidth)
	p.of(k).Panel(out, c.panel, c.start, c.doc, c.offset, c.value)
	for i, got := range out {
		if err := math.Abs(float64(got) - want[i]); !(err <= tolerance[i]) {
			t.Fatalf("%s, %d documents of up to %d values: document %d, column %d: %v, expected %v ± %v",
				p.name, docs, most, i/k.PanelWidth, i%k.PanelWidth, got, want[i], tolerance[i])
		}
	}
}

func TestPanel(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, p := range pairingCases {
			for _, docs := range []int{0, 1, 2, 3, 7, 64, 127, 128} {
				for _, most := range []int{0, 1, 2, 3, 8, 33} {
					p.check(t, k, r, docs, 0, most)
				}
			}
			p.check(t, k, r, 128, 0, 300)
			p.check(t, k, r, 128, 3, 40)
		}
	})
}

// Sums are in the order of the values, and terms missing from one document add nothing. So both
// orders of two documents give the same bits. A pairing's sum equals the sum of its terms.
func TestPanelIsSymmetric(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(3, 4))
		const terms = 40
		for at := range 600 {
			p, column := pairingCases[at%len(pairingCases)], r.IntN(k.PanelWidth)
			a, b := make([]float32, terms), make([]float32, terms)
			for j := range terms {
				for _, row := range [][]float32{a, b} {
					if r.IntN(3) > 0 {
						row[j] = share(r)
					}
				}
			}
			similarity := func(panelRow, streamRow []float32) float32 {
				c := panelCase{panel: make([]float32, terms*k.PanelWidth), start: []int64{0}, doc: []uint8{0}}
				for j := range terms {
					c.panel[j*k.PanelWidth+column] = panelRow[j]
					if streamRow[j] != 0 {
						c.offset, c.value = append(c.offset, uint16(j*k.PanelWidth)), append(c.value, streamRow[j])
					}
				}
				c.start = append(c.start, int64(len(c.value)))
				out := make([]float32, k.PanelWidth)
				p.of(k).Panel(out, c.panel, c.start, c.doc, c.offset, c.value)
				return out[column]
			}
			x, y := similarity(a, b), similarity(b, a)
			sum := x
			if p.name != "dot" {
				sum = 0
				for j := range terms {
					if a[j] != 0 && b[j] != 0 {
						one := make([]float32, 1)
						p.of(k).Terms(one, b[j:j+1], a[j])
						sum += one[0]
					}
				}
			}
			if math.Float32bits(x) != math.Float32bits(y) || x != sum {
				t.Fatalf("%s: %v one way, %v the other, %v by terms", p.name, x, y, sum)
			}
		}
	})
}

// PanelDotLast and PanelDotRows give the same bits and indices as TailStore, PanelDot and Finish,
// also for documents without values. PanelDotRows reads tail sums of any stride and clears them.
func TestPanelDotRows(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, docs := range []int{0, 1, 2, 3, 27, 64} {
			for _, most := range []int{0, 1, 4, 33} {
				for _, limit := range []float32{-1, 0.3, 2.5} {
					c := newPanelCase(r, k.PanelWidth, docs, 0, most, 100)
					outStride, stride := k.PanelWidth+r.IntN(20), k.PanelWidth+r.IntN(20)
					sums, rows := make([]int32, docs*stride), poisoned(docs*outStride)
					for i := range sums {
						sums[i] = r.Int32() >> r.IntN(31)
					}
					left, last := slices.Clone(sums), make([]float32, docs*k.PanelWidth)
					for d := range docs {
						k.TailStore(last[d*k.PanelWidth:], 1, slices.Clone(sums[d*stride:]), stride, 1, k.PanelWidth)
					}
					want := slices.Clone(last)
					k.PanelDot(want, c.panel, c.start, c.doc, c.offset, c.value)
					wanted, found := make([]uint32, len(want)), make([]uint32, len(want))
					wanted = wanted[:k.Finish(wanted, want, limit)]

					n := k.PanelDotLast(found, 0, limit, last, c.panel, c.start, c.doc, c.offset, c.value)
					if slices.Sort(found[:n]); !slices.Equal(last, want) || !slices.Equal(found[:n], wanted) {
						t.Fatalf("%d documents below %v: places %v, expected %v; or another c", docs, limit, found[:n], wanted)
					}
					if docs > 0 { // NaN stays NaN and isn't below the limit
						last[5] = float32(math.NaN())
						n := k.PanelDotLast(found, 0, 2.5, last, c.panel, c.start, c.doc, c.offset, c.value)
						if last[5] == last[5] || slices.Contains(found[:n], 5) {
							t.Fatalf("%d documents: NaN becomes %v, places %v", docs, last[5], found[:n])
						}
					}
					n = k.PanelDotRows(found, 1000, limit, rows, outStride, sums, stride,
						c.panel, c.start, c.doc, c.offset, c.value)
					for i, at := range wanted {
						wanted[i] = 1000 + at/uint32(k.PanelWidth)*uint32(outStride) + at%uint32(k.PanelWidth)
					}
					if slices.Sort(found[:n]); !slices.Equal(found[:n], wanted) {
						t.Fatalf("%d rows below %v: places %v, expected %v", docs, limit, found[:n], wanted)
					}
					for i, v := range rows {
						d, j := i/outStride, i%outStride
						if inside := j < k.PanelWidth; inside && v != want[d*k.PanelWidth+j] || !inside && v != poison {
							t.Fatalf("%d documents: row %d, column %d is %v", docs, d, j, v)
						}
					}
					for i, v := range sums {
						if inside := i%stride < k.PanelWidth; inside && v != 0 || !inside && v != left[i] {
							t.Fatalf("%d documents: sum %d of row %d is %v afterwards", docs, i%stride, i/stride, v)
						}
					}
				}
			}
		}
	})
}
