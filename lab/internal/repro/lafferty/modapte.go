package lafferty

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// modApteSplit is the ModApte split of Reuters-21578.
type modApteSplit struct {
	train, test *sparse.CSR
	labels      [2][][]int // of training and test stories: which of the ten topics each has
}

// newModApteSplit takes the stories of a kind, as -modapte names it, from both parts of the corpus.
// The first so many are for training.
func newModApteSplit(c *corpus.Corpus, train int, kind string) *modApteSplit {
	s := &modApteSplit{}
	var docs [2][]int
	for i := range c.Documents.Rows() {
		have := []int{} // not nil, which would leave the story out of the training
		for t, topic := range topTen {
			if hasClass(c, i, topic) {
				have = append(have, t)
			}
		}
		if len(have) == 0 && (kind == "top" || kind == "topics" && len(c.Labels.Of(i)) == 0) {
			continue
		}
		part := 0
		if i >= train {
			part = 1
		}
		docs[part], s.labels[part] = append(docs[part], i), append(s.labels[part], have)
	}
	s.train, s.test = c.Documents.SelectRows(docs[0]), c.Documents.SelectRows(docs[1])
	return s
}

// held says which third of the training stories is held out for the choice of scale and C: by
// topics, as far as stories have one.
func (s *modApteSplit) held(seed uint64) []bool {
	first := make([]int, len(s.labels[0]))
	for i, have := range s.labels[0] {
		first[i] = append(slices.Clone(have), len(topTen))[0]
	}
	held := make([]bool, len(first))
	for i, part := range solver.Folds(first, 3, seed) {
		held[i] = part == 0
	}
	return held
}

// modApteResult is what one kernel with one scale gives, by C and topic.
type modApteResult struct {
	Test      [][]wrongly // of test stories
	Held      [][]wrongly // of held-out training stories, by machines trained without them
	Trainings int64
}

// wrongly are the stories that a machine decides wrongly, and how many have the topic.
type wrongly struct {
	Missed, Mistaken []int // with the topic, without it
	Positive         int
}

// count adds one decision.
func (w *wrongly) count(story int, has, decided bool) {
	if has {
		w.Positive++
	}
	switch {
	case has && !decided:
		w.Missed = append(w.Missed, story)
	case !has && decided:
		w.Mistaken = append(w.Mistaken, story)
	}
}

// all returns the stories.
func (w *wrongly) all() []int { return slices.Concat(w.Missed, w.Mistaken) }

// errors is the number of them.
func (w *wrongly) errors() int { return len(w.Missed) + len(w.Mistaken) }

// f1 is the harmonic mean of precision and recall, 2·TP/(2·TP + FP + FN); 0 where nothing is right.
func (w *wrongly) f1() float64 {
	right := w.Positive - len(w.Missed)
	if right == 0 {
		return 0
	}
	return 2 * float64(right) / float64(2*right+w.errors())
}

// modApteBase is one embedding of the split: the pairs of training stories, and c of test stories
// (columns) against training stories (rows).
type modApteBase struct {
	*pairs
	cross       *engine.Dense
	train, test []float32 // norms
	crossed     matrix    // of the kernel at work
	computed    int64     // dot products
}

// newModApteBase computes the dot products; idf weights are those of the training stories.
func newModApteBase(ctx context.Context, r *repro.Run, s *modApteSplit, e sparse.Embedding) (b *modApteBase,
	err error) {
	fit := e.Fit(s.train)
	p, err := newPairs(ctx, r, fit, s.train, "dot products of modapte, "+e.String())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	var x [2]*sparse.Embedded
	for i, m := range []*sparse.CSR{s.train, s.test} {
		if x[i], err = fit.Transform(m); err != nil {
			return nil, err
		}
	}
	opt := options(r, "")
	opt.Progress = nil
	test, err := engine.NewContext(ctx, x[1], opt)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, test.Close()) }()
	c, err := kernel.ParseIn("c", e)
	if err != nil {
		return nil, err
	}
	b = &modApteBase{pairs: p, train: single(x[0].Norms), test: single(x[1].Norms)}
	if b.cross, err = test.Rows(ctx, c, engine.Request{Test: x[0]}, nil); err != nil {
		return nil, err
	}
	b.computed = p.dotProducts() + test.Stats().Pairs
	b.crossed = matrix{len(b.test), make([]float32, len(b.train)*len(b.test))}
	return b, nil
}

func single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}

// modApteRows bounds the rows that the solver keeps where a part of the stories is left out: half
// the matrix, in bytes.
func modApteRows(stories int64) int64 { return max(2*stories*stories, 1<<20) }

// measure trains and tests with one kernel: for each C on all training stories, and on those that
// aren't held out.
func (b *modApteBase) measure(ctx context.Context, s *modApteSplit, k kernel.Kernel, prices []float64, held []bool,
	workers int, loops *asm.Kernels) (out modApteResult, err error) {
	m, err := b.matrix(ctx, k, workers)
	if err != nil {
		return out, err
	}
	for i := range b.train {
		if err := kernel.Apply(k, loops, b.crossed.row(i), b.cross.Row(i), b.train[i:i+1], b.test); err != nil {
			return out, err
		}
	}
	dense, err := solver.NewDense(m.n, m.k)
	if err != nil {
		return out, err
	}
	all := s.labels[0]
	left := slices.Clone(all)
	for i := range left {
		if held[i] {
			left[i] = nil // not trained on
		}
	}
	opt := solver.Options{Workers: workers, Kernels: loops, RowBytes: modApteRows(int64(len(all)))}
	for _, on := range []struct {
		train, test [][]int
		m           matrix
		only        []bool
		to          *[][]wrongly
	}{{all, s.labels[1], b.crossed, nil, &out.Test}, {left, all, m, held, &out.Held}} {
		training := solver.Training{Sets: on.train, Classes: len(topTen)}
		for _, c := range prices {
			training.C = c
			if training.Start, err = solver.Train(ctx, dense, training, opt); err != nil {
				return out, err
			}
			out.Trainings += int64(len(training.Start.Machines))
			decided, err := decideTopics(ctx, training.Start, on.m, on.test, on.only, workers, loops)
			if err != nil {
				return out, err
			}
			*on.to = append(*on.to, decided)
		}
	}
	return out, nil
}

// decideTopics finds the wrong decisions of all machines on stories whose kernel values are the
// columns of m; row i is that of training story i. Where only is given, the others don't count.
func decideTopics(ctx context.Context, c *solver.Classifier, m matrix, labels [][]int, only []bool, workers int,
	loops *asm.Kernels) ([]wrongly, error) {
	out := make([]wrongly, len(c.Machines))
	return out, run.Tasks(ctx, workers, len(out), func(_ context.Context, _, topic int) error {
		machine := c.Machines[topic]
		row := func(s int) []float32 { return m.row(machine.Support[s]) }
		decide(loops, machine, m.n, row, func(story int, value float64) {
			if only == nil || only[story] {
				out[topic].count(story, slices.Contains(labels[story], topic), value > 0)
			}
		})
		return nil
	})
}

// measureModApte goes through kernels and scales. It returns what is complete, by kernel and scale.
// What an earlier run kept isn't done again.
func (p *protocol) measureModApte(ctx context.Context, r *repro.Run, s *modApteSplit,
	report *repro.Report) (results [len(kernels)][]modApteResult, err error) {
	n, t := int64(s.train.Rows()), int64(s.test.Rows())
	need := fmt.Sprintf("two matrices of %d documents against them and %d others", n, t)
	if err := r.Fits(need, 8*n*(n+t)+modApteRows(n), s.train, s.test); err != nil {
		return results, err
	}
	loops, err := r.Kernels()
	if err != nil {
		return results, err
	}
	held := s.held(r.Seed)
	step := r.Counter("tables 5 and 6", 0, int64(1+2*len(p.scales)))
	var base *modApteBase // of the embedding at work, nil until something is measured
	measure := func(e sparse.Embedding, k kernel.Kernel) (found modApteResult, err error) {
		if base == nil {
			if base, err = newModApteBase(ctx, r, s, e); err != nil {
				return found, err
			}
			report.DotProducts += base.computed
		}
		return base.measure(ctx, s, k, p.c, held, r.Threads(), loops)
	}
	for _, suffix := range suffixes {
		err := eachScale(p, "tf", suffix, measure, func(k int, found modApteResult) {
			results[k] = append(results[k], found)
			report.Trainings += found.Trainings
			step()
		})
		if base != nil {
			err, base = errors.Join(err, base.Close()), nil
		}
		if err != nil {
			return results, err
		}
	}
	return results, nil
}
