package doors

import (
	"context"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/learn/knn"
	"github.com/gramengine/gram/learn/landmark"
	"github.com/gramengine/gram/learn/linear"
	"github.com/gramengine/gram/learn/lmnn"
	"github.com/gramengine/gram/learn/logistic"
	"github.com/gramengine/gram/learn/mkm"
	"github.com/gramengine/gram/learn/pca"
	"github.com/gramengine/gram/learn/selection"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/learn/width"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// mostAfterTheEnd is what a call whose context has ended may allocate, in bytes: far less than the
// work takes here that it is not to begin.
const mostAfterTheEnd = 512 << 10

// TestEnded has all long work begin with a context that has ended: it returns that error, and before
// it allocates what the work takes. Filling that with zeros took 48 s for 40,000 documents.
func TestEnded(t *testing.T) {
	live := context.Background()
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	read := func(name string) *sparse.Corpus {
		c, err := sparse.Read(live, name, sparse.Options{})
		must(err)
		return c
	}
	c := read("synthetic:docs=4000,terms=4000,length=40,classes=4")
	few := read("synthetic:docs=200,terms=4000,length=40,classes=4")
	k, err := engine.ParseKernel("diffusion:t=1")
	must(err)
	embedding := k.Embedding()
	x, err := embedding.Fit(c.Documents).Transform(c.Documents)
	must(err)
	e, err := engine.New(x, engine.Options{Workers: 2})
	must(err)
	cached, err := e.Cached(engine.CachedOptions{})
	must(err)
	opt := svm.Options{Workers: 2}
	p, err := svm.NewProblem(live, c, embedding, opt)
	must(err)
	s := svm.Settings{Kernel: k}
	little, err := svm.NewProblem(live, few, embedding, opt)
	must(err)
	machines, _, err := little.Train(live, s)
	must(err)
	predictor, err := svm.NewPredictor(machines, svm.PredictOptions{Workers: 2})
	must(err)
	dot, err := sparse.ParseEmbedding("tf-l2")
	must(err)
	lines, err := linear.Train(live, few, dot, linear.Settings{}, linear.Options{})
	must(err)
	curves, err := logistic.Train(live, few, dot, logistic.Settings{}, logistic.Options{})
	must(err)
	near, err := knn.Train(c, knn.Settings{})
	must(err)
	on, err := landmark.Train(live, few, landmark.Settings{Landmarks: 20}, landmark.Options{})
	must(err)
	layers := mkm.Settings{Layers: []string{"arccos:n=0"}, Widths: []int{20}, Components: 10, Final: mkm.Neighbours}
	deep, err := mkm.Train(live, few, layers, mkm.Options{})
	must(err)
	dense := mat.NewDense(c.Documents.Rows(), 200, nil)
	labels := make([]int32, c.Documents.Rows())
	vectors, product := mat.NewDense(e.Len(), 200, nil), mat.NewDense(e.Len(), 200, nil)
	rows, err := e.Rectangle(k, x, 64<<20)
	must(err)
	kernels := []engine.Kernel{k}
	all := make([]int, e.Len())
	for i := range all {
		all[i] = i
	}
	parts := make([]int, e.Len())
	for i := range parts {
		parts[i] = i % 2
	}
	square := &engine.Symmetric{N: e.Len(), Data: make([]float32, e.Len()*e.Len())}
	matrix, err := solver.NewDense(square.N, square.Data)
	must(err)

	work := map[string]func(context.Context) error{
		"engine.NewContext": func(ctx context.Context) error {
			_, err := engine.NewContext(ctx, x, engine.Options{})
			return err
		},
		"engine.Gram":   func(ctx context.Context) error { _, err := e.Gram(ctx, k); return err },
		"engine.GramOf": func(ctx context.Context) error { _, err := e.GramOf(ctx, k, all); return err },
		"engine.Cross":  func(ctx context.Context) error { _, err := e.Cross(ctx, k, x); return err },
		"engine.Digest": func(ctx context.Context) error { _, err := e.Digest(ctx, k); return err },
		"engine.Stripes": func(ctx context.Context) error {
			return e.Stripes(ctx, k, func(int, *engine.Dense) error { return nil })
		},
		"engine.Tiles": func(ctx context.Context) error {
			return e.Tiles(ctx, func(*engine.Tile) error { return nil })
		},
		"engine.Multiply":      func(ctx context.Context) error { return e.Multiply(ctx, k, vectors, product) },
		"engine.CrossMultiply": func(ctx context.Context) error { return e.CrossMultiply(ctx, k, x, vectors, product) },
		"engine.WriteTiles":    func(ctx context.Context) error { return e.WriteTiles(ctx, 0, e.Len(), io.Discard) },
		"Rectangle.Multiply":   func(ctx context.Context) error { return rows.Multiply(ctx, vectors, product) },
		"Rectangle.Pass": func(ctx context.Context) error {
			return rows.Pass(ctx, vectors, func(int, *mat.Dense) error { return nil }, product)
		},
		"engine.Neighbours": func(ctx context.Context) error {
			_, err := e.Neighbours(ctx, k, engine.NeighbourOptions{Count: 200})
			return err
		},
		"engine.CrossNeighbours": func(ctx context.Context) error {
			_, err := e.CrossNeighbours(ctx, k, x, engine.NeighbourOptions{Count: 200})
			return err
		},
		"engine.PairsWithin": func(ctx context.Context) error {
			return e.PairsWithin(ctx, 0.1, func(int, int, float32) error { return nil })
		},
		"Cached.Build": cached.Build,
		"Cached.Ready": func(ctx context.Context) error { _, err := cached.Ready(ctx, k); return err },
		"Cached.Rows": func(ctx context.Context) error {
			return cached.Rows(ctx, k, []int{0}, [][2]int{{0, e.Len()}}, [][]float32{make([]float32, e.Len())})
		},
		"spectrum.All": func(ctx context.Context) error {
			_, err := spectrum.All(ctx, square, 2)
			return err
		},
		"svm.NewProblem": func(ctx context.Context) error {
			_, err := svm.NewProblem(ctx, c, embedding, opt)
			return err
		},
		"svm.Problem.Build": p.Build,
		"svm.Problem.Train": func(ctx context.Context) error { _, _, err := p.Train(ctx, s); return err },
		"svm.Problem.CrossValidate": func(ctx context.Context) error {
			_, err := p.CrossValidate(ctx, s, 3, 1)
			return err
		},
		"svm.Problem.Search": func(ctx context.Context) error {
			_, err := p.Search(ctx, s, svm.Grid{Kernels: kernels, C: []float64{1, 10}}, nil)
			return err
		},
		"svm.SearchCorpus": func(ctx context.Context) error {
			_, err := svm.SearchCorpus(ctx, c, s, svm.Grid{Kernels: kernels}, opt, nil)
			return err
		},
		"svm.Choose": func(ctx context.Context) error {
			_, err := svm.Choose(ctx, c, s, svm.Candidates{C: []float64{1, 10}}, opt)
			return err
		},
		"svm.Predictor.Predict": func(ctx context.Context) error {
			_, err := predictor.Predict(ctx, c.Documents)
			return err
		},
		"linear.Train": func(ctx context.Context) error {
			_, err := linear.Train(ctx, c, dot, linear.Settings{}, linear.Options{})
			return err
		},
		"linear.Predict": func(ctx context.Context) error {
			_, err := lines.Predict(ctx, c.Documents, linear.Options{})
			return err
		},
		"logistic.Train": func(ctx context.Context) error {
			_, err := logistic.Train(ctx, c, dot, logistic.Settings{}, logistic.Options{})
			return err
		},
		"logistic.Choose": func(ctx context.Context) error {
			_, _, err := logistic.Choose(ctx, c, dot, logistic.Settings{}, []float64{1, 10}, 3, 1, logistic.Options{})
			return err
		},
		"logistic.Predict": func(ctx context.Context) error {
			_, err := curves.Predict(ctx, c.Documents, logistic.Options{})
			return err
		},
		"knn.Predict": func(ctx context.Context) error {
			_, err := near.Predict(ctx, c.Documents, knn.Options{})
			return err
		},
		"knn.CrossValidate": func(ctx context.Context) error {
			_, err := knn.CrossValidate(ctx, c, []knn.Settings{{}}, parts, knn.Options{})
			return err
		},
		"landmark.Train": func(ctx context.Context) error {
			_, err := landmark.Train(ctx, c, landmark.Settings{}, landmark.Options{})
			return err
		},
		"landmark.Choose": func(ctx context.Context) error {
			_, err := landmark.Choose(ctx, c, landmark.Settings{Choice: landmark.Pivoted}, landmark.Options{})
			return err
		},
		"landmark.Grow": func(ctx context.Context) error {
			_, _, err := landmark.Grow(ctx, c, landmark.Settings{}, landmark.Options{}, 0, 0, nil)
			return err
		},
		"landmark.Predict": func(ctx context.Context) error {
			_, err := on.Predict(ctx, c.Documents, landmark.Options{})
			return err
		},
		"lmnn.Train": func(ctx context.Context) error {
			_, err := lmnn.Train(ctx, c, lmnn.Settings{}, lmnn.Options{})
			return err
		},
		"mkm.Train": func(ctx context.Context) error {
			_, err := mkm.Train(ctx, c, layers, mkm.Options{})
			return err
		},
		"mkm.Predict": func(ctx context.Context) error {
			_, err := deep.Predict(ctx, c.Documents, mkm.Options{})
			return err
		},
		"pca.Fit": func(ctx context.Context) error {
			_, err := pca.Fit(ctx, e, x, k, pca.Options{Components: 50})
			return err
		},
		"pca.FitLandmarks": func(ctx context.Context) error {
			_, err := pca.FitLandmarks(ctx, e, x, k, c.Documents, pca.Options{Components: 50})
			return err
		},
		"selection.Rank": func(ctx context.Context) error {
			_, err := selection.Rank(ctx, c, selection.Options{})
			return err
		},
		"width.Search": func(ctx context.Context) error {
			set := width.Set{Features: dense, Labels: labels}
			_, err := width.Search(ctx, set, set, width.Options{})
			return err
		},
		"solver.Train": func(ctx context.Context) error {
			_, err := solver.Train(ctx, matrix, solver.Training{Labels: parts, Classes: 2}, solver.Options{})
			return err
		},
	}
	ended, cancel := context.WithCancel(live)
	cancel()
	for _, name := range slices.Sorted(maps.Keys(work)) {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := work[name](ended)
			runtime.ReadMemStats(&after)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, expected that of the context", err)
			}
			if bytes := after.TotalAlloc - before.TotalAlloc; !(bytes <= mostAfterTheEnd) {
				t.Errorf("%d bytes allocated, expected at most %d", bytes, mostAfterTheEnd)
			}
		})
	}
}
