package engine

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// drawn makes vectors with a stride larger than their number.
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

// product checks that dst is a·v. Both sums have one rounding per term, each of at most 2⁻⁵³ times
// the sum of absolute values.
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

// Products equal products with the Gram matrix on every instruction set, with the same bits for any
// number of workers.
func TestMultiply(t *testing.T) {
	for _, isa := range enginetest.ISAs() {
		for _, size := range []int{1, 63, 64, 65, 700} {
			k := kernel.MustParse("diffusion:t=0.5")
			x := enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(size, 2000, 8, 5))
			for _, p := range []int{1, 2, 7} {
				v := drawn(size, p, 3)
				var first *mat.Dense
				for _, workers := range []int{1, 3} {
					e := newEngine(t, x, Options{ISA: string(isa), Workers: workers})
					g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
					dst := mat.NewDense(size, p, nil)
					musttest.NoError(t, e.Multiply(t.Context(), k, nil, v, dst))
					product(t, string(isa), dst, g, v)
					if first == nil {
						first = dst
					} else if !mat.Equal(first, dst) {
						t.Fatalf("%s, %d documents: other bits from %d workers", isa, size, workers)
					}
				}
			}
		}
	}
}

// doubled is the function f of the tests, W + W². It requires complete rows in turn.
func doubled(_ int, w *mat.Dense) error {
	w.Apply(func(_, _ int, v float64) float64 { return v + v*v }, w)
	return nil
}

// MultiplyTwice computes Kᵀ f(K V), and Multiply K V, for any stored rows and workers. A second
// pass over stored rows gives the same bits.
func TestRectangle(t *testing.T) {
	specs := []string{"diffusion:t=0.5", "linear"}
	if testing.Short() {
		specs = specs[:1]
	}
	for _, isa := range enginetest.ISAs() {
		for _, spec := range specs {
			k := kernel.MustParse(spec)
			x := enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(600, 2000, 8, 5))
			other := musttest.Get(x.Embedder.Transform(enginetest.Zipf(1100, 2000, 8, 6)))(t)
			for name, test := range map[string]*sparse.Embedded{"other": other, "own": x} {
				v := drawn(600, 5, 4)
				m := test.Rows()
				var first, normal *mat.Dense
				for _, workers := range []int{1, 3} {
					e := newEngine(t, x, Options{ISA: string(isa), Workers: workers})
					g := musttest.Get(e.Rows(t.Context(), k, Request{TestDocuments: test}, nil))(t)
					w := mat.NewDense(m, 5, nil)
					musttest.NoError(t, e.Multiply(t.Context(), k, test, v, w))
					product(t, name, w, g, v)
					if first == nil {
						first = mat.DenseCopyOf(w)
					} else if !mat.Equal(first, w) {
						t.Fatal("other bits from other workers")
					}
					_ = doubled(0, w)
					const block = 4 * 512 * 624 // bytes of a block of rows
					// These store nothing, prepared documents, also the first block, or all rows.
					for _, keep := range []int64{0, 256 << 10, 2 * block, 1 << 30} {
						r := musttest.Get(e.CrossMatrix(k, test, keep))(t)
						room := min(map[int64]int{2 * block: 1, 1 << 30: 3}[keep], r.blockCount())
						ready := r.blockCount() - room
						switch {
						case name == "own":
							room, ready = min(int(keep/block), r.blockCount()), 0
						case keep == 0:
							ready = 0
						}
						if r.StoredBytes() > keep || r.storedBlocks != room || len(r.prepared) != ready {
							t.Fatalf("%d bytes are kept of %d, %d blocks and documents of %d", r.StoredBytes(), keep, r.storedBlocks,
								len(r.prepared))
						}
						var forms []preparedRows
						pairs := e.Stats().Pairs
						for range 2 {
							u := mat.NewDense(600, 5, nil)
							musttest.NoError(t, r.MultiplyTwice(t.Context(), v, doubled, u))
							if normal == nil {
								product(t, name, u, g.T(), w)
								normal = u
							} else if !mat.Equal(normal, u) {
								t.Fatalf("other bits of a pass, %d workers, %d bytes kept", workers, keep)
							}
							again := mat.NewDense(m, 5, nil)
							musttest.NoError(t, r.Multiply(t.Context(), v, again))
							if !mat.Equal(first, again) {
								t.Fatalf("other bits of a product, %d workers, %d bytes kept", workers, keep)
							}
							held := 4 * int64(len(r.storedRows))
							for i, own := range r.prepared {
								first := &test.Terms[test.Offsets[(room+i)*512]]
								if own.prepared == nil || &own.documents.Terms[0] != first || forms != nil && own != forms[i] {
									t.Fatalf("documents of block %d aren't kept", i)
								}
								held += r.preparedBytes
							}
							if forms = slices.Clone(r.prepared); held > r.StoredBytes() {
								t.Fatalf("%d bytes are kept, %d announced", held, r.StoredBytes())
							}
						}
						kept := min(room*512, m)
						if got := e.Stats().Pairs - pairs; got != 600*int64(4*(m-kept)+kept) {
							t.Fatalf("%d pairs in four products of %d rows, of which %d are kept", got, m, kept)
						}
					}
				}
			}
		}
	}
}

// reducing is a device that implements products.
type reducing struct {
	*slowDevice
	asked int
}

func (d *reducing) FindSmallest(context.Context, *device.Request, int, []int32, []float32) error {
	return errors.New("not asked for")
}

func (d *reducing) Digest(context.Context, *device.Request) (uint64, error) {
	return 0, errors.New("not asked for")
}

func (d *reducing) Multiply(ctx context.Context, r *device.Request, by []float64, vectors int, sum []float64) error {
	d.asked++
	clear(sum)
	return d.ComputeRows(ctx, r, func(t *device.Tile) error {
		for i := range t.Rows {
			for j := range t.Cols() {
				for v := range vectors {
					sum[(t.FirstRow+i)*vectors+v] += float64(t.Values[i*t.RowStride+j*t.ColStride]) * by[(t.Lo+j)*vectors+v]
				}
			}
		}
		return nil
	})
}

// Products work on a device that computes tiles of any shape, and on a device with products.
// Kernels without a program use tiles.
func TestMultiplyDevice(t *testing.T) {
	embedding := sparse.Embedding{Weighting: sparse.TF}
	x := embedded(t, embedding, zipf(300, 900, 6, 3))
	test := musttest.Get(x.Embedder.Transform(zipf(70, 900, 6, 4)))(t)
	var reducer *reducing
	multiplying := Options{Workers: 2, Device: func(context.Context, *sparse.Embedded) (Device, error) {
		reducer = &reducing{slowDevice: &slowDevice{x: x, height: 7}}
		return reducer, nil
	}}
	slow, _ := withDevice(t, x, Options{Workers: 2})
	for _, e := range []*Engine{slow, newEngine(t, x, multiplying)} {
		for _, spec := range []string{"diffusion:t=0.5", "c", "arccos:n=0,bias=0.3"} {
			k := musttest.Get(kernel.ParseIn(spec, embedding))(t)
			v, dst := drawn(300, 3, 5), mat.NewDense(300, 3, nil)
			musttest.NoError(t, e.Multiply(t.Context(), k, nil, v, dst))
			product(t, spec, dst, gram(t, e, k), v)
			g := musttest.Get(e.Rows(t.Context(), k, Request{TestDocuments: test}, nil))(t)
			w := mat.NewDense(70, 3, nil)
			musttest.NoError(t, e.Multiply(t.Context(), k, test, v, w))
			product(t, spec, w, g, v)
			_ = doubled(0, w)
			for _, keep := range []int64{0, 1 << 30} {
				r := musttest.Get(e.CrossMatrix(k, test, keep))(t)
				for range 2 {
					musttest.NoError(t, r.MultiplyTwice(t.Context(), v, doubled, dst))
					product(t, spec, dst, g.T(), w)
				}
				if keep == 0 {
					continue
				}
				again := mat.NewDense(70, 3, nil)
				musttest.NoError(t, r.Multiply(t.Context(), v, again))
				product(t, spec, again, g, v)
			}
		}
	}
	many := musttest.Get(x.Embedder.Transform(zipf(reducedRows+5, 900, 6, 7)))(t) // more than a batch
	k := musttest.Get(kernel.ParseIn("c", embedding))(t)
	e := newEngine(t, x, Options{Workers: 2})
	v, w, want := drawn(300, 1, 8), mat.NewDense(many.Rows(), 1, nil), mat.NewDense(many.Rows(), 1, nil)
	musttest.NoError(t, e.Multiply(t.Context(), k, many, v, want))
	asked := reducer.asked
	e = newEngine(t, x, multiplying)
	musttest.NoError(t, e.Multiply(t.Context(), k, many, v, w))
	if reducer.asked != 2 || !mat.EqualApprox(w, want, 1e-4) { // rows have 300 values of up to 1, by sums in float32
		t.Errorf("%d requests for %d rows, or other products", reducer.asked, many.Rows())
	}
	if reducer.asked = asked; asked != 4 { // two kernels, two products each; stored rows are multiplied on the CPU
		t.Errorf("a device that multiplies was asked %d times", reducer.asked)
	}
}

func TestMultiplyRefused(t *testing.T) {
	k := kernel.MustParse("hellinger")
	x := enginetest.EmbedRows(t, k.Embedding(), [][]float32{{1, 2}, {2, 1}, {1, 1}})
	e := newEngine(t, x, Options{MemoryBytes: 64 << 20})
	v, dst := mat.NewDense(3, 2, nil), mat.NewDense(3, 2, nil)
	r := musttest.Get(e.CrossMatrix(k, x, 0))(t)
	var short *MemoryError
	many := 3 << 20
	wide, to := mat.NewDense(3, many, nil), mat.NewDense(3, many, nil)
	one := newEngine(t, x, Options{Workers: 1}).Info().Bytes
	_, err := newEngine(t, x, Options{Workers: 1, MemoryBytes: one + 4096}).CrossMatrix(k, x, 1<<30)
	for _, err := range []error{
		e.Multiply(t.Context(), k, nil, wide, to), r.Multiply(t.Context(), wide, to),
		r.MultiplyTwice(t.Context(), wide, doubled, to), err,
	} {
		if !errors.As(err, &short) {
			t.Errorf("%v, expected a MemoryError", err)
		}
	}
	musttest.NoError(t, e.Close())
	musttest.WantError(r.Multiply(t.Context(), v, dst))(t, "a closed engine")
}

// preparing is the CPU back end whose first preparation of documents fails.
type preparing struct {
	device.Preparer
	forms, used int
}

var errForm = errors.New("no form")

func (p *preparing) Prepare(ctx context.Context, x *sparse.Embedded) (device.Prepared, error) {
	form, err := p.Preparer.Prepare(ctx, x)
	if p.forms++; p.forms == 1 {
		err = errors.Join(err, errForm)
	}
	return form, err // incomplete, as from the CPU when its context is done
}

func (p *preparing) ComputeRows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	if r.Prepared != nil {
		p.used++
	}
	return p.Preparer.ComputeRows(ctx, r, visit)
}

// Documents are prepared once and then reused. A failed preparation is repeated.
func TestRectanglePrepares(t *testing.T) {
	k := kernel.MustParse("diffusion")
	x := enginetest.EmbedCSR(t, k.Embedding(), enginetest.Zipf(600, 2000, 8, 5))
	test := musttest.Get(x.Embedder.Transform(enginetest.Zipf(1100, 2000, 8, 6)))(t) // three blocks
	e := newEngine(t, x, Options{Workers: 1})
	p := &preparing{Preparer: e.c.Backend.(device.Preparer)}
	e.c.Backend = p
	r := musttest.Get(e.CrossMatrix(k, test, 256<<10))(t)
	v, dst := drawn(600, 2, 4), mat.NewDense(600, 2, nil)
	musttest.WantError(r.MultiplyTwice(t.Context(), v, doubled, dst))(t, "an error of Prepare", errForm)
	for pass := range 2 {
		musttest.NoError(t, r.MultiplyTwice(t.Context(), v, doubled, dst))
		if p.forms != 4 || p.used != 3*(pass+1) {
			t.Errorf("%d forms are made and used %d times, expected 4 and %d", p.forms, p.used, 3*(pass+1))
		}
	}
}
