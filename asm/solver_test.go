package asm

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// A problem is the input of the solver's kernels, with fences of NaN and of admitted elements
// around the slices.
type problem struct {
	g, fenceG      []float64
	ki, kj, diag   []float32
	mask           []byte
	gmax, kii      float64
	a, b           float64
	bit            byte
	allMask        []byte
	allKi, allDiag []float32
}

// newProblem draws scores from few values, so that equal ones are frequent. Curvatures are
// sometimes negative, scores sometimes NaN or infinite.
func newProblem(rng *rand.Rand, n, shift int) *problem {
	p := &problem{bit: 1 << rng.IntN(8), gmax: float64(rng.IntN(8)), kii: 1, a: rng.NormFloat64(), b: rng.NormFloat64()}
	p.fenceG = make([]float64, fence+shift+n+fence)
	p.allMask = make([]byte, fence+shift+n+fence)
	for i := range p.fenceG {
		p.fenceG[i] = math.Inf(1 - 2*(i%2)) // what a stray read would choose
		p.allMask[i] = 0xff
	}
	p.g = p.fenceG[fence+shift:][:n:n]
	p.mask = p.allMask[fence+shift:][:n:n]
	p.ki, p.allKi = fenced(n, shift)
	p.kj, _ = fenced(n, shift+1)
	p.diag, p.allDiag = fenced(n, shift+2)
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

// The oracle of the scans looks at every admitted element for one that is better, in plain
// definitions.
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
					p := newProblem(rng, n, trial%5)
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
						const poison = -7
						index := slices.Repeat([]int32{poison}, fence+n+fence)
						above := float64(rng.IntN(8) - 4)
						got := k.Beyond(index[fence:fence+n:fence+n], p.g, p.mask, p.bit, way, above)
						if want := p.wantBeyond(way, above); got != len(want) ||
							!slices.Equal(index[fence:fence+got], want) {
							t.Fatalf("beyond %v are %v, want %v", above, index[fence:fence+got], want)
						}
						for i, v := range index {
							if (i < fence || i >= fence+n) && v != poison {
								t.Fatalf("place %d of %d was written", i-fence, n)
							}
						}
					}
				}
			})
		}
	})
}

// fused is a·b + c with one rounding, the least digit found exactly.
func fused(a, b, c float64) float64 {
	f, _ := new(big.Float).SetPrec(53).Add(bigMul(bigOf(a), bigOf(b)), bigOf(c)).Float64()
	return f
}

func TestStep(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range scanLengths {
			t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
				for shift := range 5 {
					p := newProblem(rng, n, shift)
					for i := range p.g {
						p.g[i] = rng.NormFloat64()
					}
					want := slices.Clone(p.fenceG)
					for i := range n {
						at := &want[fence+shift+i]
						*at = fused(p.b, float64(p.kj[i]), fused(p.a, float64(p.ki[i]), *at))
					}
					at, most := k.Step(p.g, p.ki, p.kj, p.a, p.b, p.mask, p.bit)
					for i, got := range p.fenceG {
						if math.Float64bits(got) != math.Float64bits(want[i]) {
							t.Fatalf("shift=%d: score %d is %v, want %v", shift, i-fence-shift, got, want[i])
						}
					}
					if wantAt, want := p.wantExtreme(p.bit, 1); at != wantAt || most != want {
						t.Fatalf("shift=%d: the greatest is %v at %d, want %v at %d", shift, most, at, want, wantAt)
					}
				}
			})
		}
	})
}
