package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// learnedScore is a learner's cross-validation with one C.
type learnedScore struct {
	c        float64 // 0 where the learner has none
	about    learn.About
	ended    learn.Ended
	score    *svm.Score   // of all documents together
	byFold   []*svm.Score // of the documents of each fold
	mean, sd float64      // of the measure over the folds
}

// measure is the figure by which a learner is judged.
func measure(scheme solver.Scheme) svm.Measure {
	if scheme == solver.Labels {
		return svm.MicroF1
	}
	return svm.Accuracy
}

// figure reads the measure from a score.
func figure(scheme solver.Scheme, s *svm.Score) float64 {
	if scheme == solver.Labels {
		return s.MicroF1
	}
	return s.Accuracy
}

// validate trains a learner without each fold and predicts that one, for each C of prices,
// ascending; nil stands for what the options say. Embeddings learn from the documents of the
// training alone. Folds are those of package svm.
func (l *learning) validate(
	ctx context.Context, trainer learn.Trainer, prices []float64, folds int, seed uint64,
) ([]*learnedScore, error) {
	c, separate := l.corpus, l.o.Scheme == solver.Labels
	n := c.Documents.Rows()
	part, err := l.parts(folds, seed)
	if err != nil {
		return nil, err
	}
	if v, ok := trainer.(learn.Validator); ok && prices == nil {
		return l.validateTogether(ctx, v, []learn.Point{{Trainer: trainer, Kernel: l.o.Kernel}}, part, folds)
	}
	out := make([]*learnedScore, max(len(prices), 1))
	class, labels := make([][]int, len(out)), make([][][]int, len(out))
	for p := range out {
		out[p] = &learnedScore{}
		class[p], labels[p] = make([]int, n), make([][]int, n)
		for i := range n {
			class[p][i] = -1
		}
	}
	for fold := range folds {
		var train, test []int
		for i, f := range part {
			switch {
			case f == fold:
				test = append(test, i)
			case f >= 0:
				train = append(train, i)
			}
		}
		models, err := l.train(ctx, trainer, c.Select(train), prices)
		if err != nil {
			return nil, fmt.Errorf("fold %d: %w", fold+1, placed(err, train))
		}
		own := c.Select(test)
		for p, m := range models {
			found, err := m.Predict(ctx, own.Documents, l.o)
			if err != nil {
				return nil, placed(err, test)
			}
			for i, doc := range test {
				if separate {
					labels[p][doc] = found.Labels[i]
				} else {
					class[p][doc] = found.Class[i]
				}
			}
			out[p].about = m.About()
			out[p].ended.Add(out[p].about.Ended)
			if prices != nil {
				out[p].c = prices[p]
			}
			score, err := scored(separate, c.Classes, pick(class[p], test), pick(labels[p], test), own)
			if err != nil {
				return nil, err
			}
			out[p].byFold = append(out[p].byFold, score)
		}
	}
	for p, s := range out {
		if err := s.sum(l, class[p], labels[p]); err != nil {
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

// parts divides the documents into folds, those of package svm; -1 leaves one out.
func (l *learning) parts(folds int, seed uint64) ([]int, error) {
	c, separate := l.corpus, l.o.Scheme == solver.Labels
	n := c.Documents.Rows()
	strata, usable := make([]int, n), 0
	for i := range strata {
		switch own := c.Labels.Of(i); {
		case len(own) > 0:
			strata[i] = int(own[0])
		case separate:
			strata[i] = len(c.Classes)
		default:
			strata[i] = -1 // left out
		}
		if strata[i] >= 0 {
			usable++
		}
	}
	if folds > usable {
		return nil, fmt.Errorf("%d folds of %d labelled documents of %s, expected 2 to %d", folds, usable, c.Source,
			usable)
	}
	return solver.Folds(strata, folds, seed), nil
}

// validateTogether is validate for learners that take many points at once, without C.
func (l *learning) validateTogether(
	ctx context.Context, v learn.Validator, points []learn.Point, part []int, folds int,
) ([]*learnedScore, error) {
	c, separate := l.corpus, l.o.Scheme == solver.Labels
	found, abouts, err := v.Validate(ctx, c, l.o, points, part)
	if err != nil {
		return nil, err
	}
	own := make([][]int, folds)
	for i, f := range part {
		if f >= 0 {
			own[f] = append(own[f], i)
		}
	}
	out := make([]*learnedScore, len(points))
	for p, prediction := range found {
		s := &learnedScore{about: abouts[p], ended: abouts[p].Ended}
		class, labels := prediction.Class, prediction.Labels
		if !separate {
			labels = make([][]int, len(part))
			class = slices.Clone(class)
			for i, f := range part {
				if f < 0 {
					class[i] = -1
				}
			}
		} else {
			class = make([]int, len(part))
		}
		for _, docs := range own {
			score, err := scored(separate, c.Classes, pick(class, docs), pick(labels, docs), truth(c, docs))
			if err != nil {
				return nil, err
			}
			s.byFold = append(s.byFold, score)
		}
		if err := s.sum(l, class, labels); err != nil {
			return nil, err
		}
		out[p] = s
	}
	return out, nil
}

// sum scores all documents together, and takes the mean over the folds.
func (s *learnedScore) sum(l *learning, class []int, labels [][]int) (err error) {
	if s.score, err = scored(l.o.Scheme == solver.Labels, l.corpus.Classes, class, labels, l.corpus); err != nil {
		return err
	}
	for _, f := range s.byFold {
		s.mean += figure(l.o.Scheme, f) / float64(len(s.byFold))
	}
	for _, f := range s.byFold {
		d := figure(l.o.Scheme, f) - s.mean
		s.sd += d * d / float64(len(s.byFold)-1)
	}
	s.sd = math.Sqrt(s.sd)
	return nil
}

// train trains a learner for each C of prices, or as the options say for nil.
func (l *learning) train(
	ctx context.Context, trainer learn.Trainer, c *sparse.Corpus, prices []float64,
) ([]learn.Model, error) {
	if path, ok := trainer.(learn.PathTrainer); ok && prices != nil {
		return path.TrainPath(ctx, c, l.o, prices)
	}
	var models []learn.Model
	for _, price := range append([]float64{l.o.C}, prices...)[min(len(prices), 1):] {
		o := l.o
		o.C = price
		m, err := trainer.Train(ctx, c, o)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}
	return models, nil
}

func scored(separate bool, classes []string, class []int, labels [][]int, truth *sparse.Corpus) (*svm.Score, error) {
	if separate {
		return svm.ScoreLabels(classes, labels, truth)
	}
	return svm.ScoreClasses(classes, class, truth)
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

// learnedCV is the report of cv with a learner.
type learnedCV struct {
	Corpus source.Line `json:"corpus"`
	learnedLine
	Folds int    `json:"folds"`
	Seed  uint64 `json:"seed"`

	Scored  int           `json:"documents_scored"`
	Right   int           `json:"documents_right"`
	figures               // of all documents together
	Measure svm.Measure   `json:"measure"`
	Mean    report.Number `json:"mean"`
	SD      report.Number `json:"standard_deviation"`

	Unfinished int `json:"unfinished_machines"`

	Seconds      float64 `json:"seconds"`
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"`

	Rows []learnedFold `json:"rows"`
}

// learnedFold is one fold.
type learnedFold struct {
	Fold      int `json:"fold"` // from 1
	Documents int `json:"documents"`
	Right     int `json:"documents_right"`
	figures
}

// runLearner validates the learner that -type names.
func (v *validation) runLearner(ctx context.Context, e *cli.Env) error {
	p := e.Progress(true)
	defer p.Clear()
	l, err := v.learn(ctx, e, p)
	if err != nil {
		return err
	}
	r := &learnedCV{Corpus: source.NewLine(l.corpus), Folds: v.folds, Seed: v.seed, SecondsRead: l.read}
	begin := time.Now()
	found, err := l.validate(ctx, v.learner.trainer, nil, v.folds, v.seed)
	if err != nil {
		return l.named(err)
	}
	p.Clear()
	s, labels := found[0], l.o.Scheme == solver.Labels
	r.SecondsSolve = time.Since(begin).Seconds()
	r.learnedLine, r.Unfinished = v.learnedLine(s.about), warnOf(e, s.ended)
	r.Scored, r.Right, r.figures = s.score.Documents, s.score.Right, newFigures(s.score, false, labels)
	r.Measure, r.Mean, r.SD = measure(l.o.Scheme), report.Number(s.mean), report.Number(s.sd)
	for i, f := range s.byFold {
		r.Rows = append(r.Rows, learnedFold{i + 1, f.Documents, f.Right, newFigures(f, false, labels)})
	}
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(v.Memory)
	r.Seconds = time.Since(l.begin).Seconds()
	if v.f.Quiet && !v.f.JSON {
		writeAccuracy(e.Stdout, r.figures)
		return nil
	}
	return v.Report(e, v.f, r)
}

func (r *learnedCV) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s\n%s\n", r.Corpus, r.text(fmt.Sprintf("%d folds, seed %d", r.Folds, r.Seed)))
	accuracy := ">accuracy"
	if r.Measure == svm.MicroF1 {
		accuracy = ">all labels right"
	}
	t := report.NewTable(">fold", ">documents", accuracy, ">micro F1", ">macro F1")
	for _, row := range r.Rows {
		t.Add(fmt.Sprint(row.Fold), report.Count(row.Documents), fmt.Sprintf("%.2f%%", 100*float64(*row.Accuracy)),
			fmt.Sprintf("%.4f", float64(*row.MicroF1)), fmt.Sprintf("%.4f", float64(*row.MacroF1)))
	}
	t.Write(w)
	writeMean(w, r.Measure, float64(r.Mean), float64(r.SD))
	r.writeAll(w)
	writeAccuracy(w, r.figures)
	fmt.Fprintf(w, "reading %.2f s, folds %.2f s, in all %.2f s, %s\n", r.SecondsRead, r.SecondsSolve, r.Seconds,
		report.Peak(r.PeakBytes, r.LimitBytes))
}
