//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// On the device, every kernel of the catalogue in its default embedding, and some with normalised
// documents, is within its tolerance of the float64 reference, and symmetric bit for bit. The
// number of documents is a multiple of no block size, and the last two documents are empty.
func TestEveryKernel(t *testing.T) {
	noLeaks(t)
	const n = 61
	counts := zipf(n-2, 150, 10, 5)
	nothing := counts.Offsets[n-2]
	counts.Offsets = append(counts.Offsets, nothing, nothing)
	d := open(t, Options{})
	engines := map[sparse.Embedding]*engine.Engine{}
	documents := map[sparse.Embedding]*sparse.Embedded{}
	specs := 0
	normalised := kernel.Info{Examples: []string{"linear:embed=tf-l2", "ned:embed=tf-l2",
		"rbf:gamma=0.5,embed=tf-l2",
		"arccos:n=0,embed=tf-l2", "arccos:n=1,layers=2,embed=tf-l2", "arccos:n=0,sigma=0.5,embed=tf-l2"}}
	for _, info := range append(kernel.Catalogue(), normalised) {
		for _, spec := range info.Examples {
			k := musttest.Get(kernel.Parse(spec))(t)
			e, x := engines[k.Embedding()], documents[k.Embedding()]
			if e == nil {
				x = musttest.Get(k.Embedding().Fit(counts).Transform(counts))(t)
				load := func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) { return d.Load(ctx, x) }
				e = musttest.Get(engine.New(x, engine.Options{Workers: 2, Device: load}))(t)
				engines[k.Embedding()], documents[k.Embedding()] = e, x
			}
			k = kernel.Resolve(k, len(x.Embedder.Terms))
			specs++
			g := musttest.Get(e.Gram(t.Context(), k, nil))(t)
			ref := engine.NewReference(x)
			for i := range n {
				for j := range n {
					c, a, b := ref.C(i, j), x.Norms[i], x.Norms[j]
					if got, want := float64(g.Row(i)[j]), k.Eval(c, a, b); !kernel.WithinTolerance(k, got, want, c, a, b) {
						t.Fatalf("%s: (%d, %d): found %v, expected %v, tolerance %v",
							spec, i, j, got, want, kernel.Tolerance(k, c, a, b))
					}
					if g.Row(i)[j] != g.Row(j)[i] {
						t.Fatalf("%s: (%d, %d) is %v, (%d, %d) is %v", spec, i, j, g.Row(i)[j], j, i, g.Row(j)[i])
					}
				}
			}
		}
	}
	if specs < 36 {
		t.Errorf("%d kernels, expected all", specs)
	}
	var err error
	for _, e := range engines {
		err = errors.Join(err, e.Close())
	}
	if err = errors.Join(err, d.Close()); err != nil {
		t.Error(err)
	}
}
