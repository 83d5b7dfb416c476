package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
)

// everyMap runs a test for every kernel and every instruction set of this CPU.
func everyMap(t *testing.T, test func(t *testing.T, table *asm.Kernels, k Kernel)) {
	for _, spec := range mapSpecs() {
		for _, isa := range enginetest.ISAs() {
			table := musttest.Get(asm.KernelsFor(isa))(t)
			t.Run(fmt.Sprintf("isa=%s/%s", isa, spec), func(t *testing.T) { test(t, table, made(spec)) })
		}
	}
}

// reference caches slow reference values for tests that compare each instruction set with them.
type reference struct {
	of     string
	values []float64
	next   int
}

// restart starts again at the first value, and keeps the values for the same kernel.
func (r *reference) restart(k Kernel) {
	if r.next = 0; r.of != k.String() {
		r.of, r.values = k.String(), r.values[:0]
	}
}

// value returns the next value, which compute computes if it is new.
func (r *reference) value(compute func() float64) float64 {
	if r.next == len(r.values) {
		r.values = append(r.values, compute())
	}
	r.next++
	return r.values[r.next-1]
}

// float32Distances returns distances() in float32, with the neighbours of 1 and 2 that float32 has,
// and n random ones.
func float32Distances(n int) []float32 {
	var cs []float32
	for _, c := range distances() {
		cs = append(cs, float32(c))
	}
	for _, c := range []float32{1, 2} {
		down, up := c, c
		for range 100 {
			down, up = math.Nextafter32(down, 0), math.Nextafter32(up, 2)
			cs = append(cs, down, up)
		}
	}
	r := rand.New(rand.NewPCG(11, 2))
	for range n {
		cs = append(cs, 2*r.Float32())
	}
	return cs
}

// norms are typical norms of documents: 1 on the sphere, up to some 10⁴ for raw counts, 0 for an
// empty document. Some are close to each other.
var norms = []float32{0, 1e-3, 0.7, 1, 1.0000001, 3.14159, 100, 100.25, 12345.678}

// Every value of Apply is within Error of Eval at the same float32 arguments. The largest error is
// a substantial part of the bound, so that the bound isn't too loose. (A sum of worst cases of
// independent roundings is rarely reached.)
func TestMapError(t *testing.T) {
	musttest.SkipRace(t)
	many, fewer := float32Distances(6000), float32Distances(1000)
	if testing.Short() {
		many = float32Distances(4000)
	}
	var known reference
	everyMap(t, func(t *testing.T, table *asm.Kernels, k Kernel) {
		known.restart(k)
		cs, step := many, 1
		// to save time, each pair of norms is tested with different values of c
		if _, ok := k.(*kernel); ok && UsesNorms(k) {
			cs, step = fewer, 11
		}
		first := 0
		dst := make([]float32, len(cs))
		y := make([]float32, len(cs))
		var worst float64
		for _, xv := range norms {
			for _, yv := range norms {
				for i := range y {
					y[i] = yv
					dst[i] = float32(math.NaN())
				}
				k.mapTo(table, dst, cs, []float32{xv}, y)
				first = (first + 1) % step
				for i := first; i < len(cs); i += step {
					c, x, y := float64(cs[i]), float64(xv), float64(yv)
					want := known.value(func() float64 { return k.Eval(c, x, y) })
					bound := known.value(func() float64 { return k.Error(c, x, y) })
					if math.Abs(want) > math.MaxFloat32 {
						continue // documented to have no bound
					}
					err := math.Abs(float64(dst[i]) - want)
					if !(err <= bound) {
						t.Fatalf("c = %v, norms %v and %v: found %v, expected %v, error %v, bound %v", c, x, y, dst[i],
							want, err, bound)
					}
					if bound > 0 && math.Abs(want) > 1e-30 {
						worst = max(worst, err/bound)
					}
				}
				if !UsesNorms(k) {
					break
				}
			}
			if !UsesNorms(k) {
				break
			}
		}
		t.Logf("%.0f %% of the bound used", 100*worst)
		if !IsC(k) && !(worst >= 0.05) {
			t.Errorf("only %v of the bound is ever used", worst)
		}
	})
}

// The bits of an element depend only on its c, x and y: they are the same for a single element, in
// a tile of one or several chunks, in place, and transposed.
func TestMapElementwise(t *testing.T) {
	cs := float32Distances(100)
	everyMap(t, func(t *testing.T, table *asm.Kernels, k Kernel) {
		r := rand.New(rand.NewPCG(5, 3))
		for _, shape := range [][2]int{{7, 35}, {19, 36}, {2, 2*chunk + 5}, {1, chunk}} {
			rows, cols := shape[0], shape[1]
			c, x, y := make([]float32, rows*cols), make([]float32, rows), make([]float32, cols)
			for i := range c {
				c[i] = cs[r.IntN(len(cs))]
			}
			for _, list := range [][]float32{x, y} {
				for i := range list {
					list[i] = norms[r.IntN(len(norms))] * (1 + r.Float32())
				}
			}
			tile, transposed := slices.Repeat([]float32{float32(math.NaN())}, rows*cols), make([]float32, rows*cols)
			k.mapTo(table, tile, c, x, y)
			for i := range c {
				transposed[i%cols*rows+i/cols] = c[i]
			}
			k.mapTo(table, transposed, transposed, y, x)
			for range 150 {
				i, j := r.IntN(rows), r.IntN(cols)
				var alone [1]float32
				k.mapTo(table, alone[:], c[i*cols+j:][:1], x[i:][:1], y[j:][:1])
				in, back := math.Float32bits(tile[i*cols+j]), math.Float32bits(transposed[j*rows+i])
				if one := math.Float32bits(alone[0]); in != one || back != one {
					t.Fatalf("%d × %d, c = %v, norms %v and %v: alone %#x, in a tile %#x, transposed %#x", rows, cols,
						c[i*cols+j], x[i], y[j], one, in, back)
				}
			}
		}
	})
}

func TestMapAllocations(t *testing.T) {
	if musttest.RaceEnabled {
		t.Skip("under the race detector pools drop what they hold, by lot")
	}
	everyMap(t, func(t *testing.T, table *asm.Kernels, k Kernel) {
		c, x, y := make([]float32, 64), make([]float32, 4), make([]float32, 16)
		if n := testing.AllocsPerRun(10, func() { k.mapTo(table, c, c, x, y) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

// A gamma that isn't resolved makes every value NaN.
func TestMapUnresolved(t *testing.T) {
	for _, isa := range enginetest.ISAs() {
		table := musttest.Get(asm.KernelsFor(isa))(t)
		for _, name := range []string{"rbf", "polynomial", "sigmoid", "diffusion:order=1", "diffusion:constant=full"} {
			dst := []float32{1}
			MustParse(name).mapTo(table, dst, []float32{0.5}, []float32{1}, []float32{1})
			if dst[0] == dst[0] {
				t.Errorf("isa=%s: %s without gamma gives %v, expected NaN", isa, name, dst[0])
			}
		}
	}
}

// Norms below 2⁻¹²⁶ have fewer digits in float32.
func TestToleranceOfSmallNorms(t *testing.T) {
	musttest.SkipRace(t)
	everyMap(t, func(t *testing.T, table *asm.Kernels, k Kernel) {
		if !UsesNorms(k) {
			return
		}
		r := rand.New(rand.NewPCG(9, 5))
		for range 300 {
			c := math.Exp(-20*r.Float64()) * 2 * r.Float64()
			x := math.Exp2(-120 - 31*r.Float64())
			y := []float64{x, 0, 1, math.Exp2(-120 - 31*r.Float64())}[r.IntN(4)]
			var dst [1]float32
			k.mapTo(table, dst[:], []float32{float32(c)}, []float32{float32(x)}, []float32{float32(y)})
			want, tol := k.Eval(c, x, y), Tolerance(k, c, x, y)
			if math.Abs(want) < math.MaxFloat32 && !(math.Abs(float64(dst[0])-want) <= tol) && !math.IsInf(tol, 1) {
				t.Fatalf("c = %v, norms %v and %v: found %v, expected %v, tolerance %v", c, x, y, dst[0], want, tol)
			}
		}
	})
}

// A pair of documents with the maximum errors of c and norms is within Tolerance. A pair with ten
// times these errors isn't, if c and the norms matter.
func TestTolerance(t *testing.T) {
	musttest.SkipRace(t)
	var known reference
	everyMap(t, func(t *testing.T, table *asm.Kernels, k Kernel) {
		known.restart(k)
		r := rand.New(rand.NewPCG(9, 4))
		var tried, Caught, worst float64
		tries := 10000
		if _, ok := k.(*kernel); ok {
			tries = 1000
		}
		if testing.Short() {
			tries /= 4
		}
		for range tries {
			c := math.Exp(-20*r.Float64()) * 2 * r.Float64()
			x, y := math.Exp(6*r.NormFloat64()/2), math.Exp(6*r.NormFloat64()/2)
			if r.IntN(2) == 0 {
				// documents of about the same length, for which the Gaussian kernel isn't 0
				y = x * (1 + 0.01*r.NormFloat64())
			}
			delta := device.ErrorBound(c)
			want := known.value(func() float64 { return k.Eval(c, x, y) })
			if math.Abs(want) > math.MaxFloat32/2 {
				continue
			}
			at := func(factor float64) float64 {
				// One float32 step inside, because the error of c includes float32 rounding.
				off := float32(c + factor*delta*(1-2*float64(r.IntN(2))))
				if float64(off) > c+delta*math.Abs(factor) || float64(off) < c-delta*math.Abs(factor) {
					off = float32(c)
				}
				off = min(max(off, 0), 2)
				var dst [1]float32
				if VariableOf(k) == VariableDistance { // as in engines, from norms in float64
					half := (x-y)*(x-y)/2 + x*y*float64(off)
					k.mapTo(table, dst[:], []float32{float32(half)}, []float32{1}, []float32{1})
				} else {
					k.mapTo(table, dst[:], []float32{off}, []float32{float32(x)}, []float32{float32(y)})
				}
				return float64(dst[0])
			}
			tol, got := known.value(func() float64 { return Tolerance(k, c, x, y) }), at(1)
			if err := math.Abs(got - want); !(err <= tol) || !WithinTolerance(k, got, want, c, x, y) {
				t.Fatalf("c = %v, norms %v and %v: found %v, expected %v, tolerance %v", c, x, y, got, want, tol)
			} else if tol > 0 {
				worst = max(worst, err/tol)
			}
			tried++
			if got := at(10); !WithinTolerance(k, got, want, c, x, y) {
				Caught++
			}
			part := known.value(func() float64 { return max(propagate(k, c, delta, x, y), k.Error(c, x, y)) })
			if tol < part {
				t.Fatalf("c = %v, norms %v and %v: tolerance %v is below one of its parts", c, x, y, tol)
			}
		}
		t.Logf("%.0f %% of the tolerance used, %.0f %% of errors ten times as large Caught", 100*worst,
			100*Caught/tried)
		if !(worst >= 0.1) || !(Caught > tried/500) {
			t.Errorf("%v of the tolerance is ever used, %v of %v errors ten times as large are Caught", worst, Caught,
				tried)
		}
	})
}

// propagate returns the maximum error of k's value for an error of at most delta in c,
//
//	max(|k(c+delta) - k(c)|, |k(c-delta) - k(c)|)
//
// with c ± delta clamped to [0, 2]. A kernel that is monotone in c, as all are except polynomials
// of even degree around their zero, has the largest change at one of the ends.
func propagate(k Kernel, c, delta, x, y float64) float64 {
	v := k.Eval(c, x, y)
	return max(math.Abs(k.Eval(min(c+delta, 2), x, y)-v), math.Abs(k.Eval(max(c-delta, 0), x, y)-v))
}
