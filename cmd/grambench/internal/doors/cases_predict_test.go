package doors

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

func predict(p *program) {
	m := p.model()
	opt := svm.PredictOptions{ISA: pick(p, append(isas(), "")...), Workers: p.IntN(3)}
	var pr *svm.Predictor
	if !p.good("NewPredictor", func() (err error) { pr, err = svm.NewPredictor(m, opt); return err }) {
		return
	}
	docs := p.matrix()
	var result *svm.Prediction
	p.good(fmt.Sprint("Predict of ", docs.Rows()), func() (err error) {
		result, err = pr.Predict(p.ctx, docs)
		if err == nil {
			if len(result.Decisions) != docs.Rows() {
				p.fails("%d decisions, expected %d", len(result.Decisions), docs.Rows())
			}
			for _, f := range result.Decisions {
				finite(p, "decisions", f)
			}
		}
		return err
	})
	p.good("Predict from four goroutines", func() error {
		var group errgroup.Group
		for range 4 {
			group.Go(func() error {
				again, err := pr.Predict(p.ctx, docs)
				if err == nil && result != nil && !reflect.DeepEqual(again.Decisions, result.Decisions) {
					p.fails("other decisions from several goroutines")
				}
				return err
			})
		}
		return group.Wait()
	})
	b, why := p.broken()
	p.bad("Predict of a matrix with "+why, func() error { _, err := pr.Predict(p.ctx, b); return err })
	p.bad("Predict of nil", func() error { _, err := pr.Predict(p.ctx, nil); return err })
	huge := clone(p.documents())
	for k := range huge.Values {
		huge.Values[k] = pick(p, float32(math.MaxFloat32), math.SmallestNonzeroFloat32, 1e30)
	}
	p.any("Predict of huge values", func() error {
		r, err := pr.Predict(p.ctx, huge)
		if err == nil {
			for i, f := range r.Decisions {
				for _, v := range f {
					if v != v {
						p.fails("%s: decision of document %d is NaN without an error", m.Kernel, i)
					}
				}
			}
		}
		return err
	})
	p.any("Holding", func() error { _, err := pr.Holding(int64(p.odd())).Predict(p.ctx, docs); return err })
	if result != nil {
		truth := &sparse.Corpus{Documents: docs, Classes: m.Classes}
		for range docs.Rows() {
			truth.Labels.Add(int32(p.IntN(len(m.Classes))))
		}
		p.good("Score", func() error { _, err := result.Score(m, truth); return err })
		p.bad("Score of a label too many", func() error {
			more := *truth
			more.Labels = sparse.Labels{Offsets: slices.Clone(truth.Labels.Offsets),
				IDs: slices.Clone(truth.Labels.IDs)}
			more.Labels.Add(0)
			_, err := result.Score(m, &more)
			return err
		})
		p.bad("Score of nil", func() error { _, err := result.Score(m, nil); return err })
		p.bad("Score by nil", func() error { _, err := result.Score(nil, truth); return err })
		p.any("Score of the zero value", func() error { _, err := (&svm.Prediction{}).Score(m, truth); return err })
	}
	p.bad("NewPredictor of nil", func() error { _, err := svm.NewPredictor(nil, opt); return err })
	p.bad("NewPredictor of the zero value", func() error {
		_, err := svm.NewPredictor(&model.Model{}, opt)
		return err
	})
	unknown := *m
	unknown.Kernel = pick(p, "nonsense", "diffusion:t=-1", "precomputed:t=1")
	p.bad("NewPredictor of a model of the kernel "+unknown.Kernel, func() error {
		_, err := svm.NewPredictor(&unknown, opt)
		return err
	})
	w, why := p.spoil(m)
	p.bad("NewPredictor of a model with "+why, func() error { _, err := svm.NewPredictor(w, opt); return err })
	p.bad("NewPredictor of an instruction set that there isn't", func() error {
		_, err := svm.NewPredictor(m, svm.PredictOptions{ISA: "none"})
		return err
	})
	p.any("NewPredictor of any options", func() error {
		o := svm.PredictOptions{Workers: pick(p, -1, math.MinInt), MemoryBytes: int64(p.odd()),
			HeldBytes: int64(p.odd())}
		pr, err := svm.NewPredictor(m, o)
		if err == nil {
			_, err = pr.Predict(p.ctx, docs)
		}
		return err
	})
	p.good("Close", pr.Close)
	p.any("Close twice", pr.Close)
	p.any("Predict after Close", func() error { _, err := pr.Predict(p.ctx, docs); return err })
}

func svmCallbacks(p *program) {
	c := p.trainingCorpus(2)
	device := func(context.Context, *sparse.Embedded) (engine.Device, error) { panic(ownPanic) }
	progress := func(svm.Progress) { panic(ownPanic) }
	p.bad("a device that panics", func() error {
		_, err := svm.NewProblem(p.ctx, c, sparse.Sphere, svm.Options{Device: device})
		return err
	})
	f := &faulty{how: p.IntN(10)}
	p.any(fmt.Sprint("a device with fault ", f.how), func() error {
		pr, err := svm.NewProblem(p.ctx, c, sparse.Sphere, svm.Options{Device: func(context.Context,
			*sparse.Embedded) (engine.Device, error) {
			return f, nil
		}})
		if err == nil {
			_, _, err = pr.Train(p.ctx, svm.Settings{})
		}
		return err
	})
	m := p.model()
	p.bad("a device that panics, predicting", func() error {
		_, err := svm.NewPredictor(m, svm.PredictOptions{Device: device})
		return err
	})
	p.bad("progress that panics", func() error {
		pr, err := svm.NewProblem(p.ctx, c, sparse.Sphere, svm.Options{Progress: progress})
		if err == nil {
			_, _, err = pr.Train(p.ctx, svm.Settings{})
		}
		return err
	})
	p.bad("progress that panics, validating", func() error {
		pr, err := svm.NewProblem(p.ctx, c, sparse.Sphere, svm.Options{Progress: progress})
		if err == nil {
			_, err = pr.CrossValidate(p.ctx, svm.Settings{}, 2, 1)
		}
		return err
	})
	p.bad("progress that panics, predicting", func() error {
		pr, err := svm.NewPredictor(m, svm.PredictOptions{Progress: progress})
		if err == nil {
			_, err = pr.Predict(p.ctx, p.documents())
		}
		return err
	})
}

func scores(p *program) {
	c := p.corpus(2)
	n := c.Documents.Rows()
	classes := pick(p, []string{"a", "b"}, []string{"b"}, []string{"x"}, nil)
	predicted, sets, values := make([]int, n), make([][]int, n), make([]float64, n)
	for i := range n {
		predicted[i] = p.IntN(len(classes)+1) - 1
		if predicted[i] >= 0 {
			sets[i] = []int{predicted[i]}
		}
		values[i] = p.strange()
	}
	byClass := func(predicted []int, c *sparse.Corpus) func() error {
		return func() error { _, err := svm.ScoreClasses(classes, predicted, c); return err }
	}
	byLabel := func(sets [][]int, c *sparse.Corpus) func() error {
		return func() error { _, err := svm.ScoreLabels(classes, sets, c); return err }
	}
	byValue := func(values []float64, c *sparse.Corpus) func() error {
		return func() error { _, err := svm.ScoreValues(values, c); return err }
	}
	p.good(fmt.Sprint("ScoreClasses of ", n), byClass(predicted, c))
	p.good(fmt.Sprint("ScoreLabels of ", n), byLabel(sets, c))
	numbers := *c
	numbers.Classes = []string{"1.5", "-2"}
	p.any(fmt.Sprint("ScoreValues of ", n), byValue(values, &numbers))
	p.bad("ScoreValues of labels that are no numbers", byValue(values, c))
	p.bad("ScoreClasses, a prediction short", byClass(predicted[:n-1], c))
	p.bad("ScoreClasses, a prediction long", byClass(append(slices.Clone(predicted), -1), c))
	p.bad("ScoreLabels, a prediction short", byLabel(sets[:n-1], c))
	p.bad("ScoreLabels, a prediction long", byLabel(append(slices.Clone(sets), nil), c))
	p.bad("ScoreValues, a prediction short", byValue(values[:n-1], &numbers))
	p.bad("ScoreValues, a prediction long", byValue(append(slices.Clone(values), 1), &numbers))
	k := p.IntN(n)
	wrong := slices.Clone(predicted)
	wrong[k] = pick(p, len(classes), -2, math.MaxInt, math.MinInt)
	p.bad("ScoreClasses of a class that there isn't", byClass(wrong, c))
	odd := slices.Clone(sets)
	odd[k] = pick(p, []int{len(classes)}, []int{-1}, []int{math.MaxInt})
	p.bad("ScoreLabels of a class that there isn't", byLabel(odd, c))
	p.bad("ScoreClasses of nil", byClass(predicted, nil))
	p.bad("ScoreLabels of nil", byLabel(sets, nil))
	p.bad("ScoreValues of nil", byValue(values, nil))
	for range 3 {
		b := p.corpus(2)
		n := b.Documents.Rows()
		why := ""
		switch p.IntN(4) {
		case 0:
			b.Labels.IDs[p.IntN(n)], why = pick(p, int32(2), -1, math.MaxInt32), "a class that there isn't"
		case 1:
			b.Labels.IDs, why = b.Labels.IDs[:n-1], "an offset beyond the labels"
		case 2:
			b.Labels.Offsets[0], why = -1, "an offset below 0"
		case 3:
			b.Labels.Offsets[n], why = math.MaxInt64, "an offset of 2⁶³-1"
		}
		p.bad("ScoreClasses of labels with "+why, byClass(make([]int, n), b))
		p.bad("ScoreLabels of labels with "+why, byLabel(make([][]int, n), b))
		b.Classes = numbers.Classes
		p.bad("ScoreValues of labels with "+why, byValue(make([]float64, n), b))
	}
}
