package repro

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// modApteSplit is the ModApte split of Reuters-21578.
type modApteSplit struct {
	train, test *sparse.CSR
	labels      [2][][]int // of training and test stories: which of the ten topics each has
	digest      [32]byte
}

// newModApteSplit takes the stories of a kind from both parts of the corpus: the first so many are for training.
func newModApteSplit(c *sparse.Corpus, train int, kind string) *modApteSplit {
	s := &modApteSplit{digest: c.Digest()}
	var docs [2][]int
	for i := range c.Documents.Rows() {
		have := []int{} // not nil, which would leave the story out of the training
		for t, topic := range llTop {
			if hasClass(c, i, topic) {
				have = append(have, t)
			}
		}
		if len(have) == 0 && (kind == "top" || kind == "topics" && hasClass(c, i, "-")) {
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

// modApteResult is what one kernel with one scale gives, by C and topic.
type modApteResult struct {
	Test      [][]wrongly // of test stories
	Held      [][]wrongly // of held-out training stories, by machines that were trained without them
	Trainings int64
}

// wrongly are the stories that a machine decides wrongly, and how many have the topic.
type wrongly struct {
	Missed, Mistaken []int // with the topic, without it
	Positive         int
}

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

// modApteBase is one embedding of the split: the pairs of training stories, and c of test stories (columns) against training stories (rows).
type modApteBase struct {
	pairs        *Pairs
	cross        *engine.Dense
	train, test  []float32 // norms
	dotProducts  int64
	k, crossed   []float32 // matrices of the kernel at work
	trainN, tstN int
}

// newModApteBase computes the dot products; idf weights are those of the training stories.
func (r *Run) newModApteBase(ctx context.Context, s *modApteSplit, e sparse.Embedding) (b *modApteBase, err error) {
	fit := e.Fit(s.train)
	pairs, err := r.newPairs(ctx, fit, s.train, "dot products of modapte, "+e.String())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, pairs.Close())
		}
	}()
	var x [2]*sparse.Embedded
	for i, m := range []*sparse.CSR{s.train, s.test} {
		if x[i], err = fit.Transform(m); err != nil {
			return nil, err
		}
	}
	test, err := engine.NewContext(ctx, x[1], engine.Options{ISA: r.ISA, Device: r.Device, Workers: r.Threads(), MemoryBytes: r.MemoryBytes})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, test.Close()) }()
	c, err := engine.ParseKernelIn("c", e)
	if err != nil {
		return nil, err
	}
	b = &modApteBase{pairs: pairs, trainN: s.train.Rows(), tstN: s.test.Rows()}
	if b.cross, err = test.Cross(ctx, c, x[0]); err != nil {
		return nil, err
	}
	b.train, b.test = single(x[0].Norms), single(x[1].Norms)
	b.dotProducts = pairs.DotProducts() + test.Stats().Pairs
	b.k, b.crossed = make([]float32, b.trainN*b.trainN), make([]float32, b.trainN*b.tstN)
	return b, nil
}

func single(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}

// modApteRows bounds the rows that the solver keeps, which it does where a part of the stories is left out: half the matrix, in bytes.
func modApteRows(stories int64) int64 { return max(2*stories*stories, 1<<20) }

// measure trains and tests with one kernel: for each C on all training stories, and on those that aren't held out.
func (b *modApteBase) measure(ctx context.Context, s *modApteSplit, kernel engine.Kernel, prices []float64, held []bool, workers int, kernels *asm.Kernels) (*modApteResult, error) {
	if err := b.pairs.Fill(ctx, kernel, b.k, workers); err != nil {
		return nil, err
	}
	for i := range b.trainN {
		row := b.crossed[i*b.tstN : (i+1)*b.tstN]
		if err := engine.Apply(kernel, kernels, row, b.cross.Row(i), b.train[i:i+1], b.test); err != nil {
			return nil, err
		}
	}
	dense, err := solver.NewDense(b.trainN, b.k)
	if err != nil {
		return nil, err
	}
	all := s.labels[0]
	left := make([][]int, len(all)) // nil for those held out
	for i, have := range all {
		if !held[i] {
			left[i] = have
		}
	}
	out := &modApteResult{}
	opt := solver.Options{Workers: workers, Kernels: kernels, RowBytes: modApteRows(int64(len(all)))}
	var start [2]*solver.Classifier
	for _, c := range prices {
		for part, labels := range [2][][]int{all, left} {
			classifier, err := solver.Train(ctx, dense, solver.Training{Sets: labels, Classes: len(llTop), Parameters: solver.Parameters{C: c}, Start: start[part]}, opt)
			if err != nil {
				return nil, err
			}
			start[part] = classifier
			out.Trainings += int64(len(classifier.Machines))
			if part == 0 {
				out.Test = append(out.Test, decideTopics(classifier, matrix{b.tstN, b.crossed}, s.labels[1], nil, workers, kernels))
			} else {
				out.Held = append(out.Held, decideTopics(classifier, matrix{b.trainN, b.k}, all, held, workers, kernels))
			}
		}
	}
	return out, ctx.Err()
}

// decideTopics finds the wrong decisions of all machines on stories whose kernel values are the columns of m, row i being that of training story i. Where only is
// given, the others don't count.
func decideTopics(c *solver.Classifier, m matrix, labels [][]int, only []bool, workers int, kernels *asm.Kernels) []wrongly {
	out := make([]wrongly, len(c.Machines))
	var next atomic.Int64
	var each sync.WaitGroup
	for range min(workers, len(c.Machines)) {
		each.Go(func() {
			d := &decider{kernels: kernels}
			for {
				topic := int(next.Add(1)) - 1
				if topic >= len(c.Machines) {
					return
				}
				machine, w := c.Machines[topic], &out[topic]
				d.each(machine, m.n, func(s int) []float32 { return m.row(machine.Support[s]) }, func(first int, values []float64) {
					for i, v := range values {
						if at := first + i; only == nil || only[at] {
							w.count(at, hasTopic(labels[at], topic), v > 0)
						}
					}
				})
			}
		})
	}
	each.Wait()
	return out
}

func hasTopic(have []int, topic int) bool {
	for _, t := range have {
		if t == topic {
			return true
		}
	}
	return false
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

// modApteStage is one kernel with one scale.
type modApteStage struct {
	kernel int
	scale  float64
}

// measureModApte goes through kernels and scales; what is kept from an earlier run isn't done again.
func (p *llProtocol) measureModApte(ctx context.Context, r *Run, s *modApteSplit, report *Report) (map[modApteStage]*modApteResult, error) {
	results := map[modApteStage]*modApteResult{}
	n, t := int64(s.train.Rows()), int64(s.test.Rows())
	if err := r.Fits(fmt.Sprintf("two matrices of %d documents against them and %d others", n, t), 8*n*(n+t)+modApteRows(n), s.train, s.test); err != nil {
		return results, err
	}
	kernels, err := r.Kernels()
	if err != nil {
		return results, err
	}
	held := s.held(r.Seed)
	for _, embedding := range []string{"-l2", "-l1-sqrt"} {
		if err := p.measureEmbedding(ctx, r, s, embedding, held, kernels, results, report); err != nil {
			return results, err
		}
	}
	return results, nil
}

// measureEmbedding is measureModApte for the kernels of one embedding, which share its dot products.
func (p *llProtocol) measureEmbedding(ctx context.Context, r *Run, s *modApteSplit, embedding string, held []bool, kernels *asm.Kernels, results map[modApteStage]*modApteResult,
	report *Report) (err error) {
	var base *modApteBase
	defer func() {
		if base != nil {
			err = errors.Join(err, base.pairs.Close())
		}
	}()
	e, err := sparse.ParseEmbedding("tf" + embedding)
	if err != nil {
		return err
	}
	for k, kernel := range llKernels {
		if kernel.embedding != embedding {
			continue
		}
		for _, scale := range p.scalesOf(k) {
			key, have := fmt.Sprintf("modapte %s %v", kernel.name, scale), &modApteResult{}
			kept, err := r.State.LoadFitting(key, have, func() error { return have.fits(len(p.c), s) })
			if err != nil {
				return err
			}
			if !kept {
				if base == nil {
					if base, err = r.newModApteBase(ctx, s, e); err != nil {
						return err
					}
					report.DotProducts += base.dotProducts
				}
				r.Progress("tables 5 and 6", int64(len(results)), int64(1+2*len(p.scales)))
				made, err := engine.ParseKernelIn(kernel.spec(scale), e)
				if err != nil {
					return err
				}
				if have, err = base.measure(ctx, s, made, p.c, held, r.Threads(), kernels); err != nil {
					return err
				}
				if err := r.State.Save(key, have); err != nil {
					return err
				}
			}
			results[modApteStage{k, scale}] = have
			report.Trainings += have.Trainings
		}
	}
	return nil
}

// held says which third of the training stories is held out for the choice of scale and C: by topics, as far as stories have one.
func (s *modApteSplit) held(seed uint64) []bool {
	first := make([]int, len(s.labels[0]))
	for i, have := range s.labels[0] {
		first[i] = len(llTop)
		if len(have) > 0 {
			first[i] = have[0]
		}
	}
	held := make([]bool, len(first))
	for i, part := range solver.Folds(first, 3, seed) {
		held[i] = part == 0
	}
	return held
}
