package gram_test

import (
	"context"
	"errors"
	"path"
	"reflect"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/learn/knn"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/learn/linear"
	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/learn/pca"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// maxAfterTheEnd is the maximum number of bytes that a call with a done context may allocate. A
// call that does its work would allocate far more.
const maxAfterTheEnd = 512 << 10

// TestEnded calls every long-running function with a done context. The call must return the
// context's error before it allocates memory for its work, because zeroing this memory took 48 s
// for 40,000 documents.
func TestEnded(t *testing.T) {
	live := context.Background()
	c := gram.Must(corpus.Read(live, "synthetic:docs=4000,terms=4000,length=40,classes=4", corpus.Options{}))
	few := gram.Must(corpus.Read(live, "synthetic:docs=200,terms=4000,length=40,classes=4", corpus.Options{}))
	k := gram.Must(kernel.Parse("diffusion:t=1"))
	embedding := k.Embedding()
	x := gram.Must(embedding.Fit(c.Documents).Transform(c.Documents))
	e := gram.Must(engine.New(x, engine.Options{Workers: 2}))
	cached := gram.Must(e.NewCache(engine.CacheOptions{}))
	opt := svm.Options{Workers: 2}
	p := gram.Must(svm.NewProblem(live, c, embedding, opt))
	served := gram.Must(cached.Matrix(k))
	s := svm.Settings{Kernel: k}
	little := gram.Must(svm.NewProblem(live, few, embedding, opt))
	machines, _, err := little.Train(live, s)
	musttest.NoError(t, err)
	predictor := gram.Must(svm.NewPredictor(t.Context(), machines, svm.Options{Workers: 2}))
	dot := gram.Must(sparse.ParseEmbedding("tf-l2"))
	lines := gram.Must(linear.Train(live, few, dot, linear.Settings{}, linear.Options{}))
	curves := gram.Must(logistic.Train(live, few, dot, logistic.Settings{}, logistic.Options{}))
	near := gram.Must(knn.Train(c, knn.Settings{}))
	on := gram.Must(landmark.Train(live, few, landmark.Settings{Landmarks: 20}, landmark.Options{}))
	vectors, product := mat.NewDense(e.Len(), 200, nil), mat.NewDense(e.Len(), 200, nil)
	rows := gram.Must(e.CrossMatrix(k, x, 64<<20))
	all, parts := make([]int, e.Len()), make([]int, e.Len())
	for i := range all {
		all[i], parts[i] = i, i%2
	}
	square := &engine.Symmetric{N: e.Len(), Data: make([]float32, e.Len()*e.Len())}
	matrix := gram.Must(solver.NewDense(square.N, square.Data))

	many := engine.NeighbourOptions{Count: 200}
	work := [][]any{ // functions with their arguments except the context; missing arguments are zero values
		{engine.NewContext, x}, {e.Gram, k}, {e.Rows, k, engine.Request{TestDocuments: x}}, {e.Digest, k},
		{e.EachTile, k, engine.Request{OmitSymmetric: true}, func(*engine.Tile) error { return nil }},
		{e.Multiply, k, (*sparse.Embedded)(nil), vectors, product}, {e.Multiply, k, x, vectors, product},
		{rows.Multiply, vectors, product}, {rows.MultiplyTwice, vectors, func(int, *mat.Dense) error { return nil }, product},
		{e.Neighbours, k, many}, {e.Neighbours, k, engine.NeighbourOptions{Count: 200, TestDocuments: x}},
		{engine.GroupsWithin, x, 0.1}, {cached.Build}, {served.Materialise}, {served.Submatrix, all},
		{cached.Rows, k, []int{0}, [][2]int{{0, e.Len()}}, [][]float32{make([]float32, e.Len())}},
		{spectrum.Eigenvalues, square, 2},
		{svm.NewProblem, c, embedding, opt}, {p.ComputeTiles}, {p.Train, s},
		{(&svm.Evaluator{Settings: s}).Evaluate, []tune.Candidate{{Kernel: k}}},
		{predictor.Predict, c.Documents}, {lines.Predict, c.Documents},
		{logistic.Train, c, dot},
		{curves.Predict, c.Documents}, {near.Predict, c.Documents},
		{on.Predict, c.Documents}, {pca.Fit, e, x, k, pca.Options{NumComponents: 50}},
		{pca.FitNystrom, e, x, k, c.Documents, pca.Options{NumComponents: 50}},
		{solver.Train, matrix, solver.Training{Labels: parts, Classes: 2}},
	}
	ended, cancel := context.WithCancel(live)
	cancel()
	for _, call := range work {
		f := reflect.ValueOf(call[0])
		arguments := []reflect.Value{reflect.ValueOf(ended)}
		for i := 1; i < f.Type().NumIn(); i++ {
			if i < len(call) {
				arguments = append(arguments, reflect.ValueOf(call[i]))
			} else {
				arguments = append(arguments, reflect.Zero(f.Type().In(i)))
			}
		}
		t.Run(path.Base(runtime.FuncForPC(f.Pointer()).Name()), func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			results := f.Call(arguments)
			runtime.ReadMemStats(&after)
			if err, _ := results[len(results)-1].Interface().(error); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, expected that of the context", err)
			}
			if bytes := after.TotalAlloc - before.TotalAlloc; !(bytes <= maxAfterTheEnd) {
				t.Errorf("%d bytes allocated, expected at most %d", bytes, maxAfterTheEnd)
			}
		})
	}
}
