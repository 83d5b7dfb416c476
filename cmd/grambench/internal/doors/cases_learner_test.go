package doors

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/gramengine/gram/sparse"
)

// call is how a learner is called: its options, whatever their type.
type call struct {
	workers int
	memory  int64
	panics  bool // the report of progress does
}

// report is a report of progress, nil unless it is to panic.
func report[T any](c call) func(T) {
	if !c.panics {
		return nil
	}
	return func(T) { panic(ownPanic) }
}

// trainings goes through trainings of a learner: settings that are fine, and some that aren't, and why.
func trainings[S any](p *program, c *sparse.Corpus, good, bad S, why string,
	train func(context.Context, *sparse.Corpus, S, call) error,
) {
	p.good(fmt.Sprintf("%+v", good), func() error {
		return train(p.ctx, c, good, call{workers: pick(p, 0, 1, 3)})
	})
	p.bad(why, func() error { return train(p.ctx, c, bad, call{}) })
	broken, why := p.brokenCorpus(2)
	p.bad(why, func() error { return train(p.ctx, broken, good, call{}) })
	p.bad("no corpus", func() error { return train(p.ctx, nil, good, call{}) })
	p.bad("no context", func() error { return train(nil, c, good, call{}) })
	p.bad("workers", func() error { return train(p.ctx, c, good, call{workers: -1}) })
	p.bad("memory", func() error { return train(p.ctx, c, good, call{memory: 1}) })
	p.bad("progress that panics", func() error { return train(p.ctx, c, good, call{panics: true}) })
	p.bad("an ended context", func() error { return train(p.ended(), c, good, call{}) })
}

// ended returns a context that has ended.
func (p *program) ended() context.Context {
	ctx, cancel := context.WithCancel(p.ctx)
	cancel()
	return ctx
}

// paths goes through lists of C: train returns how many models it made.
func paths(p *program, train func(prices []float64) (models int, err error)) {
	p.good("a path", func() error {
		models, err := train([]float64{0.1, 1})
		if err == nil && models != 2 {
			p.fails("%d models", models)
		}
		return err
	})
	for _, prices := range [][]float64{{}, {1, 1}, {-1}, {p.notFinite()}} {
		p.any(fmt.Sprint("prices ", prices), func() error { _, err := train(prices); return err })
	}
}

// stored is a model of a learner.
type stored interface {
	Validate() error
	Write(context.Context, io.Writer) error
}

// learnt is a model, a copy of it that is wrong, and what else may be done with models of its learner.
type learnt[M stored] struct {
	model, wrong M
	read         func(context.Context, io.Reader) (M, error)
	load         func(context.Context, string) (M, error)
	predict      func(context.Context, M, *sparse.CSR, call) error // and checks that all is finite
	silent       bool                                              // predict reports no progress
}

// models writes, reads and applies a model.
func models[M stored](p *program, documents *sparse.CSR, l learnt[M]) {
	var file bytes.Buffer
	p.good("Write", func() error { return l.model.Write(p.ctx, &file) })
	p.bad("Write to nothing", func() error { return l.model.Write(p.ctx, nil) })
	data := file.Bytes()
	read := func(r io.Reader) func() error {
		return func() error { _, err := l.read(p.ctx, r); return err }
	}
	p.good("Read", read(bytes.NewReader(data)))
	p.bad("Read of a part", read(bytes.NewReader(data[:p.IntN(len(data))])))
	p.bad("Read of nothing", read(nil))
	path := p.file("x.model", string(data))
	p.good("Load", func() error { _, err := l.load(p.ctx, path); return err })
	p.bad("Load of no file", func() error { _, err := l.load(p.ctx, path+"x"); return err })
	p.good("Predict", func() error { return l.predict(p.ctx, l.model, documents, call{workers: pick(p, 0, 1, 3)}) })
	p.bad("Predict of nothing", func() error { return l.predict(p.ctx, l.model, nil, call{}) })
	broken, why := p.broken()
	p.bad("Predict: "+why, func() error { return l.predict(p.ctx, l.model, broken, call{}) })
	p.bad("Predict with workers", func() error { return l.predict(p.ctx, l.model, documents, call{workers: -1}) })
	if !l.silent {
		p.bad("Predict with a panic", func() error { return l.predict(p.ctx, l.model, documents, call{panics: true}) })
	}
	p.bad("Predict in an ended context", func() error { return l.predict(p.ended(), l.model, documents, call{}) })
	p.bad("Validate", l.wrong.Validate)
	p.bad("Write of a wrong model", func() error { return l.wrong.Write(p.ctx, &bytes.Buffer{}) })
	p.bad("Predict with a wrong model", func() error { return l.predict(p.ctx, l.wrong, documents, call{}) })
	var none M
	p.bad("no model", none.Validate)
	p.bad("Write of no model", func() error { return none.Write(p.ctx, &bytes.Buffer{}) })
	p.bad("Predict with no model", func() error { return l.predict(p.ctx, none, documents, call{}) })
}

// early has Load of a learner hear no news of the tokenizer.
func early[M any](load func(context.Context, string, func(sparse.Tokenizer)) (M, error)) func(context.Context, string) (
	M, error,
) {
	return func(ctx context.Context, path string) (M, error) { return load(ctx, path, nil) }
}
