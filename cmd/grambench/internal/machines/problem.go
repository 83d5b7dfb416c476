package machines

import (
	"context"
	"fmt"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// job is a problem with one kernel, ready for training.
type job struct {
	problem  *svm.Problem
	settings svm.Settings
	begin    time.Time
	// Seconds that reading the documents took, and making them ready.
	read, prepare float64
}

// prepare reads the documents and makes them ready for training with one kernel. It calls choose,
// if that isn't nil, with the documents and the settings that were asked for, and seen with what is
// trained: the documents are let go of before the matrix is computed, which needs the room.
func (m *machine) prepare(
	ctx context.Context, e *cli.Env, p *cli.Progress,
	choose func(c *sparse.Corpus, s svm.Settings) (svm.Settings, error),
	seen func(c *sparse.Corpus, s svm.Settings) error,
) (*job, error) {
	j := &job{begin: time.Now()}
	corpus, err := m.readVectors(ctx, e, p, m.unnamed())
	if err != nil {
		return nil, err
	}
	if corpus, err = m.distributions(ctx, e, p, corpus); err != nil {
		return nil, err
	}
	j.read = time.Since(j.begin).Seconds()
	k, err := m.kernelOf(corpus)
	if err != nil {
		return nil, err
	}
	if j.settings, err = m.settings(corpus); err != nil {
		return nil, err
	}
	j.settings.Kernel = k
	if err := checkLabels(e, corpus, j.settings); err != nil {
		return nil, err
	}
	asked := true
	if choose != nil {
		if j.settings, err = choose(corpus, j.settings); err != nil {
			return nil, err
		}
		asked = engine.SameKernel(k, j.settings.Kernel)
		k = j.settings.Kernel
	}
	if err := seen(corpus, j.settings); err != nil {
		return nil, err
	}
	if asked { // a choice was made by results
		m.hintScale(e, corpus, k.Embedding())
		source.WarnDoubtful(e, k)
	}
	m.tasks = []svm.Task{{Settings: j.settings, Folds: m.validates}}
	if j.problem, err = m.newProblem(ctx, e, corpus, k.Embedding(), p, training(p, details)); err != nil {
		return nil, err
	}
	if !m.OfSets(&m.Kernels) {
		if err := source.WarnZeros(e, j.problem.Engine(), k); err != nil {
			return nil, err
		}
	}
	j.prepare = time.Since(j.begin).Seconds() - j.read
	return j, nil
}

// distributions returns the distributions of sets of points for documents, where sets were asked
// for; otherwise the corpus stays as it is.
func (m *machine) distributions(
	ctx context.Context, e *cli.Env, p *cli.Progress, c *sparse.Corpus,
) (*sparse.Corpus, error) {
	if !m.OfSets(&m.Kernels) {
		return c, nil
	}
	out, coordinates, err := m.Distributions(ctx, p, c, nil)
	if err != nil {
		return nil, err
	}
	k, err := m.kernelOf(out)
	if err != nil {
		return nil, err
	}
	h, _ := engine.HyperbolicOf(engine.Resolve(k, coordinates+1))
	source.WarnUnproven(e, h, coordinates)
	return out, nil
}

// newProblem makes a corpus ready for training, if -m allows it.
func (m *machine) newProblem(
	ctx context.Context, e *cli.Env, c *sparse.Corpus, embedding sparse.Embedding, p *cli.Progress,
	tell func(svm.Progress),
) (*svm.Problem, error) {
	opt := svm.Options{ISA: m.ISA, Workers: m.Workers, MemoryBytes: m.Budget(), HeldBytes: backend.RuntimeBytes + m.kept,
		Once: m.once, Tasks: m.tasks, Progress: tell}
	if m.precomputed() {
		p.Stage("preparing the matrix")
		defer p.Clear()
		return svm.NewPrecomputed(ctx, c, opt)
	}
	if !m.OfSets(&m.Kernels) && m.Job(c.Documents.Rows()) == backend.CUDA { // which compares no sets
		opt.Device = m.Load
	}
	if m.tiles != "" {
		var err error
		if opt.Store, err = tiles.OpenStore(m.tiles); err != nil {
			return nil, fmt.Errorf("-tiles: %w", err)
		}
	}
	p.Stage("preparing documents")
	problem, err := svm.NewProblem(ctx, c, embedding, opt)
	p.Clear()
	if err != nil {
		return nil, learn.Enough(c.NameValue(err), 0)
	}
	if opt.Store != nil && !problem.Cache().Whole {
		n := int64(problem.Len())
		e.Warn("-tiles has no effect: the matrix, %s, doesn't fit into memory (-m)", report.Bytes(4*n*n))
	}
	return problem, nil
}

// checkLabels checks that the labels of a corpus suit what is to be trained, and that its text has
// terms, and warns of documents without a label.
func checkLabels(e *cli.Env, c *sparse.Corpus, settings svm.Settings) error {
	switch {
	case c.Vocabulary != nil && c.Documents.NNZ() == 0:
		return fmt.Errorf("%s has no terms, expected some to learn from (-digits keeps numbers, -min-df 1 words of one "+
			"document)", c.Source)
	case settings.Type == model.OneClass:
		return nil // looks at no labels
	case settings.Type.Classifies():
		return checkClasses(e, c, settings.Scheme)
	}
	if n, first := unlabelled(c); n > 0 {
		return fmt.Errorf("%s of %s has no label, expected a number for each: regression estimates the labels",
			source.NameOf(c, first), c.Source)
	}
	return nil
}

// checkClasses checks that there are classes to tell apart, or a label, and warns of documents
// without one.
func checkClasses(e *cli.Env, c *sparse.Corpus, scheme solver.Scheme) error {
	least := 2
	if scheme == solver.Labels {
		least = 1
	}
	if len(c.Classes) == 0 {
		line := "" // what a line of text looks like
		if c.Vocabulary != nil {
			line = "label<TAB>text in a line has one, "
		}
		return fmt.Errorf("%s has no labels, expected classes to tell apart (%s-labels FILE reads those of documents, "+
			"-type one_class learns without)", c.Source, line)
	}
	if len(c.Classes) < least {
		return fmt.Errorf(
			"%s has %s, expected at least %d to tell apart (-type one_class learns from one, without labels)",
			c.Source,
			report.Counted(len(c.Classes), "class", "classes"),
			least,
		)
	}
	// To labels these are documents without any of them.
	if n, first := unlabelled(c); n > 0 && scheme != solver.Labels {
		e.Warn("no label, left out of training (%s), first at %s", report.Documents(n), source.NameOf(c, first))
	}
	return nil
}

// unlabelled counts the documents without a label.
func unlabelled(c *sparse.Corpus) (count, first int) {
	for i := c.Documents.Rows() - 1; i >= 0; i-- {
		if len(c.Labels.Of(i)) == 0 {
			count, first = count+1, i
		}
	}
	return count, first
}

// warnStore warns where tiles that were computed couldn't be kept for later runs: -tiles serves
// nothing then, or less than it could.
func (m *machine) warnStore(e *cli.Env, problem *svm.Problem) {
	if problem == nil {
		return
	}
	if c := problem.Cache(); c.StoreErr != nil {
		e.Warn("-tiles %s: %s kept, then no more: %v", m.tiles, report.Counted(c.Saved, "tile file", "tile files"),
			c.StoreErr)
	}
}
