package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// outCases are those of what leaves the engine and comes back: matrices for other programs, texts for
// a model.
func outCases() map[string]testCase {
	return map[string]testCase{
		"engine.IsPrecomputed":         {run: precomputedKernel},
		"kernel.IsPrecomputed":         {run: precomputedKernel},
		"sparse.FromDense":             {run: fromDense},
		"sparse.Corpus.KernelRows":     {run: kernelRows},
		"sparse.NewCounter":            {run: counters},
		"sparse.Counter.Count":         {run: counters},
		"sparse.Embedded.ValidateRows": {run: validateRows},
		"svm.NewPrecomputed":           {run: newPrecomputed},
		"svm.Predictor.PredictTexts":   {run: predictTexts},
	}
}

func precomputedKernel(p *program) {
	k := p.kernelOrOwn()
	p.quiet("of any", func() { engine.IsPrecomputed(k); kernel.IsPrecomputed(nil) })
	own := engine.Precomputed()
	p.good("itself", func() error {
		if !engine.IsPrecomputed(own) {
			p.fails("%v isn't itself", own)
		}
		engine.PropertiesOf(own)
		return nil
	})
	c := p.corpus(2)
	p.bad("in an engine", func() error {
		x, err := sparse.Embedding{}.Fit(c.Documents).Transform(c.Documents)
		if err != nil {
			return err
		}
		e, err := engine.New(x, engine.Options{})
		if err != nil {
			return err
		}
		_, err = e.Gram(p.ctx, own)
		return err
	})
	p.bad("KeptBytes", func() error {
		_, err := engine.New(p.embedded(sparse.Embedding{}, c.Documents), engine.Options{KeptBytes: -1})
		return err
	})
}

func fromDense(p *program) {
	rows, cols := p.IntN(5), p.IntN(5)
	data := make([]float32, rows*cols)
	for i := range data {
		data[i] = pick(p, float32(0), 1, -2, math.MaxFloat32)
	}
	p.good(fmt.Sprint(rows, " x ", cols), func() error {
		m, err := sparse.FromDense(rows, cols, data)
		if err == nil && (m.Rows() != rows || m.Cols != cols) {
			p.fails("%d x %d", m.Rows(), m.Cols)
		}
		return err
	})
	r, c := p.odd(), p.odd()
	p.any(fmt.Sprint(r, " x ", c), func() error { _, err := sparse.FromDense(r, c, data); return err })
	p.bad("one more value", func() error { _, err := sparse.FromDense(rows, cols, append(data, 1)); return err })
	nan := float32(math.NaN())
	p.bad("NaN", func() error { _, err := sparse.FromDense(1, 1, []float32{nan}); return err })
}

func kernelRows(p *program) {
	c := p.corpus(2)
	p.good("of rows", func() error { m, err := c.KernelRows(); return firstError(err, m.Validate) })
	c = p.corpus(2)
	c.Format = sparse.FormatSVMLight
	p.any("of an svmlight file", func() error {
		m, err := c.KernelRows()
		if err != nil {
			return err
		}
		return m.Validate()
	})
	b, why := p.brokenCorpus(2)
	b.Format = pick(p, "", sparse.FormatSVMLight)
	p.bad("of a corpus with "+why, func() error { _, err := b.KernelRows(); return err })
	p.bad("of nil", func() error { _, err := (*sparse.Corpus)(nil).KernelRows(); return err })
}

func firstError(err error, then func() error) error {
	if err != nil {
		return err
	}
	return then()
}

func counters(p *program) {
	bad := p.oddTokenizer()
	p.bad(fmt.Sprintf("%+v", bad), func() error { _, err := sparse.NewCounter(bad, nil); return err })
	p.bad("a term twice", func() error { _, err := sparse.NewCounter(sparse.Tokenizer{}, []string{"a", "a"}); return err })
	texts := []string{p.oddText(), "a b a\xff c", p.oddText()}
	p.good(fmt.Sprintf("%q", texts), func() error {
		c, err := sparse.NewCounter(sparse.Tokenizer{}, []string{"b", "a"})
		if err != nil {
			return err
		}
		m, err := c.Count(p.ctx, texts)
		if err == nil && m.Rows() != len(texts) {
			p.fails("%d rows", m.Rows())
		}
		return firstError(err, func() error { return m.Validate() })
	})
	p.bad("the zero value", func() error { _, err := (&sparse.Counter{}).Count(p.ctx, texts); return err })
	p.bad("nil", func() error { _, err := (*sparse.Counter)(nil).Count(p.ctx, texts); return err })
}

func validateRows(p *program) {
	e := p.embedding()
	p.good("of good documents", p.embedded(e, p.matrix()).ValidateRows)
	b, why := p.brokenEmbedded(e)
	p.any("of documents with "+why, b.ValidateRows)
	p.bad("of the zero value", (&sparse.Embedded{}).ValidateRows)
	p.bad("of nil", (*sparse.Embedded)(nil).ValidateRows)
}

func newPrecomputed(p *program) {
	c := p.trainingCorpus(2)
	n := c.Documents.Rows()
	data := make([]float32, n*n)
	for i := range n {
		for j := range n {
			data[i*n+j] = 1 / (1 + float32((i-j)*(i-j)))
		}
	}
	good := *c
	var err error
	if good.Documents, err = sparse.FromDense(n, n, data); err != nil {
		panic(err)
	}
	try := func(c *sparse.Corpus, opt svm.Options) func() error {
		return func() error { _, err := svm.NewPrecomputed(p.ctx, c, opt); return err }
	}
	p.good("training and prediction", func() error {
		pr, err := svm.NewPrecomputed(p.ctx, &good, svm.Options{Workers: p.IntN(3)})
		if err != nil {
			return err
		}
		m, _, err := pr.Train(p.ctx, svm.Settings{})
		if err != nil {
			return err
		}
		predictor, err := svm.NewPredictor(m, svm.PredictOptions{Workers: p.IntN(3)})
		if err != nil {
			return err
		}
		p.bad("other rows", func() error { _, err := predictor.Predict(p.ctx, p.matrixOf(3, n+1)); return err })
		out, err := predictor.Predict(p.ctx, good.Documents)
		if err == nil && len(out.Class) != n {
			p.fails("%d classes", len(out.Class))
		}
		return err
	})
	p.bad("of nil", try(nil, svm.Options{}))
	p.bad("of the zero value", try(&sparse.Corpus{}, svm.Options{}))
	p.bad("in a byte", try(&good, svm.Options{MemoryBytes: 1}))
	p.bad("workers", try(&good, svm.Options{Workers: -1}))
	skew := good
	data = slices.Clone(data)
	data[1]++
	if skew.Documents, err = sparse.FromDense(n, n, data); err != nil {
		panic(err)
	}
	p.bad("that isn't symmetric", try(&skew, svm.Options{}))
	b, why := p.brokenCorpus(2)
	p.bad("of a corpus with "+why, try(b, svm.Options{}))
}

func predictTexts(p *program) {
	c, err := sparse.FromTexts(p.ctx, []string{"a b", "b c", "a a", "c"}, []string{"x", "y", "x", "y"},
		sparse.Options{MinDF: 1})
	if err != nil {
		panic(err)
	}
	pr, err := svm.NewProblem(p.ctx, c, sparse.Sphere, svm.Options{})
	if err != nil {
		panic(err)
	}
	m, _, err := pr.Train(p.ctx, svm.Settings{})
	if err != nil {
		panic(err)
	}
	predictor, err := svm.NewPredictor(m, svm.PredictOptions{MemoryBytes: pick(p, int64(0), 1<<30)})
	if err != nil {
		panic(err)
	}
	texts := []string{"a", p.oddText(), "c b"}[:p.IntN(4)]
	for range 3 {
		p.good(fmt.Sprintf("%q", texts), func() error {
			out, err := predictor.PredictTexts(p.ctx, texts)
			if err == nil && len(out.Class) != len(texts) {
				p.fails("%d classes of %d texts", len(out.Class), len(texts))
			}
			return err
		})
	}
	vectors, err := svm.NewPredictor(p.model(), svm.PredictOptions{})
	if err != nil {
		panic(err)
	}
	p.bad("of a model of vectors", func() error { _, err := vectors.PredictTexts(p.ctx, texts); return err })
	p.bad("kernels", func() error {
		_, err := svm.NewPredictor(m, svm.PredictOptions{Kernels: []engine.Kernel{nil}})
		return err
	})
}
