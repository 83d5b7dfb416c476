//go:build cuda && cgo && linux

package cuda

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// gaussianC is exp(-2c), a Gaussian kernel of the unit vectors.
var gaussianC = &device.Program{
	Consts:       []float64{-2},
	Instructions: []device.Instruction{{Op: device.OpC}, {Op: device.OpConst}, {Op: device.OpMul}, {Op: device.OpExp}},
}

// Reductions on the device agree with copied rows: minima and the digest bit for bit, products with
// vectors up to the order of summation.
func TestReduce(t *testing.T) {
	noLeaks(t)
	const n = 301
	x := embedded(t, zipf(n, 500, 12, 4))
	d := openTiled(t, 64<<10, Options{})
	d.tileRows = 100
	cols := load(t, d, x)
	other := musttest.Get(x.Embedder.Transform(zipf(40, 500, 12, 9)))(t)
	for _, r := range []*device.Request{
		{RowIndices: run.Range(0, n), Hi: n},
		{Program: gaussianC, RowIndices: []int{300, 2, 2, 150}, Lo: 128, Hi: 290},
		{Program: rooted, RowDocuments: other, RowIndices: run.Range(0, 40), Hi: n},
		{RowIndices: []int{7}, Lo: 256, Hi: 258},
		{RowIndices: []int{1, 5}, Lo: 256, Hi: 256},
	} {
		holdReduced(t, cols, r)
	}
	for _, p := range odd {
		holdReduced(t, cols, &device.Request{Program: p, RowIndices: run.Range(0, 50), Hi: n})
	}
	half, columns := holdHalf(t, cols, gaussianC), 0
	err := cols.ComputeRows(t.Context(), half, func(b *device.Tile) error { columns += b.Rows * b.Cols(); return nil })
	if want := 200*n + 100*(n-128) + n - 256; columns != want || err != nil { // from each tile's first row on
		t.Errorf("%d values for half of the matrix, expected %d, error %v", columns, want, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(cols.Digest(ctx, half))(t, "after the end of the context", context.Canceled)
	d.limit = d.allocated + 1000
	musttest.WantError(cols.Multiply(t.Context(), &device.Request{RowIndices: run.Range(0, n), Hi: n},
		make([]float64, n*n), n,
		make([]float64, n*n)))(t, "a product without memory", device.ErrMemory)
}

// holdHalf compares the digest of the symmetric half with the rows.
func holdHalf(t *testing.T, cols *columns, p *device.Program) *device.Request {
	t.Helper()
	n := cols.x.Rows()
	half := &device.Request{Program: p, RowIndices: run.Range(0, n), Hi: n, UpperOnly: true}
	got, err := cols.Digest(t.Context(), half)
	var want uint64
	for at, v := range gather(t, cols, &device.Request{Program: p, RowIndices: run.Range(0, n), Hi: n}, n) {
		if at%n >= at/n {
			want += device.HashValue(at/n, at%n, v)
		}
	}
	if got != want || err != nil {
		t.Errorf("the digest of a half is %x, expected %x, error %v", got, want, err)
	}
	return half
}

// holdReduced compares the reductions of a request with its rows.
func holdReduced(t testing.TB, cols *columns, r *device.Request) {
	t.Helper()
	for _, k := range []int{9, 32, 33, 70} { // the kernel finds 32 at a time
		holdReducedTo(t, cols, r, k)
	}
}

func holdReducedTo(t testing.TB, cols *columns, r *device.Request, k int) {
	t.Helper()
	const vectors = 2
	n := r.Hi - r.Lo
	column, value := make([]int32, k*len(r.RowIndices)), make([]float32, k*len(r.RowIndices))
	by, sum := make([]float64, vectors*n), make([]float64, vectors*len(r.RowIndices))
	for i := range by {
		by[i] = math.Sin(float64(i))
	}
	for i := range sum {
		sum[i] = math.NaN() // previous values are overwritten
	}
	digest, err := cols.Digest(t.Context(), r)
	err = errors.Join(err, cols.FindSmallest(t.Context(), r, k, column, value),
		cols.Multiply(t.Context(), r, by, vectors, sum))
	musttest.NoError(t, err)
	var want uint64
	err = cols.ComputeRows(t.Context(), r, func(b *device.Tile) error {
		for i := range b.Rows {
			row, at := b.Row(i), b.FirstRow+i
			order := run.Range(0, n)
			order = slices.DeleteFunc(order, func(j int) bool { return row[j] != row[j] })
			slices.SortStableFunc(order, func(a, b int) int { // -0 equals 0
				return cmp.Compare(row[a]+0, row[b]+0)
			})
			for rank := range k {
				c, v := int32(-1), float32(0)
				if rank < len(order) {
					c, v = int32(r.Lo+order[rank]), row[order[rank]]
				}
				if column[at*k+rank] != c || value[at*k+rank] != v {
					t.Fatalf("row %d, place %d: found %v in column %d, expected %v in column %d",
						at, rank, value[at*k+rank], column[at*k+rank], v, c)
				}
			}
			for v := range vectors {
				var product, size float64
				for j, value := range row {
					product += float64(value) * by[j*vectors+v]
					size += math.Abs(float64(value) * by[j*vectors+v])
				}
				// Either sum has an error of n 2^-53 of the absolute terms.
				e, got := math.Abs(sum[at*vectors+v]-product), sum[at*vectors+v]
				if !(e <= float64(2*n)*0x1p-53*size) && (product == product || got == got) {
					t.Fatalf("row %d by vector %d: found %v, expected %v", at, v, sum[at*vectors+v], product)
				}
			}
			for j, v := range row {
				want += device.HashValue(r.RowIndices[at], r.Lo+j, v)
			}
		}
		return nil
	})
	musttest.NoError(t, err)
	if digest != want {
		t.Fatalf("a digest of %x, expected %x", digest, want)
	}
	if n == 0 && (column[0] != -1 || slices.ContainsFunc(sum, func(v float64) bool { return v != 0 })) {
		t.Errorf("no columns: found %v and %v", column, sum)
	}
}

// through calls work with several kernels for two engines. The device of one engine reduces rows
// with the CUDA kernel named by. The other device hides its reductions, so that tiles are copied to
// the host.
func through[T any](
	t *testing.T, by string, work func(e *engine.Engine, k kernel.Kernel, other *sparse.Embedded) ([]T, error),
) (onDevice, byTiles []T) {
	noLeaks(t)
	x := transformed(t, sparse.SphereEmbedding, zipf(150, 300, 9, 4))
	other := musttest.Get(x.Embedder.Transform(zipf(30, 300, 9, 5)))(t)
	for hide, all := range map[bool]*[]T{false: &onDevice, true: &byTiles} {
		d := open(t, Options{})
		d.timer.enabled = true
		load := func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
			cols, err := d.Load(ctx, x)
			if hide && err == nil {
				return struct{ device.Accelerator }{cols}, nil
			}
			return cols, err
		}
		e := musttest.Get(engine.New(x, engine.Options{Device: load}))(t)
		for _, name := range []string{"c", "diffusion:t=0.5", "linear:embed=tf-l1-sqrt"} {
			found := musttest.Get(work(e, kernel.MustParse(name), other))(t)
			*all = append(*all, found...)
		}
		launched := slices.ContainsFunc(d.KernelTimes(), func(k KernelTime) bool { return k.Kernel == by })
		if launched == hide {
			t.Errorf("hidden %v: %v", hide, d.KernelTimes())
		}
		musttest.NoError(t, errors.Join(e.Close(), d.Close()))
	}
	return onDevice, byTiles
}

// Neighbours found by the device equal the neighbours found in copied tiles.
func TestNeighbours(t *testing.T) {
	least := 0.05
	got, want := through(t, "least",
		func(e *engine.Engine, k kernel.Kernel, other *sparse.Embedded) (all [][]engine.Neighbour, err error) {
			if k.String() == "c" { // c is not a similarity
				k = kernel.MustParse("cosine-power:p=1")
			}
			for _, opt := range []engine.NeighbourOptions{{Count: 5}, {Count: 20, MinValue: &least}, {Count: 300}} {
				own, err := e.Neighbours(t.Context(), k, opt)
				if err != nil {
					return nil, err
				}
				opt.TestDocuments = other
				cross, err := e.Neighbours(t.Context(), k, opt)
				if err != nil {
					return nil, err
				}
				for i := range e.Len() {
					all = append(all, slices.Clone(own.List(i)))
				}
				for i := range other.Rows() {
					all = append(all, slices.Clone(cross.List(i)))
				}
			}
			return all, nil
		})
	if len(got) != 9*(150+30) || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%d lists, some of them other than by tiles", len(got))
	}
}

// Products with vectors on the device agree with products of copied tiles up to the order of
// summation. Each sum has an error of n 2^-53 of the sum of its absolute terms, which are below 1.
func TestProducts(t *testing.T) {
	const vectors = 3
	got, want := through(t, "multiplyRows",
		func(e *engine.Engine, k kernel.Kernel, other *sparse.Embedded) ([]float64, error) {
			n := e.Len()
			v, own, cross := mat.NewDense(n, vectors, nil), mat.NewDense(n, vectors, nil), mat.NewDense(30, vectors, nil)
			for i := range n {
				for c := range vectors {
					v.Set(i, c, math.Sin(float64(i+7*c)))
				}
			}
			err := errors.Join(e.Multiply(t.Context(), k, nil, v, own), e.Multiply(t.Context(), k, other, v, cross))
			return slices.Concat(own.RawMatrix().Data, cross.RawMatrix().Data), err
		})
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 2*150*0x1p-53*150) {
			t.Errorf("product %d: found %v, expected %v", i, got[i], v)
		}
	}
	if len(got) != 3*vectors*(150+30) || len(want) != len(got) {
		t.Errorf("%d and %d products", len(got), len(want))
	}
}
