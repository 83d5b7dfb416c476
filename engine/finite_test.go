package engine

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// finiteMethods are all methods that return kernel values or results computed from kernel values.
var finiteMethods = map[string]func(ctx context.Context, e *Engine, k kernel.Kernel) error{
	"Engine.Gram": func(ctx context.Context, e *Engine, k kernel.Kernel) error { return of(e.Gram(ctx, k, nil)) },
	"Engine.Rows": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		return of(e.Rows(ctx, k, Request{TestDocuments: e.c.X}, nil))
	},
	"Engine.EachTile": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		return e.EachTile(ctx, k, Request{OmitSymmetric: true}, func(*Tile) error { return nil })
	},
	"Engine.Neighbours": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		return of(e.Neighbours(ctx, k, NeighbourOptions{Count: 2}))
	},
	"Engine.Neighbours, Test": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		return of(e.Neighbours(ctx, k, NeighbourOptions{Count: 2, TestDocuments: e.c.X}))
	},
	"Engine.NeighbourBlock":  mergedNeighbours, // if keys are c, merging blocks computes the values
	"Engine.MergeNeighbours": mergedNeighbours,
	"Engine.Multiply": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		return e.Multiply(ctx, k, nil, mat.NewDense(e.Len(), 1, nil), mat.NewDense(e.Len(), 1, nil))
	},
	"Engine.Multiply, test": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		return e.Multiply(ctx, k, e.c.X, mat.NewDense(e.Len(), 1, nil), mat.NewDense(e.Len(), 1, nil))
	},
	"Engine.CrossMatrix": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		r, err := e.CrossMatrix(k, e.c.X, 0)
		if err != nil {
			return err
		}
		turn := func(int, *mat.Dense) error { return nil }
		return r.MultiplyTwice(ctx, mat.NewDense(e.Len(), 1, nil), turn, mat.NewDense(e.Len(), 1, nil))
	},
	"Engine.Diagonal": func(_ context.Context, e *Engine, k kernel.Kernel) error {
		return of(e.Diagonal(k))
	},
	"Engine.Digest": func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		return of(e.Digest(ctx, k))
	},
	"Cache.Matrix": withCache(func(_ context.Context, c *Cache, k kernel.Kernel) error {
		return of(c.Matrix(k))
	}),
	"Cache.Rows": withCache(func(ctx context.Context, c *Cache, k kernel.Kernel) error {
		return c.Rows(ctx, k, []int{1}, [][2]int{{0, 3}}, [][]float32{make([]float32, 3)})
	}),
	"Matrix.Submatrix": withCache(func(ctx context.Context, c *Cache, k kernel.Kernel) error {
		m, err := c.Matrix(k)
		if err == nil {
			_, err = m.Submatrix(ctx, []int{0, 1, 7})
		}
		return err
	}),
	"Matrix.InMemory": withCache(func(ctx context.Context, c *Cache, k kernel.Kernel) error {
		return of(readyOf(ctx, c, k))
	}),
}

func mergedNeighbours(ctx context.Context, e *Engine, k kernel.Kernel) error {
	opt := NeighbourOptions{Count: 2}
	all := [2]int{0, e.Len()}
	b, err := e.NeighbourBlock(ctx, k, all, all, opt)
	if err != nil {
		return err
	}
	_, err = e.MergeNeighbours(ctx, k, 0, [][][]Neighbour{b.Rows}, opt)
	return err
}

func withCache(
	call func(context.Context, *Cache, kernel.Kernel) error,
) func(context.Context, *Engine, kernel.Kernel) error {
	return func(ctx context.Context, e *Engine, k kernel.Kernel) error {
		c, err := e.NewCache(CacheOptions{})
		if err != nil {
			return err
		}
		return call(ctx, c, k)
	}
}

// A value that isn't finite gives the same error from every method. The test fails for a new method
// with a kernel argument that isn't in finiteMethods.
func TestFinite(t *testing.T) {
	for _, of := range []any{&Engine{}, &Cache{}} {
		for i, kind := 0, reflect.TypeOf(of); i < kind.NumMethod(); i++ {
			m := kind.Method(i)
			name := kind.Elem().Name() + "." + m.Name
			for in := range m.Type.NumIn() {
				if m.Type.In(in) == reflect.TypeFor[kernel.Kernel]() && finiteMethods[name] == nil {
					t.Errorf("%s takes a kernel and isn't tried", name)
				}
			}
		}
	}
	docs := enginetest.Zipf(130, 60, 8, 5)
	copied := docs.SelectRows(append([]int{9, 9, 9}, run.Range(0, 130)...)) // with neighbours at c = 0
	custom := func(name string, inf float64) kernel.Kernel {
		return musttest.Get(kernel.New(kernel.Custom{
			Name: name, Embedding: sparse.SphereEmbedding, Properties: kernel.Properties{PositiveDiagonal: true},
			Eval: func(c, _, _ float64) float64 {
				if c < 0.1 {
					return inf
				}
				return 1 - c
			},
		}))(t)
	}
	for _, k := range []kernel.Kernel{
		parse(t, "power(arccos:n=2):p=19"), // a function of norms
		parse(t, "exp(100*bhattacharyya)"), // known to decrease in c
		custom("infinite", 1e40), custom("negative", -1e40), custom("no-number", math.NaN()),
	} {
		e := newEngine(t, enginetest.EmbedCSR(t, k.Embedding(), copied), Options{ISA: "generic", Workers: 2})
		for name, call := range finiteMethods {
			musttest.WantError(call(t.Context(), e, k))(t, fmt.Sprintf("%s of %s", name, k), k.String(), ErrNotFinite)
		}
	}
}

// Values that aren't requested may be infinite, such as values of earlier columns, which are also
// computed.
func TestFiniteWhereAsked(t *testing.T) {
	docs := enginetest.Zipf(130, 60, 8, 5)
	for at := range docs.Offsets[1] {
		docs.Values[at] = 1e12
	}
	k := parse(t, "polynomial:gamma=1,degree=4")
	e := newEngine(t, enginetest.EmbedCSR(t, k.Embedding(), docs), Options{Workers: 2})
	musttest.WantError(e.Gram(t.Context(), k, nil))(t, "values that aren't finite after the first document")
	if _, err := e.NeighbourBlock(t.Context(), k, [2]int{40, 60}, [2]int{1, 30}, NeighbourOptions{Count: 3}); err != nil {
		t.Error(err)
	}
}

// A value that isn't finite is found at any position, and finite values aren't.
func TestFiniteEach(t *testing.T) {
	inf := float32(math.Inf(1))
	for n := range 20 {
		v := make([]float32, n)
		for i := range v {
			v[i] = []float32{math.MaxFloat32, -math.MaxFloat32, 0, -1e-45, 1}[i%5]
		}
		if i := compute.FirstNonFinite(v); i >= 0 {
			t.Error(n, i)
		}
		for i, old := range v {
			for _, bad := range []float32{inf, -inf, inf - inf, -(inf - inf), math.Float32frombits(0x7f800001)} {
				v[i] = bad
				if at := compute.FirstNonFinite(v); at != i {
					t.Errorf("%d of %d: found %d", i, n, at)
				}
			}
			v[i] = old
		}
	}
}
