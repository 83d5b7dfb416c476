package asm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// A problem is the input of the solver's kernels, with fences of NaN and of admitted elements around the slices.
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

// newProblem draws scores from few values, so that equal ones are frequent. Curvatures are sometimes negative, scores sometimes NaN or infinite.
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

// The oracle of the scans looks at every admitted element for one that is better, in plain definitions.
func (p *problem) wantExtreme(sign float64) (at int, best float64) {
	at, best = -1, math.Inf(-int(sign))
	for t, v := range p.g {
		if p.mask[t]&p.bit == 0 || v != v || math.IsInf(v, -int(sign)) {
			continue
		}
		if at < 0 || sign*v > sign*best {
			at, best = t, v
		}
	}
	return at, best
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

func TestSolverScans(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(3, 4))
		for _, n := range lengths {
			t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
				for trial := range 60 {
					p := newProblem(rng, n, trial%5)
					if trial%10 == 9 {
						clear(p.mask)
					}
					if at, best := k.ArgMax(p.g, p.mask, p.bit); !same(at, best)(p.wantExtreme(1)) {
						wantAt, want := p.wantExtreme(1)
						t.Fatalf("the greatest is %v at %d, want %v at %d", best, at, want, wantAt)
					}
					if at, best := k.ArgMin(p.g, p.mask, p.bit); !same(at, best)(p.wantExtreme(-1)) {
						wantAt, want := p.wantExtreme(-1)
						t.Fatalf("the least is %v at %d, want %v at %d", best, at, want, wantAt)
					}
					at, gain, low := k.ArgGain(p.g, p.ki, p.diag, p.mask, p.bit, p.gmax, p.kii)
					wantAt, want, wantLow := p.wantGain()
					if !same(at, gain)(wantAt, want) || low != wantLow {
						t.Fatalf("the greatest gain is %v at %d, least score %v, want %v at %d, %v", gain, at, low, want, wantAt, wantLow)
					}
				}
			})
		}
	})
}

func same(at int, v float64) func(int, float64) bool {
	return func(wantAt int, want float64) bool { return at == wantAt && v == want }
}

// Each product and each sum is rounded once: the oracle does them one at a time in float64, and the bits must be the same.
func TestGradientUpdate(t *testing.T) {
	eachISA(t, func(t *testing.T, k *Kernels) {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range lengths {
			t.Run(fmt.Sprintf("n=%d", n), func(t *testing.T) {
				for shift := range 5 {
					p := newProblem(rng, n, shift)
					for i := range p.g {
						p.g[i] = rng.NormFloat64()
					}
					before := append([]float64(nil), p.fenceG...)
					k.GradientUpdate(p.g, p.ki, p.kj, p.a, p.b)
					for i, got := range p.fenceG {
						want := before[i]
						if j := i - fence - shift; j >= 0 && j < n {
							x := float64(p.a * float64(p.ki[j]))
							y := float64(p.b * float64(p.kj[j]))
							want += float64(x + y)
						}
						if math.Float64bits(got) != math.Float64bits(want) {
							t.Fatalf("shift=%d: element %d is %v, want %v", shift, i-fence-shift, got, want)
						}
					}
				}
			})
		}
	})
}

// BenchmarkSolver measures what one step of the solver takes, with the slices in the second-level cache.
func BenchmarkSolver(b *testing.B) {
	const n = 8192
	p := newProblem(rand.New(rand.NewPCG(1, 2)), n, 0)
	for i := range p.g {
		p.g[i] = rand.NormFloat64()
	}
	for _, k := range tables() {
		list := []struct {
			name string
			run  func()
		}{
			{"update", func() { k.GradientUpdate(p.g, p.ki, p.kj, 1e-3, -1e-3) }},
			{"argmax", func() { k.ArgMax(p.g, p.mask, p.bit) }},
			{"argmin", func() { k.ArgMin(p.g, p.mask, p.bit) }},
			{"arggain", func() { k.ArgGain(p.g, p.ki, p.diag, p.mask, p.bit, 2, 1) }},
		}
		for _, s := range list {
			b.Run(fmt.Sprintf("isa=%s/kernel=%s/n=%d", k.ISA, s.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.run()
				}
				b.ReportMetric(n*float64(b.N)/b.Elapsed().Seconds(), "values/s")
			})
		}
	}
}
