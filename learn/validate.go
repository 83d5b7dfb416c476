package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Validation is what a cross-validation found.
type Validation struct {
	About About // of the model of the last fold
	C     float64
	Ended Ended // of all machines

	Score   *svm.Score   // of all documents together
	ByFold  []*svm.Score // of the documents of each fold
	Measure svm.Measure  // the figure by which it is judged

	Figures  []float64 // the measure by fold
	Mean, SD float64   // of the figures: their mean, and their standard deviation with n-1 in the denominator

	Took time.Duration // with all C of its point, or its share of many points together
}

// Search cross-validates points with each C of prices, ascending; nil stands for what the options
// say, whose Kernel doesn't count. It trains without each fold and predicts that one, and embeddings
// learn from the documents of the training alone. Folds are those of package svm. The result has a row
// for each point and price, points first; at the end of ctx, or after another error, those of the
// points that are complete.
//
// Errors: no points, fewer than two folds, more folds than documents with labels, those of the training.
func Search(
	ctx context.Context, c *sparse.Corpus, points []Point, o Options, prices []float64, folds int, seed uint64,
) ([]*Validation, error) {
	if ctx == nil || len(points) == 0 {
		return nil, errors.New("learn: no context or no points, expected both")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	v := &validating{c: c, o: o, prices: prices, folds: folds, separate: o.Scheme == solver.Labels}
	if err := v.divide(seed); err != nil {
		return nil, err
	}
	if together, ok := points[0].Trainer.(Validator); ok && prices == nil {
		return v.together(ctx, together, points)
	}
	var out []*Validation
	for _, p := range points {
		begin := time.Now()
		v.o.Kernel = p.Kernel
		rows, err := v.point(ctx, p.Trainer)
		if err != nil {
			return out, err
		}
		for _, row := range rows {
			row.Took = time.Since(begin)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// validating is a cross-validation on its way.
type validating struct {
	c        *sparse.Corpus
	o        Options
	prices   []float64
	folds    int
	part     []int // of each document, -1 where it is left out
	separate bool  // labels, each for itself
}

// divide divides the documents into folds.
func (v *validating) divide(seed uint64) error {
	strata, usable := make([]int, v.c.Documents.Rows()), 0
	for i := range strata {
		switch own := v.c.Labels.Of(i); {
		case len(own) > 0:
			strata[i] = int(own[0])
		case v.separate:
			strata[i] = len(v.c.Classes)
		default:
			strata[i] = -1 // left out
		}
		if strata[i] >= 0 {
			usable++
		}
	}
	if v.folds < 2 || v.folds > usable {
		return fmt.Errorf("%d folds of %d labelled documents of %s, expected 2 to %d", v.folds, usable, v.c.Source, usable)
	}
	v.part = solver.Folds(strata, v.folds, seed)
	return nil
}

// point validates a trainer with each of the prices.
func (v *validating) point(ctx context.Context, trainer Trainer) ([]*Validation, error) {
	n := len(v.part)
	out := make([]*Validation, max(len(v.prices), 1))
	class, labels := make([][]int, len(out)), make([][][]int, len(out))
	for p := range out {
		out[p] = &Validation{}
		class[p], labels[p] = slices.Repeat([]int{-1}, n), make([][]int, n)
	}
	for fold := range v.folds {
		var train, test []int
		for i, f := range v.part {
			switch {
			case f == fold:
				test = append(test, i)
			case f >= 0:
				train = append(train, i)
			}
		}
		models, err := v.train(ctx, trainer, v.c.Select(train))
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", fold+1, placed(err, train))
		}
		own := v.c.Select(test)
		for p, m := range models {
			found, err := m.Predict(ctx, own.Documents, v.o)
			if err != nil {
				return nil, placed(err, test)
			}
			for i, doc := range test {
				if v.separate {
					labels[p][doc] = found.Labels[i]
				} else {
					class[p][doc] = found.Class[i]
				}
			}
			out[p].About = m.About()
			out[p].Ended.Add(out[p].About.Ended)
			if v.prices != nil {
				out[p].C = v.prices[p]
			}
			score, err := v.score(pick(class[p], test), pick(labels[p], test), own)
			if err != nil {
				return nil, err
			}
			out[p].ByFold = append(out[p].ByFold, score)
		}
	}
	for p, row := range out {
		if err := v.sum(row, class[p], labels[p]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// placed gives an error about a value of some documents the place of its document in the corpus.
func placed(err error, docs []int) error {
	var value *sparse.ValueError
	if errors.As(err, &value) {
		value.Row = docs[value.Row]
	}
	return err
}

// train trains for each of the prices, or as the options say.
func (v *validating) train(ctx context.Context, trainer Trainer, c *sparse.Corpus) ([]Model, error) {
	if path, ok := trainer.(PathTrainer); ok && v.prices != nil {
		return path.TrainPath(ctx, c, v.o, v.prices)
	}
	var models []Model
	for _, price := range append([]float64{v.o.C}, v.prices...)[min(len(v.prices), 1):] {
		o := v.o
		o.C = price
		m, err := trainer.Train(ctx, c, o)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}

// together validates many points at once.
func (v *validating) together(ctx context.Context, by Validator, points []Point) ([]*Validation, error) {
	begin := time.Now()
	found, abouts, err := by.Validate(ctx, v.c, v.o, points, v.part)
	if err != nil {
		return nil, err
	}
	own := make([][]int, v.folds)
	for i, f := range v.part {
		if f >= 0 {
			own[f] = append(own[f], i)
		}
	}
	out := make([]*Validation, len(points))
	for p, prediction := range found {
		row := &Validation{About: abouts[p], Ended: abouts[p].Ended}
		class, labels := prediction.Class, prediction.Labels
		if !v.separate {
			labels = make([][]int, len(v.part))
			class = slices.Clone(class)
			for i, f := range v.part {
				if f < 0 {
					class[i] = -1
				}
			}
		} else {
			class = make([]int, len(v.part))
		}
		for _, docs := range own {
			score, err := v.score(pick(class, docs), pick(labels, docs), truth(v.c, docs))
			if err != nil {
				return nil, err
			}
			row.ByFold = append(row.ByFold, score)
		}
		if err := v.sum(row, class, labels); err != nil {
			return nil, err
		}
		row.Took = time.Since(begin) / time.Duration(len(points))
		out[p] = row
	}
	return out, nil
}

// sum scores all documents together, and takes the mean over the folds.
func (v *validating) sum(row *Validation, class []int, labels [][]int) (err error) {
	if row.Score, err = v.score(class, labels, v.c); err != nil {
		return err
	}
	row.Measure = MeasureOf(v.o.Scheme)
	for _, f := range row.ByFold {
		figure := f.Accuracy
		if v.separate {
			figure = f.MicroF1
		}
		row.Figures = append(row.Figures, figure)
		row.Mean += figure / float64(v.folds)
	}
	for _, figure := range row.Figures {
		d := figure - row.Mean
		row.SD += d * d / float64(v.folds-1)
	}
	row.SD = math.Sqrt(row.SD)
	return nil
}

func (v *validating) score(class []int, labels [][]int, truth *sparse.Corpus) (*svm.Score, error) {
	if v.separate {
		return svm.ScoreLabels(v.c.Classes, labels, truth)
	}
	return svm.ScoreClasses(v.c.Classes, class, truth)
}

// MeasureOf is the figure by which classifiers of a scheme are judged.
func MeasureOf(scheme solver.Scheme) svm.Measure {
	if scheme == solver.Labels {
		return svm.MicroF1
	}
	return svm.Accuracy
}

// truth returns some documents with their labels, for scores. It looks at no others, as a check of the
// corpus would: there may be as many folds as documents.
func truth(c *sparse.Corpus, docs []int) *sparse.Corpus {
	out := &sparse.Corpus{Source: c.Source, Classes: c.Classes, Documents: c.Documents.SelectRows(docs)}
	for _, i := range docs {
		out.Labels.Add(c.Labels.Of(i)...)
	}
	return out
}

func pick[T any](from []T, at []int) []T {
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = from[i]
	}
	return out
}

// Words are values of a parameter of learners.
type Words struct {
	Name   string
	Values []string
}

// Numbers are values of a parameter as words.
func Numbers(list kernel.List) Words {
	w := Words{Name: list.Name}
	for _, v := range list.Values {
		w.Values = append(w.Values, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return w
}

// Points are a learner with all combinations of values and kernels, which [Search] tries. Kernels may
// be nil. Errors: a learner or a parameter that isn't known, values and options that make no sense.
func Points(learner string, lists []Words, kernels []string, o Options) ([]Point, error) {
	specs := []string{learner}
	for _, list := range lists {
		var more []string
		for _, spec := range specs {
			sep := ","
			if !strings.Contains(spec, ":") {
				sep = ":"
			}
			for _, value := range list.Values {
				more = append(more, spec+sep+list.Name+"="+value)
			}
		}
		specs = more
	}
	if len(kernels) == 0 {
		kernels = []string{o.Kernel}
	}
	var out []Point
	for _, spec := range specs {
		for _, k := range kernels {
			l, trainer, err := Parse(spec)
			if err == nil && l == nil {
				err = fmt.Errorf("learn: no learner %q, expected one of %s", spec, strings.Join(Names(), ", "))
			}
			if err == nil {
				o.Kernel = k
				err = trainer.Check(o)
			}
			if err != nil {
				return nil, err
			}
			out = append(out, Point{Trainer: trainer, Kernel: k, Spec: spec})
		}
	}
	return out, nil
}

// Prices are the C that a search tries by default, nil where the learner has none.
func (l *Learner) Prices() []float64 {
	if !slices.Contains(l.Flags, "c") {
		return nil
	}
	return []float64{0.01, 0.1, 1, 10, 100, 1000}
}
