package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// A float64 sum of exact products of float32 is the oracle: the kernels take the same sum in the
// same order, so they agree to the bit.
func TestTailAdd(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		const docs, stride, columns = 300, 64, 5
		var doc []uint32
		var value []float32
		var cursors []Cursor
		var ends []int64
		want := make([]float64, docs*columns)
		for i := range 200 {
			c := Cursor{Next: int64(len(doc)), Scale: float32(r.NormFloat64()), Column: uint32(i % columns)}
			for d := range docs {
				if r.IntN(1+i) < 3 {
					doc = append(doc, uint32(d))
					value = append(value, float32(r.NormFloat64()))
					want[int(c.Column)*docs+d] += float64(c.Scale) * float64(value[len(value)-1])
				}
			}
			cursors = append(cursors, c)
			doc = append(doc, math.MaxUint32, 0) // the end, and other lists, whose values would show
			value = append(value, float32(math.NaN()), float32(math.NaN()))
			ends = append(ends, int64(len(doc)-2))
		}
		doc, value = append(doc, math.MaxUint32), append(value, 0) // the end of all lists
		got := make([]float64, docs*columns)
		for base := 0; base < docs; base += stride {
			limit := min(base+stride, docs)
			tail := make([]float64, columns*stride+2)
			tail[0], tail[len(tail)-1] = math.Pi, math.Pi
			block := tail[1 : len(tail)-1 : len(tail)-1]
			k.TailAdd(block, stride, doc, value, cursors, uint32(base), uint32(limit))
			if tail[0] != math.Pi || tail[len(tail)-1] != math.Pi {
				t.Fatal("a write outside of the block")
			}
			for c := range columns {
				copy(got[c*docs+base:c*docs+limit], block[c*stride:])
			}
		}
		for i := range want {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("column %d, document %d: %v, expected %v", i/docs, i%docs, got[i], want[i])
			}
		}
		for i, c := range cursors {
			if c.Next != ends[i] {
				t.Errorf("cursor %d stands at %d of %d", i, c.Next, ends[i])
			}
		}
	})
}

// A product and a sum, both rounded to float32, are what every instruction set does.
func TestTailDirect(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		r := rand.New(rand.NewPCG(1, 2))
		const docs, base, step = 200, 50, 70
		var doc []uint32
		var value []float32
		var cursors []Cursor
		var ends []int64
		want := make([]float32, docs*k.Panel)
		for i := range want {
			want[i] = float32(r.NormFloat64())
		}
		got := slices.Clone(want)
		for i := range 300 {
			c := Cursor{Next: int64(len(doc)), Scale: float32(r.NormFloat64()), Column: uint32(r.IntN(k.Panel))}
			for d := range docs {
				if r.IntN(1+i) < 3 {
					doc = append(doc, uint32(base+d))
					value = append(value, float32(r.NormFloat64()))
					want[d*k.Panel+int(c.Column)] += float32(c.Scale * value[len(value)-1])
				}
			}
			cursors = append(cursors, c)
			doc = append(doc, math.MaxUint32, base) // the end, and other lists, whose values would show
			value = append(value, float32(math.NaN()), float32(math.NaN()))
			ends = append(ends, int64(len(doc)-2))
		}
		doc, value = append(doc, math.MaxUint32), append(value, 0) // the end of all lists
		for lo := 0; lo < docs; lo += step {
			hi := min(lo+step, docs)
			k.TailDirect(got[lo*k.Panel:hi*k.Panel:hi*k.Panel], doc, value, cursors, uint32(base+lo), uint32(base+hi))
		}
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("document %d, column %d: %v, expected %v", i/k.Panel, i%k.Panel, got[i], want[i])
			}
		}
		for i, c := range cursors {
			if c.Next != ends[i] {
				t.Errorf("cursor %d stands at %d of %d", i, c.Next, ends[i])
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
				tail := make([]float64, rows*stride)
				for i := range tail {
					tail[i] = r.NormFloat64()
				}
				before := slices.Clone(tail)
				dst := poisoned(cols * dstStride)
				k.TailStore(dst, dstStride, tail, stride, rows, cols)
				for j := range cols {
					for i := range dstStride {
						got := dst[j*dstStride+i]
						if i < rows && got != float32(before[i*stride+j]) || i >= rows && got != poison {
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

func BenchmarkTranspose(b *testing.B) {
	for _, isa := range Available() {
		b.Run(fmt.Sprintf("isa=%s/rows=512/cols=64", isa), func(b *testing.B) {
			k, _ := For(isa)
			src, dst := make([]float32, 512*64), make([]float32, 512*64)
			for b.Loop() {
				k.Transpose(dst, 512, src, 64, 512, 64)
			}
			b.ReportMetric(float64(b.N)*512*64/b.Elapsed().Seconds(), "values/s")
		})
	}
}
