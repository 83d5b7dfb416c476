package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Validation is a point of a search with its result.
type Validation struct {
	Point
	*svm.Result
	About About // of the model of the last fold; of support vector machines what the settings say
	Ended Ended // of all machines

	// Of support vector machines that are validated without others.
	DotProducts int64 // that were computed
	Gram, Solve time.Duration
}

// Found is what a search found.
type Found struct {
	Measure svm.Measure
	Points  []*Validation // that are complete, in the order of the grid; on samples those of the last round
	Total   int           // points of the search
	Best    int           // of Points, see [svm.Result.Ranks]; -1 where there is none

	Gram, Solve time.Duration // of support vector machines computing tiles, and the rest

	// Of support vector machines.
	Fits               int            // classifiers that were trained
	DotProducts, Saved int64          // dot products computed, and those saved, compared with separate fits
	Chosen             *svm.Chosen    // of a search on samples, else nil
	Terms              []corpus.Terms // the cuts of Chosen; nil where text was not cut anew

	Rounds []Round // of a search on samples, or of a training that chooses; Points are those of the last
}

// Round is a part of a search: candidates that were compared on the same folds of the same documents.
type Round struct {
	Documents, Folds int
	Compares         string // the parameter, see [svm.Round]
	Points           []*Validation
	Best             int // of Points
}

// CrossValidate trains without each fold and predicts that one. Folds are those of package svm, by o.Seed.
// The terms and their document frequencies (idf) are those of all documents, so that folds can share kernel values;
// labels, scales of columns and weights from labels are those of the other folds.
//
// Errors: fewer than two folds, more folds than documents with labels, those of the training.
func CrossValidate(ctx context.Context, c *corpus.Corpus, t Trainer, o Options, folds int) (*Validation, error) {
	o.Work = 0
	g := &Grid{Points: []Point{{Trainer: t}}, Folds: folds}
	if own, ok := t.(*machines); ok {
		k, err := o.kernelOf(own.spec(&o), own.Embedding)
		if err != nil {
			return nil, err
		}
		g.searcher, g.machines.Kernels = own, []kernel.Kernel{k}
	}
	found, err := Search(ctx, c, g, o)
	if err != nil {
		return nil, err
	}
	v := found.Points[0]
	v.DotProducts, v.Gram, v.Solve, v.Took = found.DotProducts, found.Gram, found.Solve, found.Gram+found.Solve
	return v, nil
}

// Search cross-validates the points of a grid with each C, as [CrossValidate] does; o.Kernel doesn't
// count. The result has points first, then C; at the end of ctx, or after another error, those of the
// points that are complete.
//
// Errors: those of CrossValidate, no points.
func Search(ctx context.Context, c *corpus.Corpus, g *Grid, o Options) (*Found, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if len(g.Points) == 0 && g.searcher == nil {
		return nil, errors.New("learn: no points to search, expected those of a grid")
	}
	folds := cmp.Or(g.Folds, svm.DefaultFolds)
	if g.searcher != nil {
		own := *g
		own.Folds = folds
		return g.searcher.Search(ctx, c, &own, o)
	}
	o.Work = 0
	scheme := SchemeOf(g.Points[0].Trainer)
	out := &Found{Measure: MeasureOf(scheme), Total: g.Total(), Best: -1}
	v := &validating{c: c, o: o, prices: g.C, folds: folds, separate: scheme == solver.Labels}
	if err := v.divide(o.Seed); err != nil {
		return nil, err
	}
	begin := time.Now()
	err := v.points(ctx, g, out)
	out.Solve = time.Since(begin)
	for i, row := range out.Points {
		if row.Point = g.Points[i/max(len(g.C), 1)]; g.C != nil {
			row.C = g.C[i%len(g.C)]
		}
		if out.Best < 0 || row.Ranks(out.Points[out.Best].Result) {
			out.Best = i
		}
	}
	for _, row := range out.Points {
		row.CompareTo(out.Points[out.Best].Result)
	}
	return out, c.NameValue(err)
}

// points validates all points of a grid.
func (v *validating) points(ctx context.Context, g *Grid, out *Found) error {
	if t, ok := g.Points[0].Trainer.(Together); ok {
		begin := time.Now()
		rows, err := v.folded(ctx, len(g.Points), func(c *corpus.Corpus) ([]Model, error) {
			return t.TrainAll(ctx, c, v.o, g.Points)
		})
		for _, row := range rows {
			row.Took = time.Since(begin) / time.Duration(len(rows))
		}
		out.Points = rows
		return err
	}
	for _, p := range g.Points {
		begin := time.Now()
		rows, err := v.point(ctx, p.Trainer)
		if err != nil {
			return err
		}
		for _, row := range rows {
			row.Took = time.Since(begin)
		}
		out.Points = append(out.Points, rows...)
	}
	return nil
}

// validating is a cross-validation on its way.
type validating struct {
	c        *corpus.Corpus
	o        Options
	prices   []float64
	folds    int
	part     []int // of each document, -1 where it is left out
	separate bool  // labels, each for itself
	eighths  int   // of each fold's training documents that are taken; 0 for all
	trained  int   // documents that all folds together were trained on
}

// Learned is a point of a learning curve: the measure of folds that are predicted by models of a part of the others.
type Learned struct {
	Part      float64       `json:"part"`      // of each fold's training documents
	Documents int           `json:"documents"` // these, in the mean over the folds
	Mean      float64       `json:"mean"`
	SD        float64       `json:"standard_deviation"` // over the folds
	Took      time.Duration `json:"-"`
}

// LearningCurve cross-validates as [CrossValidate] does, but with 1/8, 1/4 and 1/2 of the documents that each fold's
// model may learn from: the same part of each class, each part within the next, by o.Seed. The last point is all, the
// cross-validation with the same options and folds. It takes at most the time of a cross-validation, without its shared
// tiles. Errors: those of CrossValidate; a model of numbers or of one class.
func LearningCurve(
	ctx context.Context, c *corpus.Corpus, t Trainer, o Options, folds int, all *Validation,
) ([]Learned, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	o.Work, o.Prepared = 0, nil
	v := &validating{c: c, o: o, folds: folds, separate: SchemeOf(t) == solver.Labels}
	if err := v.divide(o.Seed); err != nil {
		return nil, err
	}
	var out []Learned
	for _, v.eighths = range []int{1, 2, 4} {
		begin := time.Now()
		v.trained = 0
		rows, err := v.point(ctx, t)
		if err != nil {
			return nil, c.NameValue(err)
		}
		out = append(out, Learned{float64(v.eighths) / 8, v.trained / folds, rows[0].Mean, rows[0].SD, time.Since(begin)})
		o.Tell("learning curve", int64(len(out)), 3)
	}
	usable := 0
	for _, part := range v.part {
		usable += min(part+1, 1)
	}
	return append(out, Learned{1, usable * (folds - 1) / folds, all.Mean, all.SD, all.Took}), nil
}

// taken returns the documents of a fold's training that are taken.
func (v *validating) taken(train []int) []int {
	if v.eighths == 0 || v.eighths == 8 {
		return train
	}
	strata := svm.Strata(v.c.Labels, v.c.Documents.Rows(), len(v.c.Classes), true)
	var out []int
	for k, part := range solver.Folds(run.Pick(strata, train), 8, v.o.Seed) {
		if part < v.eighths {
			out = append(out, train[k])
		}
	}
	return out
}

// known puts a prediction's classes, the model's, in place of those of the corpus.
func (v *validating) known(a *About, p *model.Prediction) error {
	if slices.Equal(a.Classes, v.c.Classes) {
		return nil
	}
	if p.Class == nil && p.Labels == nil {
		return errors.New("learn: a learning curve of numbers or of one class, expected classes")
	}
	p.Probabilities = nil
	at := make([]int, len(a.Classes))
	for k, name := range a.Classes {
		at[k] = slices.Index(v.c.Classes, name)
	}
	for i := range p.Class {
		p.Class[i] = at[p.Class[i]]
	}
	for i := range p.Labels {
		for k := range p.Labels[i] {
			p.Labels[i][k] = at[p.Labels[i][k]]
		}
		slices.Sort(p.Labels[i])
	}
	return nil
}

// divide divides the documents into folds.
func (v *validating) divide(seed uint64) (err error) {
	strata := svm.Strata(v.c.Labels, v.c.Documents.Rows(), len(v.c.Classes), v.separate)
	v.part, err = svm.Folds(v.c.Source, strata, v.c.Groups, v.folds, seed)
	return err
}

// point validates a trainer with each of the prices.
func (v *validating) point(ctx context.Context, trainer Trainer) ([]*Validation, error) {
	return v.folded(ctx, max(len(v.prices), 1), func(c *corpus.Corpus) ([]Model, error) {
		return v.train(ctx, trainer, c)
	})
}

// folded validates models that are trained together.
func (v *validating) folded(
	ctx context.Context, models int, train func(c *corpus.Corpus) ([]Model, error),
) ([]*Validation, error) {
	n := len(v.part)
	out := make([]*Validation, models)
	class, labels := make([][]int, len(out)), make([][][]int, len(out))
	probabilities := make([][][]float64, len(out))
	for p := range out {
		out[p], probabilities[p] = &Validation{Result: &svm.Result{}}, make([][]float64, n)
		class[p], labels[p] = slices.Repeat([]int{-1}, n), make([][]int, n)
	}
	for fold := range v.folds {
		var rest, test []int
		for i, f := range v.part {
			switch {
			case f == fold:
				test = append(test, i)
			case f >= 0:
				rest = append(rest, i)
			}
		}
		rest = v.taken(rest)
		v.trained += len(rest)
		c := v.c.Fold(rest)
		models, err := train(c)
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", fold+1, counting(placed(err, rest), c.Documents.Bytes()))
		}
		own := v.c.Select(test)
		for p, m := range models {
			found, err := m.Predict(ctx, own.Documents, v.o)
			if err != nil {
				return nil, placed(err, test)
			}
			about := m.About()
			if err := v.known(&about, found); err != nil {
				return nil, err
			}
			for i, doc := range test {
				if found.Probabilities != nil {
					probabilities[p][doc] = found.Probabilities[i]
				}
				if v.separate {
					labels[p][doc] = found.Labels[i]
				} else {
					class[p][doc] = found.Class[i]
				}
			}
			out[p].About = about
			out[p].Ended.Add(out[p].About.Ended)
			score, err := v.score(run.Pick(class[p], test), run.Pick(labels[p], test), own)
			if err != nil {
				return nil, err
			}
			out[p].ByFold = append(out[p].ByFold, score)
		}
	}
	for p, row := range out {
		if err := v.sum(row, class[p], labels[p], probabilities[p]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// placed gives an error about a value of some documents the place of its document in the corpus.
func placed(err error, docs []int) error {
	var value *sparse.ValueError
	var pair *sparse.PairError
	if errors.As(err, &value) {
		value.Row = docs[value.Row]
	} else if errors.As(err, &pair) {
		if pair.Row = docs[pair.Row]; !pair.Cross {
			pair.Column = docs[pair.Column]
		}
	}
	return err
}

// counting adds bytes that are held beside a training to the amount that its memory error names.
func counting(err error, bytes int64) error {
	if short := (*run.MemoryError)(nil); errors.As(err, &short) {
		short.Need, short.Limit = short.Need+bytes, short.Limit+bytes
	}
	return err
}

// train trains for each of the prices, or as the options say, on a copy of the fold's documents.
func (v *validating) train(ctx context.Context, trainer Trainer, c *corpus.Corpus) ([]Model, error) {
	o := v.o
	o.MemoryBytes = Left(o.MemoryBytes, c.Documents.Bytes())
	if path, ok := trainer.(PathTrainer); ok && v.prices != nil {
		return path.TrainPath(ctx, c, o, v.prices)
	}
	trainers := []Trainer{trainer}
	for i, price := range v.prices {
		own, err := params.With(trainer, map[string]any{"c": price})
		if err != nil {
			return nil, err
		}
		trainers = append(trainers[:i], own)
	}
	var models []Model
	for _, t := range trainers {
		m, err := t.Train(ctx, c, o)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}

// sum scores all documents together, and takes the mean over the folds.
func (v *validating) sum(row *Validation, class []int, labels [][]int, probabilities [][]float64) (err error) {
	if row.Score, err = v.score(class, labels, v.c); err != nil {
		return err
	}
	row.Score.Calibration = svm.ScoreProbabilities(v.c.Classes, probabilities, v.separate, v.c)
	row.Measure = svm.Accuracy
	if v.separate {
		row.Measure = svm.MicroF1
	}
	for _, f := range row.ByFold {
		row.Figures = append(row.Figures, row.Measure.Of(f))
	}
	row.Complete()
	return nil
}

func (v *validating) score(class []int, labels [][]int, truth *corpus.Corpus) (*svm.Score, error) {
	if v.separate {
		return svm.ScoreLabels(v.c.Classes, labels, truth), nil
	}
	return svm.ScoreClasses(v.c.Classes, class, truth), nil
}

// MeasureOf is the figure by which classifiers of a scheme are judged.
func MeasureOf(scheme solver.Scheme) svm.Measure {
	if scheme == solver.Labels {
		return svm.MicroF1
	}
	return svm.Accuracy
}
