package mkm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/pca"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// Layer is a fitted layer. It maps a document t, represented by features of the previous layer, to
// the features Σ_j k(t, xⱼ) Projection[j·w + i] - Offsets[i], 0 <= i < w = len(Offsets). The xⱼ are
// the documents in Base.
type Layer struct {
	Kernel                 string
	Embedder               *sparse.Embedder
	Base                   *sparse.CSR // documents, represented by the features of the previous layer
	Projection             []float64   // in row-major order
	Offsets                []float64
	Components             []int32 // index of each feature's principal component; the most informative feature is first
	ExplainedVarianceRatio float64 // fraction of the variance of Base explained by the components
}

// Width returns the number of output features.
func (l *Layer) Width() int { return len(l.Offsets) }

const batchSize = 4096

// fittedLayer is a layer before its features are selected.
type fittedLayer struct {
	*Layer
	features []float32 // features of all documents, in row-major order
}

// fit fits a layer to the first n documents of x, and computes the features of all documents in x.
// rows contains the corpus index of each document.
func (t *training) fit(
	ctx context.Context, level int, k kernel.Kernel, x *sparse.CSR, n int, rows []int,
) (_ *fittedLayer, err error) {
	spec := k.String()
	defer func() {
		var value *sparse.ValueError
		switch {
		case err == nil || ctx.Err() != nil:
		case level == 1 && errors.As(err, &value): // convert value.Row from an index into x to an index into the corpus
			value.Row = rows[value.Row]
			err = fmt.Errorf("mkm: layer 1, %s: %w", spec, err)
		case errors.As(err, &value):
			err = fmt.Errorf("mkm: layer %d, %s: feature %d of the layer below must be %s, got %v", level, spec,
				value.Term+1, value.Expected, value.Value)
		default:
			err = fmt.Errorf("mkm: layer %d, %s: %w", level, spec, err)
		}
	}()
	r, err := t.fitComponents(ctx, level, k, x, n)
	if err != nil {
		return nil, err
	}
	defer r.engine.Close()
	out := &fittedLayer{Layer: r.layer}
	for lo := 0; lo < x.Rows(); lo += batchSize {
		hi := min(lo+batchSize, x.Rows())
		z, err := r.transformRows(ctx, x, lo, hi)
		if err != nil {
			return nil, err
		}
		out.features = append(out.features, z...)
		t.o.reportProgress("projecting", level, int64(hi), int64(x.Rows()))
	}
	return out, nil
}

// fitComponents computes the principal components of a layer. The caller must close the engine of
// the result.
func (t *training) fitComponents(
	ctx context.Context, level int, k kernel.Kernel, x *sparse.CSR, n int,
) (_ *layerTransformer, err error) {
	first := run.Range(0, n)
	l := &Layer{Kernel: k.String(), Embedder: k.Embedding().Fit(x.SelectRows(first))}
	base := t.drawBase(n)
	l.Base = x.SelectRows(base)
	embedded, err := l.Embedder.TransformRows(ctx, x, base, t.o.Workers)
	if err != nil {
		return nil, err
	}
	e, err := engine.NewContext(ctx, embedded, engine.Options{ISA: t.o.ISA, Workers: t.o.Workers})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			e.Close()
		}
	}()
	k = kernel.Resolve(k, len(l.Embedder.Terms))
	held := e.Info().Bytes + l.Base.Bytes() + x.Bytes()
	room := t.remainingBytes(held)
	c, err := pca.Fit(ctx, e, embedded, k, pca.Options{
		NumComponents: t.s.MaxComponents, Tolerance: t.s.tolerance, Seed: t.s.Seed, MemoryBytes: room,
		Progress: func(vectors, most int, worst float64) {
			t.o.reportProgress("components", level, int64(vectors), int64(most))
		},
	})
	if err != nil {
		return nil, err
	}
	a, b := c.AffineMap()
	sum := 0.0
	for _, v := range c.Eigenvalues {
		sum += v.Value
	}
	l.ExplainedVarianceRatio = min(sum/c.Total, 1)
	by := math.Sqrt(float64(len(base)) / sum)
	a.Scale(by, a)
	for i := range b {
		b[i] *= by
	}
	l.Projection, l.Offsets = a.RawMatrix().Data, b
	for i := range b {
		l.Components = append(l.Components, int32(i))
	}
	return &layerTransformer{layer: l, engine: e, kernel: k, projection: a, workers: t.o.Workers}, nil
}

// drawBase draws the documents for computing components. It returns their indices in ascending
// order.
func (t *training) drawBase(n int) []int {
	r := rand.New(rand.NewPCG(t.s.Seed, 0x6d6b6d))
	base := r.Perm(n)[:min(n, t.s.BaseSize)]
	slices.Sort(base)
	return base
}

// selectFeatures returns a copy of the layer with only the listed features, in the listed order.
func (l *Layer) selectFeatures(columns []uint32) *Layer {
	out := *l
	out.Projection, out.Offsets, out.Components = make([]float64, 0, l.Base.Rows()*len(columns)), nil, nil
	for j := range l.Base.Rows() {
		row := l.Projection[j*l.Width():]
		for _, c := range columns {
			out.Projection = append(out.Projection, row[c])
		}
	}
	for _, c := range columns {
		out.Offsets, out.Components = append(out.Offsets, l.Offsets[c]), append(out.Components, l.Components[c])
	}
	return &out
}

// Bytes returns the approximate size of the layer in memory.
func (l *Layer) Bytes() int64 {
	return l.Base.Bytes() + 8*int64(len(l.Projection)) + 16*int64(len(l.Offsets)) + 32*int64(len(l.Embedder.Terms))
}

type layerTransformer struct {
	layer      *Layer
	engine     *engine.Engine
	kernel     kernel.Kernel
	projection *mat.Dense
	workers    int
}

// open prepares a layer for use. The caller must close the engine of the result.
func (l *Layer) open(ctx context.Context, o Options) (*layerTransformer, error) {
	k, err := kernel.Parse(l.Kernel)
	if err != nil {
		return nil, err
	}
	base, err := l.Embedder.TransformRows(ctx, l.Base, nil, o.Workers)
	if err != nil {
		return nil, err
	}
	e, err := engine.NewContext(ctx, base, engine.Options{ISA: o.ISA, Workers: o.Workers})
	if err != nil {
		return nil, err
	}
	return &layerTransformer{
		layer: l, engine: e, kernel: kernel.Resolve(k, len(l.Embedder.Terms)),
		projection: mat.NewDense(l.Base.Rows(), l.Width(), l.Projection), workers: o.Workers,
	}, nil
}

// transformRows returns the features of documents lo to hi-1 of x, in row-major order.
func (r *layerTransformer) transformRows(ctx context.Context, x *sparse.CSR, lo, hi int) ([]float32, error) {
	rows := run.Range(lo, hi)
	test, err := r.layer.Embedder.TransformRows(ctx, x, rows, r.workers)
	if err != nil {
		return nil, err
	}
	z := mat.NewDense(len(rows), r.layer.Width(), nil)
	if err := r.engine.Multiply(ctx, r.kernel, test, r.projection, z); err != nil {
		return nil, err
	}
	out := make([]float32, 0, len(rows)*r.layer.Width())
	for i := range rows {
		for c, v := range z.RawRowView(i) {
			f := float32(v - r.layer.Offsets[c])
			if f-f != 0 {
				return nil, fmt.Errorf("feature %d of document %d is %v: %w", c+1, lo+i+1, f, errOverflow)
			}
			out = append(out, f)
		}
	}
	return out, nil
}

var errOverflow = errors.New("kernel values overflow float32")
