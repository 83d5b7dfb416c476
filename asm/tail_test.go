package asm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Integer sums are exact. Values after the lists don't matter.
func TestTailAdd(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		const docs, stride, columns = 300, 310, 5
		var doc []uint16
		var value []float32
		var visits []Visit
		want := musttest.MakeSlice(stride*columns, func(i int) int32 { return r.Int32() })
		got := slices.Clone(want)
		for i := range 200 {
			v := Visit{First: uint32(len(doc)), Scale: float32(r.NormFloat64() * 1000), Column: uint32(i % columns)}
			for d := range docs {
				if r.IntN(1+i) < 3 {
					doc, value = append(doc, uint16(d)), append(value, float32(r.NormFloat64()*10000))
					product := float64(v.Scale * value[len(value)-1])
					want[int(v.Column)*stride+d] += int32(math.RoundToEven(product))
				}
			}
			if v.Count = uint32(len(doc)) - v.First; v.Count > 0 {
				visits = append(visits, v)
			}
			for range r.IntN(3) { // entries of other lists, which must not be added
				doc, value = append(doc, uint16(r.IntN(docs))), append(value, []float32{1e9, float32(math.NaN())}[r.IntN(2)])
			}
		}
		doc, value = append(doc, make([]uint16, TailSlack)...), append(value, make([]float32, TailSlack)...)
		k.TailAdd(got, stride, doc, value, visits)
		for i, v := range got {
			if v != want[i] {
				t.Fatalf("column %d, document %d: %v, expected %v", i/stride, i%stride, v, want[i])
			}
		}
	})
}

// shapes are numbers of rows and columns near the kernels' block sizes.
var shapes = []int{0, 1, 7, 8, 9, 15, 16, 17, 64, 130}

// TailStore and Transpose write only the rows of a rectangle. TailStore clears the sums.
func TestTranspositions(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, rows := range shapes {
			for _, cols := range shapes {
				stride, dstStride := cols+3, rows+5
				sums, src := make([]int32, rows*stride), make([]float32, rows*stride)
				for i := range sums {
					sums[i] = int32(r.Uint32())
					src[i] = float32(sums[i]) * (1.0 / TailOne)
				}
				before, stored, turned := slices.Clone(sums), poisoned(cols*dstStride), poisoned(cols*dstStride)
				k.TailStore(stored, dstStride, sums, stride, rows, cols)
				k.Transpose(turned, dstStride, src, stride, rows, cols)
				for at, v := range turned {
					i, j, want := at%dstStride, at/dstStride, poison
					if i < rows {
						want = src[i*stride+j]
					}
					if v != want || stored[at] != want {
						t.Fatalf("%d×%d: dst[%d, %d] is %v and %v, expected %v", rows, cols, j, i, v, stored[at], want)
					}
				}
				for i, v := range sums {
					if inside := i%stride < cols; inside && v != 0 || !inside && v != before[i] {
						t.Fatalf("%d×%d: sums[%d] = %v is left", rows, cols, i, v)
					}
				}
			}
		}
	})
}

// Every result is correctly rounded, and results below the limit are found.
func TestFinish(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		nan := float32(math.NaN())
		for _, n := range append(lengths, 5000) {
			for _, share := range []float64{0, 0.01, 0.5, 1} {
				c, want := make([]float32, n), make([]float32, n)
				var small []uint32
				for i := range c {
					c[i] = 0.5 * r.Float32()
					switch {
					case r.Float64() < share:
						c[i] = []float32{0.5000001, 0.75, 1, 1.0000001, 2}[r.IntN(5)]
					case r.IntN(10) == 0:
						c[i] = []float32{nan, 0.5, -1, -1.0000001, -3, 0x1p-30}[r.IntN(6)]
					}
					v := min(max(1-float64(c[i]), 0), 2)
					want[i] = float32(v)
					if v < 0.5 {
						small = append(small, uint32(i))
					}
				}
				index := make([]uint32, n)
				if got := index[:k.Finish(index, c, 0.5)]; !slices.Equal(got, small) {
					t.Fatalf("n=%d: %v, expected %v", n, got, small)
				}
				for i := range c {
					if math.Float32bits(c[i]) != math.Float32bits(want[i]) && c[i] == c[i] ||
						(c[i] != c[i]) != (want[i] != want[i]) {
						t.Fatalf("n=%d: element %d is %v, expected %v", n, i, c[i], want[i])
					}
				}
			}
		}
	})
}

const poison = float32(-12345)

func poisoned(n int) []float32 {
	return musttest.MakeSlice(n, func(i int) float32 { return poison })
}

// Select finds the values that are at most the larger of their two limits, in order, for any values
// between the lines. It never finds NaN.
func TestSelect(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		inf := float32(math.Inf(1))
		kinds := []float32{-inf, inf, float32(math.NaN()), 0, 0.25, 0.5}
		for _, n := range append(lengths, 96, 128) {
			for _, lines := range []int{0, 1, 3, 8} {
				for _, share := range []float64{0, 0.01, 1} { // fraction of values that may be selected
					stride := n + r.IntN(5)
					c := poisoned(lines * stride)
					for i := range c {
						c[i] = 1 + r.Float32()
						if r.Float64() < share {
							c[i] = kinds[r.IntN(len(kinds))]
						}
					}
					limits := func(n int) []float32 {
						s := numbers[float32](r, n, 0, 0.5)
						for i := range s {
							if l := kinds[r.IntN(len(kinds))]; l == l && l < inf && r.IntN(2) == 0 {
								s[i] = l
							}
						}
						return s
					}
					rows, places := limits(lines), limits(n)
					var want []uint32
					for i, a := range rows {
						for j, b := range places {
							if v := float64(c[i*stride+j]); v <= math.Max(float64(a), float64(b)) {
								want = append(want, uint32(i)*65536+uint32(j))
							}
						}
					}
					index := make([]uint32, lines*n)
					if got := index[:k.Select(index, c, stride, rows, places)]; !slices.Equal(got, want) {
						t.Fatalf("n=%d, lines=%d, share=%v: %v, expected %v", n, lines, share, got, want)
					}
				}
			}
		}
	})
}

// Min agrees with sorting, for any values between the lines and any group size. NaN is never a
// minimum.
func TestMin(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(3, 4))
		inf := math.Inf(1)
		kinds := []float32{float32(-inf), float32(inf), float32(math.NaN()), 0, 0.25}
		for _, places := range append(lengths, 96, 128) {
			for _, lines := range []int{0, 1, 7, 20} {
				for _, group := range []int{1, 3, 7, 100} {
					stride, levels := places+r.IntN(5), 1+r.IntN(4)
					c := poisoned(lines * stride)
					for i := range lines {
						for j := range places {
							c[i*stride+j] = r.Float32()
							if r.IntN(8) == 0 {
								c[i*stride+j] = kinds[r.IntN(len(kinds))]
							}
						}
					}
					least, want := make([]float32, levels*places), make([]float32, levels*places)
					for j := range places {
						of := []float64{inf, inf, inf, inf}[:levels]
						for q := range of {
							if r.IntN(2) == 0 {
								of[q] = float64(r.Float32()) // as from an earlier call
							}
						}
						slices.Sort(of)
						for q, v := range of {
							least[q*places+j] = float32(v)
						}
						for first := 0; first < lines; first += group {
							m := inf
							for i := first; i < min(first+group, lines); i++ {
								if v := float64(c[i*stride+j]); v == v {
									m = math.Min(m, v)
								}
							}
							of = append(of, m)
						}
						slices.Sort(of)
						for q, v := range of[:levels] {
							want[q*places+j] = float32(v)
						}
					}
					k.Min(least, levels, c, stride, lines, places, group)
					if !slices.Equal(least, want) {
						t.Fatalf("places=%d, lines=%d, group=%d: %v, expected %v", places, lines, group, least, want)
					}
				}
			}
		}
	})
}
