package engine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// drawn makes vectors of a stride that isn't their number.
func drawn(rows, cols int, seed uint64) *mat.Dense {
	r := rand.New(rand.NewPCG(seed, 1))
	all := mat.NewDense(rows, cols+2, nil)
	for i := range rows {
		for j := range cols + 2 {
			if all.Set(i, j, math.NaN()); j < cols {
				all.Set(i, j, r.NormFloat64())
			}
		}
	}
	return all.Slice(0, rows, 0, cols).(*mat.Dense)
}

// product checks that dst is a·v: both sums have as many roundings as there are terms, each of at
// most 2⁻⁵³ of the sum of absolute values.
func product(t *testing.T, what string, dst *mat.Dense, a mat.Matrix, v *mat.Dense) {
	t.Helper()
	rows, n := a.Dims()
	_, p := v.Dims()
	for i := range rows {
		for c := range p {
			want, size := 0.0, 0.0
			for j := range n {
				want += a.At(i, j) * v.At(j, c)
				size += math.Abs(a.At(i, j) * v.At(j, c))
			}
			if got := dst.At(i, c); !(math.Abs(got-want) <= float64(n)*0x1p-52*size) {
				t.Fatalf("%s: row %d, vector %d: %v, expected %v", what, i, c, got, want)
			}
		}
	}
}

func bitsOf(m *mat.Dense) (bits []uint64) {
	rows, cols := m.Dims()
	for i := range rows {
		for j := range cols {
			bits = append(bits, math.Float64bits(m.At(i, j)))
		}
	}
	return bits
}

func sameValues(a, b *mat.Dense) bool {
	x, y := bitsOf(a), bitsOf(b)
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return len(x) == len(y)
}

// Products are those of the Gram matrix, on every instruction set, of the same bits from any number
// of workers.
func TestMultiply(t *testing.T) {
	for _, isa := range asm.Available() {
		for _, size := range []int{1, 63, 64, 65, 700} {
			k := MustParseKernel("diffusion:t=0.5")
			x := enginetest.Embedded(t, k.Embedding(), enginetest.Zipf(size, 2000, 8, 5))
			for _, p := range []int{1, 2, 7} {
				v := drawn(size, p, 3)
				var first *mat.Dense
				for _, workers := range []int{1, 3} {
					e := newEngine(t, x, Options{ISA: string(isa), Workers: workers})
					g, err := e.Gram(t.Context(), k)
					if err != nil {
						t.Fatal(err)
					}
					dst := mat.NewDense(size, p, nil)
					if err := e.Multiply(t.Context(), k, v, dst); err != nil {
						t.Fatal(err)
					}
					product(t, string(isa), dst, g, v)
					if first == nil {
						first = dst
					} else if !sameValues(first, dst) {
						t.Fatalf("%s, %d documents: other bits from %d workers", isa, size, workers)
					}
				}
			}
		}
	}
}

// doubled is f of the tests: W + W², so that rows must be complete when turn has them.
func doubled(_ int, w *mat.Dense) error {
	w.Apply(func(_, _ int, v float64) float64 { return v + v*v }, w)
	return nil
}

// A pass over a rectangle is Kᵀ f(K V), and CrossMultiply K V, whatever is kept and whoever works; a
// second pass over kept rows has the bits of the first.
func TestRectangle(t *testing.T) {
	for _, isa := range asm.Available() {
		for _, spec := range []string{"diffusion:t=0.5", "linear"} {
			k := MustParseKernel(spec)
			x := enginetest.Embedded(t, k.Embedding(), enginetest.Zipf(600, 2000, 8, 5))
			other, err := x.Embedder.Transform(enginetest.Zipf(1100, 2000, 8, 6))
			if err != nil {
				t.Fatal(err)
			}
			for name, test := range map[string]*sparse.Embedded{"other": other, "own": x} {
				v := drawn(600, 5, 4)
				m := test.Rows()
				var first, normal *mat.Dense
				for _, workers := range []int{1, 3} {
					e := newEngine(t, x, Options{ISA: string(isa), Workers: workers})
					g, err := e.Cross(t.Context(), k, test)
					if err != nil {
						t.Fatal(err)
					}
					w := mat.NewDense(m, 5, nil)
					if err := e.CrossMultiply(t.Context(), k, test, v, w); err != nil {
						t.Fatal(err)
					}
					product(t, name, w, g, v)
					if first == nil {
						first = mat.DenseCopyOf(w)
					} else if !sameValues(first, w) {
						t.Fatal("other bits from other workers")
					}
					_ = doubled(0, w)
					for _, keep := range []int64{0, 256 << 10, 2 << 20, 1 << 30} { // none, documents, the first block, all
						r, err := e.Rectangle(k, test, keep)
						if err != nil {
							t.Fatal(err)
						}
						ready := map[int64]int{256 << 10: r.blocks(), 2 << 20: r.blocks() - 1}[keep]
						if name == "own" {
							ready = 0
						}
						if r.KeptBytes() > keep || keep == 1<<30 && r.room != r.blocks() || keep == 2<<20 && r.room != 1 ||
							len(r.ready) != ready {
							t.Fatalf("%d bytes are kept of %d, %d blocks and documents of %d", r.KeptBytes(), keep, r.room,
								len(r.ready))
						}
						for range 2 {
							u := mat.NewDense(600, 5, nil)
							if err := r.Pass(t.Context(), v, doubled, u); err != nil {
								t.Fatal(err)
							}
							if normal == nil {
								product(t, name, u, g.T(), w)
								normal = u
							} else if !sameValues(normal, u) {
								t.Fatalf("other bits of a pass, %d workers, %d bytes kept", workers, keep)
							}
							again := mat.NewDense(m, 5, nil)
							if err := r.Multiply(t.Context(), v, again); err != nil {
								t.Fatal(err)
							}
							if !sameValues(first, again) {
								t.Fatalf("other bits of a product, %d workers, %d bytes kept", workers, keep)
							}
						}
					}
				}
			}
		}
	}
}

// reducing is a device that multiplies by itself.
type reducing struct {
	*slowDevice
	asked int
}

func (d *reducing) Least(context.Context, *device.Request, int, []int32, []float32) error {
	return errors.New("not asked for")
}

func (d *reducing) Digest(context.Context, *device.Request) (uint64, error) {
	return 0, errors.New("not asked for")
}

func (d *reducing) Multiply(ctx context.Context, r *device.Request, by []float64, vectors int, sum []float64) error {
	if err := r.ValidateMultiply(by, vectors, sum); err != nil {
		return err
	}
	d.asked++
	clear(sum)
	return d.Rows(ctx, r, func(t *device.Tile) error {
		for i := range t.Rows {
			for j := range t.Cols() {
				for v := range vectors {
					sum[(t.First+i)*vectors+v] += float64(t.Value[i*t.RowStride+j*t.ColStride]) * by[(t.Lo+j)*vectors+v]
				}
			}
		}
		return nil
	})
}

// Devices: one that computes tiles of any shape, and one that multiplies. A kernel that is no
// program comes in tiles.
func TestMultiplyDevice(t *testing.T) {
	embedding := sparse.Embedding{Weighting: sparse.TF}
	x := embedded(t, embedding, zipf(300, 900, 6, 3))
	test, err := x.Embedder.Transform(zipf(70, 900, 6, 4))
	if err != nil {
		t.Fatal(err)
	}
	var reducer *reducing
	multiplying := Options{Workers: 2, Device: func(context.Context, *sparse.Embedded) (Device, error) {
		reducer = &reducing{slowDevice: &slowDevice{x: x, height: 7}}
		return reducer, nil
	}}
	slow, _ := withDevice(t, x, Options{Workers: 2})
	for _, e := range []*Engine{slow, newEngine(t, x, multiplying)} {
		for _, spec := range []string{"diffusion:t=0.5", "c", "arccos:n=0,bias=0.3"} {
			k, err := ParseKernelIn(spec, embedding)
			if err != nil {
				t.Fatal(err)
			}
			v, dst := drawn(300, 3, 5), mat.NewDense(300, 3, nil)
			if err := e.Multiply(t.Context(), k, v, dst); err != nil {
				t.Fatal(err)
			}
			product(t, spec, dst, gram(t, e, k), v)
			g, err := e.Cross(t.Context(), k, test)
			if err != nil {
				t.Fatal(err)
			}
			w := mat.NewDense(70, 3, nil)
			if err := e.CrossMultiply(t.Context(), k, test, v, w); err != nil {
				t.Fatal(err)
			}
			product(t, spec, w, g, v)
			_ = doubled(0, w)
			for _, keep := range []int64{0, 1 << 30} {
				r, err := e.Rectangle(k, test, keep)
				if err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if err := r.Pass(t.Context(), v, doubled, dst); err != nil {
						t.Fatal(err)
					}
					product(t, spec, dst, g.T(), w)
				}
			}
		}
	}
	if reducer.asked < 4 {
		t.Errorf("a device that multiplies was asked %d times", reducer.asked)
	}
}

func TestMultiplyRefused(t *testing.T) {
	k := MustParseKernel("hellinger")
	x := enginetest.Embed(t, k.Embedding(), [][]float32{{1, 2}, {2, 1}, {1, 1}})
	e := newEngine(t, x, Options{MemoryBytes: 64 << 20})
	v, dst := mat.NewDense(3, 2, nil), mat.NewDense(3, 2, nil)
	odd := mat.NewDense(3, 2, nil)
	odd.Set(1, 1, math.Inf(1))
	r, err := e.Rectangle(k, x, 0)
	if err != nil {
		t.Fatal(err)
	}
	for want, call := range map[string]func() error{
		"nil vectors":        func() error { return e.Multiply(t.Context(), k, nil, dst) },
		"vectors of 2×2":     func() error { return e.Multiply(t.Context(), k, mat.NewDense(2, 2, nil), dst) },
		"destination of 3×1": func() error { return e.Multiply(t.Context(), k, v, mat.NewDense(3, 1, nil)) },
		"share memory":       func() error { return e.Multiply(t.Context(), k, v, v) },
		"+Inf in row 1":      func() error { return e.CrossMultiply(t.Context(), k, x, odd, dst) },
		"bytes of rows":      func() error { _, err := e.Rectangle(k, x, -1); return err },
		"nil function turn":  func() error { return r.Pass(t.Context(), v, nil, dst) },
		"a panic": func() error {
			return r.Pass(t.Context(), v, func(int, *mat.Dense) error { panic("a panic") }, dst)
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected an error with %q", err, want)
		}
	}
	var short *MemoryError
	many := 3 << 20
	err = e.Multiply(t.Context(), k, mat.NewDense(3, many, nil), mat.NewDense(3, many, nil))
	if !errors.As(err, &short) {
		t.Errorf("%v, expected a MemoryError", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Multiply(ctx, k, v, dst); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Multiply(t.Context(), v, dst); err == nil {
		t.Error("a closed engine multiplies")
	}
}
