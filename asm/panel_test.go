package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// A panelCase is a block of documents against a panel.
type panelCase struct {
	panel  []float32
	start  []int64
	doc    []uint8
	offset []uint16
	value  []float32
}

// newPanelCase draws a block whose places hold ascending numbers of values between least and most,
// in a panel of the given number of terms. What lies outside of what the kernel may read is NaN,
// and the slices start in the middle of their arrays.
func newPanelCase(r *rand.Rand, width, docs, least, most, terms int) panelCase {
	nan := float32(math.NaN())
	fence := func(n int) []float32 {
		s := make([]float32, n+10)
		for i := range s {
			s[i] = nan
		}
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
		c.offset[i] = math.MaxUint16 // a wild read
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

// want returns the exact dot products and the bound on their errors: for n products, each with a
// rounding of its own (or none, fused) and one in each sum it enters, |error| <=
// (n+1)·2⁻²⁴·Σ|product|, and half an ulp for the addition to what stood in out.
func (c panelCase) want(out []float32, width int) (want, tolerance []float64) {
	want, tolerance = make([]float64, len(out)), make([]float64, len(out))
	for i, o := range out {
		want[i] = float64(o)
	}
	for p, d := range c.doc {
		for r := range width {
			var sum, size float64
			for k := c.start[p]; k < c.start[p+1]; k++ {
				product := float64(c.value[k]) * float64(c.panel[int(c.offset[k])+r])
				sum += product
				size += math.Abs(product)
			}
			i := int(d)*width + r
			want[i] += sum
			n := float64(c.start[p+1] - c.start[p])
			tolerance[i] = (n+1)*0x1p-24*size + 0x1p-24*(math.Abs(want[i])+size)
		}
	}
	return want, tolerance
}

func TestPanelDot(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, docs := range []int{0, 1, 2, 3, 7, 64, 127, 128} {
			for _, most := range []int{0, 1, 2, 3, 8, 33, 300} {
				t.Run(fmt.Sprintf("docs=%d/values=%d", docs, most), func(t *testing.T) {
					c := newPanelCase(r, k.Panel, docs, 0, most, 100)
					out := make([]float32, docs*k.Panel+20)
					for i := range out {
						out[i] = float32(r.NormFloat64())
					}
					before := slices.Clone(out)
					inside := out[10 : 10+docs*k.Panel : 10+docs*k.Panel]
					want, tolerance := c.want(inside, k.Panel)
					k.PanelDot(inside, c.panel, c.start, c.doc, c.offset, c.value)
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

// The last segment of a tile makes c as PanelDot and Finish do, to the bit, and finds the same places, of documents
// without values, too.
func TestPanelDotLast(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(5, 6))
		for _, docs := range []int{0, 1, 2, 3, 64, 127, 128} {
			for _, most := range []int{0, 1, 4, 33} {
				c := newPanelCase(r, k.Panel, docs, 0, most, 100)
				got := make([]float32, docs*k.Panel)
				for i := range got {
					got[i] = float32(r.NormFloat64())
					if r.IntN(50) == 0 {
						got[i] = float32(math.NaN())
					}
				}
				want := slices.Clone(got)
				k.PanelDot(want, c.panel, c.start, c.doc, c.offset, c.value)
				for _, limit := range []float32{-1, 0.01, 2.5} {
					wanted, found := make([]uint32, len(got)), make([]uint32, len(got)+1)
					found[len(got)] = 7
					want, got := slices.Clone(want), slices.Clone(got)
					wanted = wanted[:k.Finish(wanted, want, limit)]
					n := k.PanelDotLast(found[:len(got)], 1000, limit, got, c.panel, c.start, c.doc, c.offset, c.value)
					if found[len(got)] != 7 {
						t.Fatal("a write outside of the places")
					}
					found = found[:n]
					slices.Sort(found)
					for i := range wanted {
						wanted[i] += 1000
					}
					if !slices.Equal(found, wanted) {
						t.Fatalf("%d documents below %v: places %v, expected %v", docs, limit, found, wanted)
					}
					for i := range want {
						if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
							t.Fatalf("%d documents: element %d is %v, expected %v", docs, i, got[i], want[i])
						}
					}
				}
			}
		}
	})
}

// Rows of a tile begin with the sums of the tail, of whatever stride: they are those of TailStore and PanelDotLast, to
// the bit, the sums are cleared, and nothing else is written.
func TestPanelDotRows(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(7, 8))
		for _, docs := range []int{0, 1, 2, 3, 27, 64} {
			for _, most := range []int{0, 1, 4, 33} {
				c := newPanelCase(r, k.Panel, docs, 0, most, 100)
				outStride, stride := k.Panel+r.IntN(20), k.Panel+r.IntN(20)
				sums, got := make([]int32, docs*stride), poisoned(docs*outStride)
				for i := range sums {
					sums[i] = r.Int32() >> r.IntN(31)
				}
				want := make([]float32, docs*k.Panel)
				for d := range docs {
					k.TailStore(want[d*k.Panel:], 1, slices.Clone(sums[d*stride:]), stride, 1, k.Panel)
				}
				left := slices.Clone(sums)
				for _, limit := range []float32{-1, 0.3, 2.5} {
					wanted, found := make([]uint32, len(want)), make([]uint32, len(want)+1)
					found[len(want)] = 7
					want, sums := slices.Clone(want), slices.Clone(left)
					wanted = wanted[:k.PanelDotLast(wanted, 0, limit, want, c.panel, c.start, c.doc, c.offset, c.value)]
					n := k.PanelDotRows(found[:len(want)], 1000, limit, got, outStride, sums, stride,
						c.panel, c.start, c.doc, c.offset, c.value)
					if found[len(want)] != 7 {
						t.Fatal("a write outside of the places")
					}
					for i, at := range wanted {
						wanted[i] = 1000 + at/uint32(k.Panel)*uint32(outStride) + at%uint32(k.Panel)
					}
					slices.Sort(wanted)
					if found = found[:n]; !slices.Equal(slices.Sorted(slices.Values(found)), wanted) {
						t.Fatalf("%d documents below %v: places %v, expected %v", docs, limit, found, wanted)
					}
					for i, v := range got {
						d, j := i/outStride, i%outStride
						if inside := j < k.Panel; inside && v != want[d*k.Panel+j] || !inside && v != poison {
							t.Fatalf("%d documents: row %d, column %d is %v", docs, d, j, v)
						}
					}
					for i, v := range sums {
						if inside := i%stride < k.Panel; inside && v != 0 || !inside && v != left[i] {
							t.Fatalf("%d documents: sum %d of row %d is %v afterwards", docs, i%stride, i/stride, v)
						}
					}
				}
			}
		}
	})
}

// A sum is taken in the order of the values, and a column without a term adds an exact zero: two
// documents that share the same terms in the same order have the same dot product to the bit,
// whichever streams.
func TestPanelDotIsSymmetric(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(3, 4))
		const terms = 90
		rows := make([][terms]float32, 2*k.Panel)
		for i := range rows {
			for j := range terms {
				if r.IntN(3) > 0 {
					rows[i][j] = float32(r.ExpFloat64())
				}
			}
		}
		dots := func(panelRow, streamRow int) []float32 {
			c := panelCase{panel: make([]float32, terms*k.Panel), start: []int64{0}}
			for col := range k.Panel {
				for j := range terms {
					c.panel[j*k.Panel+col] = rows[panelRow+col][j]
				}
			}
			var order []int
			for d := range k.Panel {
				order = append(order, d)
			}
			count := func(d int) (n int) {
				for _, v := range rows[streamRow+d] {
					if v != 0 {
						n++
					}
				}
				return n
			}
			slices.SortStableFunc(order, func(a, b int) int { return count(a) - count(b) })
			for _, d := range order {
				c.doc = append(c.doc, uint8(d))
				for j, v := range rows[streamRow+d] {
					if v != 0 {
						c.offset = append(c.offset, uint16(j*k.Panel))
						c.value = append(c.value, v)
					}
				}
				c.start = append(c.start, int64(len(c.value)))
			}
			out := make([]float32, k.Panel*k.Panel)
			k.PanelDot(out, c.panel, c.start, c.doc, c.offset, c.value)
			return out
		}
		ab, ba := dots(0, k.Panel), dots(k.Panel, 0)
		for i := range k.Panel {
			for j := range k.Panel {
				if a, b := ab[i*k.Panel+j], ba[j*k.Panel+i]; math.Float32bits(a) != math.Float32bits(b) {
					t.Fatalf("(%d, %d) is %v one way and %v the other", i, j, a, b)
				}
			}
		}
	})
}

func FuzzPanelDot(f *testing.F) {
	f.Add(uint64(1), uint8(128), uint8(40), uint8(3))
	f.Add(uint64(2), uint8(3), uint8(0), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, docs, most, least uint8) {
		for _, isa := range Available() {
			k, _ := For(isa)
			r := rand.New(rand.NewPCG(seed, 5))
			c := newPanelCase(r, k.Panel, int(docs%129), int(min(least, most)), int(most), 70)
			out := make([]float32, int(docs%129)*k.Panel)
			want, tolerance := c.want(out, k.Panel)
			k.PanelDot(out, c.panel, c.start, c.doc, c.offset, c.value)
			for i, got := range out {
				if err := math.Abs(float64(got) - want[i]); !(err <= tolerance[i]) {
					t.Fatalf("%s: element %d is %v, expected %v ± %v", isa, i, got, want[i], tolerance[i])
				}
			}
		}
	})
}

// BenchmarkPanelDot measures panel dot products of a block with so many values a document as 20
// Newsgroups has in a segment of the head, everything in the second-level cache. peak-share is the
// part, in percent, of the multiply-adds that Peak does in the same time.
func BenchmarkPanelDot(b *testing.B) {
	const docs = 128
	for _, k := range tables {
		for _, values := range []int{8, 20, 64} {
			b.Run(fmt.Sprintf("isa=%s/docs=%d/values=%d", k.ISA, docs, values), func(b *testing.B) {
				c := newPanelCase(rand.New(rand.NewPCG(1, 2)), k.Panel, docs, values/2, values+values/2, 100)
				out := make([]float32, docs*k.Panel)
				before := peakRate(k)
				for b.Loop() {
					k.PanelDot(out, c.panel, c.start, c.doc, c.offset, c.value)
				}
				n := float64(b.N) / b.Elapsed().Seconds()
				peak := (before + peakRate(k)) / 2
				madds := n * float64(c.start[docs]-c.start[0]) * float64(k.Panel)
				b.ReportMetric(n*float64(len(out)), "pairs/s")
				b.ReportMetric(madds, "madd/s")
				b.ReportMetric(100*madds/peak, "peak-share")
			})
		}
	}
}

// BenchmarkPeak measures multiply-adds in registers.
func BenchmarkPeak(b *testing.B) {
	for _, k := range tables {
		b.Run("isa="+string(k.ISA), func(b *testing.B) {
			sum := make([]float32, PeakSums)
			const rounds = 1000
			for b.Loop() {
				k.Peak(sum, 0.5, 1, rounds)
			}
			b.ReportMetric(PeakSums*rounds*float64(b.N)/b.Elapsed().Seconds(), "madd/s")
		})
	}
}

// BenchmarkRead measures reading from the caches and from memory.
func BenchmarkRead(b *testing.B) {
	for _, k := range tables {
		for _, kib := range []int{16, 256, 128 << 10} {
			b.Run(fmt.Sprintf("isa=%s/kib=%d", k.ISA, kib), func(b *testing.B) {
				src := make([]float32, kib<<8)
				for i := range src {
					src[i] = float32(i) // pages that nobody has written are all one page of zeros
				}
				b.SetBytes(int64(kib) << 10)
				for b.Loop() {
					k.Read(src)
				}
			})
		}
	}
}

// peakRate measures the multiply-adds per second that one core does in registers, the best of five
// short runs.
func peakRate(k *Kernels) float64 {
	const rounds = 20000
	sum := make([]float32, PeakSums)
	best := 0.0
	for range 5 {
		begin := time.Now()
		k.Peak(sum, 0.5, 1, rounds)
		best = max(best, PeakSums*rounds/time.Since(begin).Seconds())
	}
	return best
}
