package asm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// problem holds arguments of the solver's kernels.
type problem struct {
	g            []float64
	ki, kj, diag []float32
	mask         []byte
	gmax, kii    float64
	a, b         float64
	bit          byte
}

// newProblem draws scores from few values, so that ties are frequent. Curvatures are sometimes
// negative, scores sometimes NaN or infinite.
func newProblem(rng *rand.Rand, n int) *problem {
	p := &problem{bit: 1 << rng.IntN(8), gmax: float64(rng.IntN(8)), kii: 1, a: rng.NormFloat64(), b: rng.NormFloat64(),
		g: make([]float64, n), mask: make([]byte, n),
		ki: make([]float32, n), kj: make([]float32, n), diag: make([]float32, n)}
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1)}
	for t := range p.g {
		p.g[t] = float64(rng.IntN(9) - 4)
		if rng.IntN(20) == 0 {
			p.g[t] = odd[rng.IntN(len(odd))]
		}
		p.ki[t] = float32(rng.IntN(5)) / 4
		p.kj[t] = rng.Float32()
		p.diag[t] = float32(rng.IntN(3)) / 2
		p.mask[t] = byte(rng.IntN(256))
	}
	return p
}

// wantExtreme is the oracle of the scans: it compares all allowed elements, as defined.
func (p *problem) wantExtreme(bit byte, sign float64) (at int, best float64) {
	at, best = -1, math.Inf(-int(sign))
	for t, v := range p.g {
		if p.mask[t]&bit == 0 || v != v || math.IsInf(v, -int(sign)) {
			continue
		}
		if at < 0 || sign*v > sign*best {
			at, best = t, v
		}
	}
	return at, best
}

func (p *problem) wantBeyond(way, above float64) (index []int32) {
	for t, v := range p.g {
		if p.mask[t]&p.bit != 0 && (way > 0 && v > above || way < 0 && -v > above) {
			index = append(index, int32(t))
		}
	}
	return index
}

func (p *problem) wantGain() (at int, gain, low float64) {
	at, low = -1, math.Inf(1)
	for t, v := range p.g {
		if p.mask[t]&p.bit == 0 || v != v {
			continue
		}
		low = math.Min(low, v)
		curvature := math.Max(p.kii+float64(p.diag[t])-2*float64(p.ki[t]), 1e-12)
		if q := (p.gmax - v) * (p.gmax - v) / curvature; v < p.gmax && q > gain {
			at, gain = t, q
		}
	}
	return at, gain, low
}

// scanLengths are numbers of scores that a problem may have.
var scanLengths = []int{0, 16, 32, 48, 64, 128, 256, 1008}

func TestSolverScans(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, n := range scanLengths {
			t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
				for trial := range 60 {
					p := newProblem(rng, n)
					if trial%10 == 9 {
						clear(p.mask)
					}
					other := byte(1) << rng.IntN(8)
					maxAt, most, minAt, least := k.Extremes(p.g, p.mask, p.bit, other)
					if wantAt, want := p.wantExtreme(p.bit, 1); maxAt != wantAt || most != want {
						t.Fatalf("the greatest is %v at %d, want %v at %d", most, maxAt, want, wantAt)
					}
					if wantAt, want := p.wantExtreme(other, -1); minAt != wantAt || least != want {
						t.Fatalf("the least is %v at %d, want %v at %d", least, minAt, want, wantAt)
					}
					at, gain, low := k.ArgGain(p.g, p.ki, p.diag, p.mask, p.bit, p.gmax, p.kii)
					wantAt, want, wantLow := p.wantGain()
					if at != wantAt || gain != want || low != wantLow {
						t.Fatalf("the greatest gain is %v at %d, least score %v, want %v at %d, %v",
							gain, at, low, want, wantAt, wantLow)
					}
					for _, way := range []float64{1, -1} {
						index, above := make([]int32, n), float64(rng.IntN(8)-4)
						got := k.Beyond(index, p.g, p.mask, p.bit, way, above)
						if want := p.wantBeyond(way, above); !slices.Equal(index[:got], want) {
							t.Fatalf("beyond %v are %v, want %v", above, index[:got], want)
						}
					}
				}
			})
		}
	})
}

// fused returns a·b + c with one rounding, computed exactly.
func fused(a, b, c float64) float64 {
	f, _ := new(big.Float).SetPrec(53).Add(bigMul(bigOf(a), bigOf(b)), bigOf(c)).Float64()
	return f
}

// sameSums checks sums bit for bit.
func sameSums(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, v := range got {
		if math.Float64bits(v) != math.Float64bits(want[i]) {
			t.Fatalf("%s: sum %d of %d is %v, want %v", what, i, len(got), v, want[i])
		}
	}
}

func TestStep(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range slices.Repeat(scanLengths, 5) {
			p := newProblem(rng, n)
			p.g = numbers[float64](rng, n, -1, 1)
			want := slices.Clone(p.g)
			for i, v := range want {
				want[i] = fused(p.b, float64(p.kj[i]), fused(p.a, float64(p.ki[i]), v))
			}
			at, most := k.Step(p.g, p.ki, p.kj, p.a, p.b, p.mask, p.bit)
			sameSums(t, "Step", p.g, want)
			if wantAt, want := p.wantExtreme(p.bit, 1); at != wantAt || most != want {
				t.Fatalf("the greatest of %d is %v at %d, want %v at %d", n, most, at, want, wantAt)
			}
		}
	})
}

// Each product and its sum are rounded once (fused).
func TestAddRows(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(7, 8))
		for _, n := range append([]int{2, 3, 4, 5, 6, 128, 255}, lengths...) {
			for _, count := range []int{0, 1, 2, 3, 17} {
				from, rows := rng.IntN(5), make([][]float32, count)
				by, sum := numbers[float64](rng, count, -2, 2), numbers[float64](rng, n, -2, 2)
				want := slices.Clone(sum)
				for r := range rows {
					rows[r] = numbers[float32](rng, from+n, -2, 2)
					for i := range want {
						want[i] = fused(by[r], float64(rows[r][from+i]), want[i])
					}
				}
				k.AddRows(sum, rows, from, by)
				sameSums(t, "AddRows", sum, want)
			}
		}
	})
}

// Each product and its sum are rounded once (fused), line by line, for any number of vectors and
// any values between lines. Two calls with half of the lines each give the same bits as one.
func TestMultiply(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		testMultiply(t, k.Multiply)
		testMultiply(t, k.MultiplyWide)
	})
}

func testMultiply[T float32 | float64](
	t *testing.T,
	multiply func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int),
) {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 8))
	for _, n := range append([]int{2, 3, 4, 5, 6, 24, 48}, lengths...) {
		for _, vectors := range []int{0, 1, 2, 3, 4, 5, 8, 9} {
			lines := rng.IntN(8)
			apart, stride, byStride := n+rng.IntN(3), n+rng.IntN(3), vectors+rng.IntN(3)
			c, by := numbers[T](rng, lines*stride, -2, 2), numbers[float64](rng, lines*byStride, -2, 2)
			sum := numbers[float64](rng, vectors*apart, -2, 2)
			want := slices.Clone(sum)
			for v := range vectors {
				for i := range n {
					at := &want[v*apart+i]
					for l := range lines {
						*at = fused(by[l*byStride+v], float64(c[l*stride+i]), *at)
					}
				}
			}
			half := lines / 2
			multiply(sum, apart, c, stride, half, n, by, byStride, vectors)
			multiply(sum, apart, c[half*stride:], stride, lines-half, n, by[half*byStride:], byStride, vectors)
			sameSums(t, fmt.Sprintf("%d vectors, %d lines of %d", vectors, lines, n), sum, want)
		}
	}
}

// Every element is the element at its index, including the first and last of the row.
func TestGather(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(7, 9))
		src := numbers[float32](rng, 1500, 0, 1)
		for _, n := range append([]int{2, 3, 4, 5, 6}, lengths...) {
			index, dst := make([]int32, n), make([]float32, n)
			for i := range index {
				index[i] = []int32{0, int32(len(src) - 1), rng.Int32N(int32(len(src)))}[rng.IntN(3)]
			}
			k.Gather(dst, src, index)
			for i, at := range index {
				if dst[i] != src[at] {
					t.Fatalf("n=%d: element %d is %v, expected src[%d] = %v", n, i, dst[i], at, src[at])
				}
			}
		}
	})
}

// Each product and each sum is rounded once, in the order of the list, however the list is divided.
// Lists may contain a row twice and needn't begin with row 0.
func TestRowSums(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(31, 32))
		const base, count = 1000, 23
		for _, width := range []int{1, 7, 32, 63, 64, 65, 96, 128, 192} {
			for _, n := range []int{0, 1, 2, 17} {
				rows, coef := numbers[float32](rng, count*width, -0.5, 0.5), numbers[float64](rng, n, -2, 2)
				at, got := make([]int32, n), numbers[float64](rng, width, -2, 2)
				want := slices.Clone(got)
				for s := range at {
					row := rng.IntN(count)
					at[s] = int32(base + row)
					for r := range want {
						product := coef[s] * float64(rows[row*width+r])
						want[r] = math.FMA(1, product, want[r]) // prevents fusing the product and the sum
					}
				}
				k.RowSums(got, rows, base, at[:n/2], coef[:n/2])
				k.RowSums(got, rows, base, at[n/2:], coef[n/2:])
				sameSums(t, "RowSums", got, want)
			}
		}
	})
}
