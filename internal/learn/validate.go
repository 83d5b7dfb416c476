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
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Validation is the cross-validation result of a point of a grid.
type Validation struct {
	Point
	*tune.Result
	About       About       // properties of the last fold's model; for SVMs, only the settings
	Convergence Convergence // totals over all binary classifiers

	// The following fields are set by [CrossValidate] for support vector machines.
	DotProducts         int64 // number of computed dot products
	GramTime, SolveTime time.Duration
}

// SearchResult holds the results of a search.
type SearchResult struct {
	Measure    tune.Measure
	Points     []*Validation // completed points in grid order; on samples, points of the last round
	PointCount int           // number of points in the search
	BestIndex  int           // index of the best point, see [tune.Result.IsBetter]; -1 = none

	GramTime, SolveTime time.Duration // for SVMs: time to compute tiles, and remaining time

	// The following fields are for support vector machines.
	FitCount int // number of trained models
	// numbers of dot products computed, and saved compared with separate fits
	DotProducts, SavedDotProducts int64
	Choice                        *SVMChoice           // choice of a search on samples, else nil
	Tokenizers                    []corpus.TermOptions // tokenizers of Choice; nil if text wasn't tokenised again

	Rounds []Round // rounds of a search on samples or of a choice; Points has the last round's points
}

// Round compares candidates on the same folds of the same documents.
type Round struct {
	DocumentCount, Folds int
	Parameter            string // compared parameter, see [tune.Round]
	Points               []*Validation
	BestIndex            int // index of the best point
}

// CrossValidate predicts each fold with a model trained on the other folds. Package tune draws the
// folds with o.Seed. Terms and document frequencies (idf) are computed from all documents, so that
// folds can share kernel values. Labels, column scales and supervised term weights are from the
// training folds only.
//
// It fails if folds < 2, if folds exceeds the number of labelled documents or of their groups, or
// if training fails.
func CrossValidate(ctx context.Context, c *corpus.Corpus, t Trainer, o Options, folds int) (*Validation, error) {
	g := &Grid{Points: []Point{{Trainer: t}}, Folds: folds}
	if own, ok := t.(*svmTrainer); ok {
		s, err := own.settings(&o)
		if err != nil {
			return nil, err
		}
		g.svmTrainer, g.kernels = own, []kernel.Kernel{s.Kernel}
		g.candidates = own.combine(s, g)
	}
	o.WorkBudget = 0
	found, err := Search(ctx, c, g, o)
	if err != nil {
		return nil, err
	}
	v := found.Points[0]
	v.DotProducts, v.GramTime, v.SolveTime, v.Elapsed = found.DotProducts, found.GramTime, found.SolveTime,
		found.GramTime+found.SolveTime
	return v, nil
}

// Search cross-validates the points of a grid with each C, as [CrossValidate] does. If g.UseSamples
// is set, it compares candidates on growing samples instead. The result is sorted by point, then by
// C. If ctx is done, or after another error, it contains the completed points.
//
// It fails for the same reasons as CrossValidate.
func Search(ctx context.Context, c *corpus.Corpus, g *Grid, o Options) (*SearchResult, error) {
	own := *g
	own.Folds = cmp.Or(g.Folds, tune.DefaultFolds)
	switch {
	case g.UseSamples:
		return g.svmTrainer.searchSamples(ctx, c, &own, &o)
	case g.svmTrainer != nil:
		return g.svmTrainer.search(ctx, c, &own, o)
	}
	o.WorkBudget = 0
	v := &foldEvaluator{c: c, o: o, folds: own.Folds, trainers: g.Points, jointCount: max(len(g.C), 1)}
	if g.C != nil {
		v.trainers = nil
	}
	for _, p := range g.Points {
		for _, price := range g.C {
			var err error
			at := p
			if at.Trainer, err = params.With(p.Trainer, map[string]any{"c": price}); err != nil {
				return nil, err
			}
			at.C = price
			v.trainers = append(v.trainers, at)
		}
	}
	scheme := SchemeOf(g.Points[0].Trainer)
	v.measure = MeasureOf(scheme)
	begin := time.Now()
	found, err := tune.Search(ctx, v, make([]tune.Candidate, len(v.trainers)), false, nil)
	out := &SearchResult{Measure: v.measure, PointCount: len(v.trainers), BestIndex: found.BestIndex,
		Points:    v.completed[:len(found.Points)],
		SolveTime: time.Since(begin)}
	return out, c.DescribeError(err)
}

// MeasureOf returns the measure by which classifiers with the given scheme are compared.
func MeasureOf(scheme solver.Scheme) tune.Measure {
	if scheme == solver.MultiLabel {
		return tune.MicroF1
	}
	return tune.Accuracy
}

// foldEvaluator is a [tune.Evaluator] that trains learners on the training documents of each fold.
type foldEvaluator struct {
	c          *corpus.Corpus
	o          Options
	folds      int
	measure    tune.Measure
	trainers   []Point // one trainer per candidate
	jointCount int     // number of candidates that a [JointTrainer] trains at a time
	eighths    int     // eighths of each fold's training documents to use; 0 = all

	fold              []int         // fold of each document, or -1 if the document is excluded
	trainingDocuments int           // number of training documents, summed over folds
	completed         []*Validation // completed points
}

// Evaluate implements tune.Evaluator. trainers[i] trains the models of candidate i.
func (v *foldEvaluator) Evaluate(
	ctx context.Context, all []tune.Candidate, done func(i int, p tune.Point),
) (err error) {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	d := tune.Division{Folds: v.folds, Seed: v.o.Seed}
	if v.fold, _, err = d.AssignFolds(v.c, v.c.Documents.Rows(), v.measure); err != nil {
		return err
	}
	for len(v.completed) < len(all) {
		first, n := len(v.completed), 1
		if _, ok := v.trainers[first].Trainer.(JointTrainer); ok {
			n = v.jointCount
		}
		begin := time.Now()
		rows, err := v.validate(ctx, v.trainers[first:first+n])
		if err != nil {
			return err
		}
		for i, row := range rows {
			row.Elapsed = time.Since(begin) / time.Duration(n)
			v.completed = append(v.completed, row)
			done(first+i, tune.Point{Candidate: all[first+i], Result: row.Result})
		}
	}
	return nil
}

// validate cross-validates trainers, whose models are trained jointly if there are several.
func (v *foldEvaluator) validate(ctx context.Context, trainers []Point) ([]*Validation, error) {
	n, separate := len(v.fold), v.measure == tune.MicroF1
	rows, predicted := make([]*Validation, len(trainers)), make([]model.Prediction, len(trainers))
	for k := range rows {
		rows[k], predicted[k].Probabilities = &Validation{Point: trainers[k]}, make([][]float64, n)
		if separate {
			predicted[k].Labels = make([][]int, n)
		} else {
			predicted[k].ClassIndices = slices.Repeat([]int{-1}, n)
		}
	}
	for fold := range v.folds {
		var rest, test []int
		for i, f := range v.fold {
			switch {
			case f == fold:
				test = append(test, i)
			case f >= 0:
				rest = append(rest, i)
			}
		}
		rest = v.takeEighths(rest)
		v.trainingDocuments += len(rest)
		c, own := v.c.SelectFold(rest), v.c.Select(test)
		models, err := v.train(ctx, trainers, c)
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", fold+1, withMemoryInUse(withCorpusRow(err, rest), c.Documents.Bytes()))
		}
		for k, m := range models {
			p, err := m.Predict(ctx, own.Documents, v.o)
			if err != nil {
				return nil, withCorpusRow(err, test)
			}
			rows[k].About = m.About()
			rows[k].Convergence.Add(rows[k].About.Convergence)
			if err := v.mapClasses(rows[k].About.Classes, p); err != nil {
				return nil, err
			}
			for i, doc := range test {
				if p.Probabilities != nil {
					predicted[k].Probabilities[doc] = p.Probabilities[i]
				}
				if separate {
					predicted[k].Labels[doc] = p.Labels[i]
				} else {
					predicted[k].ClassIndices[doc] = p.ClassIndices[i]
				}
			}
		}
	}
	for k, row := range rows {
		var err error
		if row.Result, err = tune.NewResult(v.c, &predicted[k], v.fold, v.folds); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// train trains a model per trainer. c is a copy of the fold's training documents.
func (v *foldEvaluator) train(ctx context.Context, trainers []Point, c *corpus.Corpus) (models []Model, err error) {
	o := v.o
	o.MemoryBytes = MemoryLeft(o.MemoryBytes, c.Documents.Bytes())
	if len(trainers) == 1 {
		m, err := trainers[0].Trainer.Train(ctx, c, o)
		return []Model{m}, err
	}
	var all []Trainer
	for _, p := range trainers {
		all = append(all, p.Trainer)
	}
	return all[0].(JointTrainer).TrainAll(ctx, c, o, all)
}

// LearningPoint is a point of a learning curve: the measure of models trained on a fraction of the
// documents.
type LearningPoint struct {
	Fraction      float64       `json:"part"`      // fraction of each fold's training documents
	DocumentCount int           `json:"documents"` // mean number of training documents per fold
	Mean          float64       `json:"mean"`
	SD            float64       `json:"standard_deviation"` // standard deviation over the folds
	Elapsed       time.Duration `json:"-"`
}

// LearningCurve cross-validates as [CrossValidate] does, but with 1/8, 1/4 and 1/2 of each fold's
// training documents, drawn with o.Seed. The subsets are nested and stratified by class. The last
// point is taken from all, the result of CrossValidate with the same options. LearningCurve takes
// at most the time of a cross-validation without shared tiles. It fails for the same reasons as
// CrossValidate, and for regression and one-class models.
func LearningCurve(
	ctx context.Context, c *corpus.Corpus, t Trainer, o Options, folds int, all *Validation,
) ([]LearningPoint, error) {
	o.WorkBudget, o.OnProblem = 0, nil
	var out []LearningPoint
	usable := 0
	for _, eighths := range []int{1, 2, 4} {
		v := &foldEvaluator{c: c, o: o, folds: folds, measure: MeasureOf(SchemeOf(t)), trainers: []Point{{Trainer: t}},
			jointCount: 1,
			eighths:    eighths}
		found, err := tune.Search(ctx, v, make([]tune.Candidate, 1), false, nil)
		if err != nil {
			return nil, c.DescribeError(err)
		}
		p := found.Points[0]
		out = append(out, LearningPoint{float64(eighths) / 8, v.trainingDocuments / folds, p.Mean, p.SD, p.Elapsed})
		o.ReportProgress("learning curve", int64(len(out)), 3)
		usable = 0
		for _, fold := range v.fold {
			usable += min(fold+1, 1)
		}
	}
	return append(out, LearningPoint{1, usable * (folds - 1) / folds, all.Mean, all.SD, all.Elapsed}), nil
}

func (v *foldEvaluator) takeEighths(train []int) []int {
	if v.eighths == 0 {
		return train
	}
	strata := tune.FirstClasses(v.c.Labels, v.c.Documents.Rows(), len(v.c.Classes), true)
	var out []int
	for k, part := range solver.StratifiedFolds(run.Select(strata, train), 8, v.o.Seed) {
		if part < v.eighths {
			out = append(out, train[k])
		}
	}
	return out
}

// mapClasses replaces the model's class indices in p with the corpus's class indices. If the
// classes differ, it drops probabilities.
func (v *foldEvaluator) mapClasses(classes []string, p *model.Prediction) error {
	if slices.Equal(classes, v.c.Classes) {
		return nil
	}
	if p.ClassIndices == nil && p.Labels == nil {
		return errors.New("learn: learning curves are not supported for regression and one-class models")
	}
	p.Probabilities = nil
	at := make([]int, len(classes))
	for k, name := range classes {
		at[k] = slices.Index(v.c.Classes, name)
	}
	for i := range p.ClassIndices {
		p.ClassIndices[i] = at[p.ClassIndices[i]]
	}
	for i := range p.Labels {
		for k := range p.Labels[i] {
			p.Labels[i][k] = at[p.Labels[i][k]]
		}
		slices.Sort(p.Labels[i])
	}
	return nil
}

func withCorpusRow(err error, docs []int) error {
	var value *sparse.ValueError
	var pair *kernel.PairError
	if errors.As(err, &value) {
		value.Row = docs[value.Row]
	} else if errors.As(err, &pair) {
		if pair.Row = docs[pair.Row]; !pair.IsCross {
			pair.Column = docs[pair.Column]
		}
	}
	return err
}

// withMemoryInUse adds bytes to NeedBytes and LimitBytes if err is a memory error.
func withMemoryInUse(err error, bytes int64) error {
	if short := (*run.MemoryError)(nil); errors.As(err, &short) {
		short.NeedBytes, short.LimitBytes = short.NeedBytes+bytes, short.LimitBytes+bytes
	}
	return err
}
