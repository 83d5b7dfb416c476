package gram_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

var errCallback = errors.New("broken")

// panicsIn implements a matrix, an operator and a reader, whose methods panic.
type panicsIn struct{ *solver.Dense }

func (panicsIn) Rows(context.Context, []int, [][2]int, [][]float32) error { panic(errCallback) }
func (panicsIn) Row(int) []float32                                        { panic(errCallback) }
func (panicsIn) SymmetricDim() int                                        { return 3 }
func (panicsIn) Dim() int                                                 { return 3 }
func (panicsIn) Dims() (int, int)                                         { return 3, 3 }
func (p panicsIn) T() mat.Matrix                                          { return p }
func (panicsIn) At(int, int) float64                                      { panic(errCallback) }
func (panicsIn) Apply(context.Context, *mat.Dense, *mat.Dense) error      { panic(errCallback) }
func (panicsIn) Read([]byte) (int, error)                                 { panic(errCallback) }

// rowsOnly hides Row, so that the solver calls Rows.
type rowsOnly struct{ solver.Matrix }

// The panic of a callback becomes a PanicError that names the callback, for every calling package.
func TestPanicsOfCallbacks(t *testing.T) {
	ctx, c := t.Context(), few(t)
	x := musttest.Get(sparse.SphereEmbedding.Fit(c.Documents).Transform(c.Documents))(t)
	e := musttest.Get(engine.New(x, engine.Options{}))(t)
	defer e.Close()
	in := panicsIn{musttest.Get(solver.NewDense(3, make([]float32, 9)))(t)}
	// The kernel panics for c from 0.3 to 0.9, so that kernel.New accepts it after trying 0, 0.25
	// and 1.
	own := musttest.Get(kernel.New(kernel.Custom{Name: "mine", Embedding: sparse.SphereEmbedding,
		Eval: func(c, _, _ float64) float64 {
			if c > 0.3 && c < 0.9 {
				panic(errCallback)
			}
			return 1 - c
		}}))(t)
	failing := gram.Options{Progress: func(gram.Progress) { panic(errCallback) }, Kernels: []kernel.Kernel{own}}
	warned := gram.Options{Warn: func(string) { panic(errCallback) }}
	visit := func() { panic(errCallback) }
	training := solver.Training{Labels: []int{0, 1, 1}, Classes: 2,
		Parameters: solver.Parameters{Regularization: solver.Regularization{C: 1}}}
	diffusion := kernel.MustParse("diffusion:t=1")
	of := func(_ any, err error) error { return err }
	for at, test := range []struct {
		want string
		err  error
	}{
		{"gram: Options.Progress", of(gram.Read(ctx, "synthetic:docs=9", gram.ReadOptions{Options: failing}))},
		{"gram: Options.Progress", of(gram.Gram(ctx, c, "", failing))},
		{"gram: Options.Progress", of(gram.Train(ctx, c, gram.TrainOptions{Options: failing, C: 1}))},
		{"gram: Options.Progress", of(gram.Train(ctx, c, gram.TrainOptions{Options: failing, Type: "linear"}))},
		{"gram: Options.Progress", of(gram.Train(ctx, c, gram.TrainOptions{Options: failing, Type: "logistic"}))},
		{"gram: Options.Progress", of(gram.Spectrum(ctx, c, gram.SpectrumOptions{Options: failing}))},
		{"gram: Options.Warn", of(gram.Train(ctx, c, gram.TrainOptions{Options: warned, Type: "linear:passes=1", C: 1e6}))},
		{"gram: kernel mine", of(gram.Gram(ctx, c, "mine", gram.Options{Kernels: failing.Kernels}))},
		{"engine: kernel mine", of(e.Gram(ctx, own, nil))},
		{"engine: kernel mine", of(e.Neighbours(ctx, own, engine.NeighbourOptions{Count: 1}))},
		{"engine: visit", e.EachTile(ctx, nil, engine.Request{}, func(*engine.Tile) error { visit(); return nil })},
		{"engine: Options.Progress", func() error {
			e := musttest.Get(engine.New(x, engine.Options{Progress: func(engine.Progress) { visit() }}))(t)
			defer e.Close()
			return of(e.Gram(ctx, diffusion, nil))
		}()},
		{"spectrum: the matrix", of(spectrum.Eigenvalues(ctx, in, 1))},
		{"spectrum: Apply", of(spectrum.Lanczos(ctx, in, spectrum.Options{K: 1}))},
		{"solver: Matrix.Row", of(solver.Train(ctx, in, training, solver.Options{}))},
		{"solver: Matrix.Rows", of(solver.Train(ctx, rowsOnly{in}, training, solver.Options{}))},
		{"solver: Options.Progress", of(solver.Train(ctx, in.Dense, training,
			solver.Options{Progress: func(solver.Progress) { visit() }}))},
		{"corpus: Options.Progress", of(corpus.ReadFrom(ctx, strings.NewReader("x\ta\n"), "a.tsv",
			corpus.Options{Progress: func(corpus.Progress) { visit() }}))},
		{"corpus: Options.LoadVocabulary", of(corpus.ReadFrom(ctx, strings.NewReader("x\ta\n"), "a.tsv",
			corpus.Options{LoadVocabulary: func() ([]string, error) { visit(); return nil, nil }}))},
		{"corpus: the reader", of(corpus.ReadFrom(ctx, io.Reader(in), "a.tsv", corpus.Options{}))},
	} {
		failed := (*engine.PanicError)(nil)
		if !errors.As(test.err, &failed) || !errors.Is(test.err, errCallback) ||
			!strings.HasSuffix(test.err.Error(), test.want+" panicked: broken") {
			t.Errorf("%d: error %v, expected %s panicked: broken", at, test.err, test.want)
		}
	}
}
