package kernel

import (
	"math"
	"sync"
	"testing"

	"github.com/gramengine/gram/asm"
)

// biasSpecs are biased kernels of all sorts.
var biasSpecs = []string{"arccos:n=0,bias=0.3", "arccos:n=0,bias=-0.3", "arccos:n=0,bias=0.3,sigma=0.1"}

// Columns that are kept, for a row by itself, give the same bits as those that are made, for many rows: also where norms that were seen before differ from others
// in one place alone, there are more of them than are kept, and several goroutines ask.
func TestArcCosineBiasKept(t *testing.T) {
	const cols, variants = 100, len(keptColumns{})
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for round := range 2 * variants {
				y := make([]float32, cols)
				for j := range y {
					y[j] = 1 + float32(j)/16
				}
				y[20] = 1 + float32(round%variants)/4
				for _, spec := range biasSpecs {
					k := MustParse(spec)
					x, c := make([]float32, fewRows), make([]float32, fewRows*cols)
					for i := range x {
						x[i] = 1.5
					}
					for i := range c {
						c[i] = float32(i%cols) / cols
					}
					one, many := make([]float32, cols), make([]float32, len(c))
					k.mapTo(asm.Best(), one, c[:cols], x[:1], y)
					k.mapTo(asm.Best(), many, c, x, y)
					for j, v := range one {
						if math.Float32bits(v) != math.Float32bits(many[j]) || !(v > 0) {
							t.Errorf("%s: value %d of a row by itself is %v, among %d it is %v", spec, j, v, fewRows, many[j])
							return
						}
					}
				}
			}
		})
	}
	group.Wait()
}

// A value of the diagonal by itself, which has a shorter way, has the bits that it has among others, from no threshold at all to one that nothing passes.
func TestBiasedDiagonalBits(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"arccos:n=0,bias=1", "arccos:n=0,bias=-1"} {
			k := MustParse(spec)
			for norm := float32(0.05); norm < 1e4; norm *= 1.0007 {
				x, y := []float32{norm}, []float32{1, 2, norm, 3, 4, 5, 6, 7, 8}
				one, many := []float32{0}, make([]float32, len(y))
				k.mapTo(table, one, one, x, x)
				k.mapTo(table, many, many, x, y)
				if math.Float32bits(one[0]) != math.Float32bits(many[2]) {
					t.Fatalf("%s: norm %v: %v by itself, %v among others", spec, norm, one[0], many[2])
				}
			}
		}
	})
}

// (x, y) and (y, x) have the same bits, whoever of them is the row, and so have a diagonal by itself and among others. Norms go down to where documents count as
// infinitely short, at bias/12.5, and some steps around it.
func TestArcCosineBiasSymmetry(t *testing.T) {
	norms := []float32{0, 1e-9, 0.01, 0.03, 0.3, 1, 7, 1e9, 1e30}
	at := float32(0.3 / asm.BivariateMost)
	for i := range 9 {
		norms = append(norms, math.Float32frombits(math.Float32bits(at)+uint32(i)-4))
	}
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		var zeros int
		for _, spec := range append([]string{"arccos:n=0,sigma=0.1"}, biasSpecs...) {
			k := MustParse(spec)
			for _, c := range []float32{0, 0x1p-149, 1e-12, 1e-6, 0.1, 1, 1.9, 2} {
				n := len(norms)
				all, cs := make([]float32, n*n), make([]float32, n*n)
				for i := range cs {
					cs[i] = c
				}
				k.mapTo(table, all, cs, norms, norms)
				for i := range n {
					for j := range n {
						v := all[i*n+j]
						if w := all[j*n+i]; math.Float32bits(v) != math.Float32bits(w) || !(v >= 0) {
							t.Errorf("%s at c = %v, norms %v and %v: %v one way, %v the other", spec, c, norms[i], norms[j], v, w)
						}
						if v == 0 {
							zeros++
						}
					}
					if c == 0 {
						d := []float32{0}
						k.mapTo(table, d, d, norms[i:i+1], norms[i:i+1])
						if math.Float32bits(d[0]) != math.Float32bits(all[i*n+i]) {
							t.Errorf("%s, norm %v: the diagonal by itself is %v, among others %v", spec, norms[i], d[0], all[i*n+i])
						}
					}
				}
			}
		}
		if !(zeros > 100) {
			t.Errorf("only %d values are 0", zeros)
		}
	})
}
