package asm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Sums of whole numbers are exact: the kernels agree with the definition to the bit, whatever follows the lists.
func TestTailAdd(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		const docs, stride, columns = 300, 310, 5
		var doc []uint16
		var value []float32
		var visits []Visit
		want := make([]int32, stride*columns)
		for i := range want {
			want[i] = r.Int32()
		}
		got := slices.Concat([]int32{7}, want, []int32{7})
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
			for range r.IntN(3) { // other lists, whose values would show
				doc, value = append(doc, uint16(r.IntN(docs))), append(value, []float32{1e9, float32(math.NaN())}[r.IntN(2)])
			}
		}
		doc, value = append(doc, make([]uint16, TailSlack)...), append(value, make([]float32, TailSlack)...)
		k.TailAdd(got[1:len(got)-1:len(got)-1], stride, doc, value, visits)
		if got[0] != 7 || got[len(got)-1] != 7 {
			t.Fatal("a write outside of the sums")
		}
		for i, v := range got[1 : len(got)-1] {
			if v != want[i] {
				t.Fatalf("column %d, document %d: %v, expected %v", i/stride, i%stride, v, want[i])
			}
		}
	})
}

// shapes are numbers of rows and columns around the blocks that the kernels move.
var shapes = []int{0, 1, 7, 8, 9, 15, 16, 17, 64, 130}

func TestTailStore(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, rows := range shapes {
			for _, cols := range shapes {
				stride, dstStride := cols+3, rows+5
				tail := make([]int32, rows*stride)
				for i := range tail {
					tail[i] = int32(r.Uint32())
				}
				before := slices.Clone(tail)
				dst := poisoned(cols * dstStride)
				k.TailStore(dst, dstStride, tail, stride, rows, cols)
				for j := range cols {
					for i := range dstStride {
						got := dst[j*dstStride+i]
						if i < rows && got != float32(before[i*stride+j])*(1.0/TailOne) || i >= rows && got != poison {
							t.Fatalf("%d×%d: dst[%d, %d] = %v", rows, cols, j, i, got)
						}
					}
				}
				for i, v := range tail {
					if inside := i%stride < cols; inside && v != 0 || !inside && v != before[i] {
						t.Fatalf("%d×%d: tail[%d] = %v is left", rows, cols, i, v)
					}
				}
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		for _, rows := range shapes {
			for _, cols := range shapes {
				srcStride, dstStride := cols+3, rows+5
				src := make([]float32, rows*srcStride)
				for i := range src {
					src[i] = float32(r.NormFloat64())
				}
				dst := poisoned(cols * dstStride)
				k.Transpose(dst, dstStride, src, srcStride, rows, cols)
				for j := range cols {
					for i := range dstStride {
						got := dst[j*dstStride+i]
						if i < rows && got != src[i*srcStride+j] || i >= rows && got != poison {
							t.Fatalf("%d×%d: dst[%d, %d] = %v", rows, cols, j, i, got)
						}
					}
				}
			}
		}
	})
}

// Every result is the exact one rounded, and the small ones are found; what is outside of the slice
// is neither read nor written.
func TestFinish(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		nan := float32(math.NaN())
		for _, n := range append(lengths, 5000) {
			for _, share := range []float64{0, 0.01, 0.5, 1} {
				all := poisoned(n + 20)
				c := all[10 : 10+n]
				want := make([]float32, n)
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
				if !slices.Equal(all[:10], poisoned(10)) || !slices.Equal(all[10+n:], poisoned(10)) {
					t.Fatalf("n=%d: a write outside", n)
				}
			}
		}
	})
}

const poison = float32(-12345)

func poisoned(n int) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = poison
	}
	return s
}
