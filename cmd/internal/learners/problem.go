package learners

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

// job is a training job: a corpus and the options to train on it.
type job struct {
	m      *machine
	corpus *corpus.Corpus // documents; nil after handOver if the learner is an SVM
	names  *corpus.Corpus // names of documents and terms for error messages
	o      learn.Options
	line   source.Line // description of the corpus before training
	begin  time.Time

	problem *svm.Problem // SVM problem prepared last
	// times for reading and for preparing the documents, in seconds
	read, prepare float64
}

// prepare reads the documents, and checks that their labels suit the learner. If may is set, the
// default kernel and embedding may depend on the documents.
func (m *machine) prepare(
	ctx context.Context, e *cli.Env, p *cli.Progress, may bool, numCs, folds int,
) (*job, error) {
	j := &job{m: m, begin: time.Now()}
	m.Need = func(s corpus.Size) int64 { return m.learner.Need(m.learner.trainer, s, numCs, folds, m.Workers) }
	corpus, err := m.readVectors(ctx, e, p, may)
	if err != nil {
		return nil, err
	}
	j.read = time.Since(j.begin).Seconds()
	if j.o, err = m.options(corpus); err != nil {
		return nil, err
	}
	if !m.f.IsSet("type", "s") {
		if err := learn.CheckTargets(corpus); err != nil {
			return nil, err
		}
	}
	if err := checkLabels(e, corpus, m.learner.Type, learn.SchemeOf(m.learner.trainer)); err != nil {
		return nil, err
	}
	j.corpus, j.line = corpus, source.Line{Source: corpus.Source, Documents: corpus.Documents.Rows(),
		Classes: len(corpus.Classes), Values: corpus.Documents.NNZ(), Scripts: corpus.Scripts}
	j.line.SetTargets(corpus, m.learner.Type == model.EpsilonSVR || m.learner.Type == model.NuSVR)
	j.names = corpus.NamesOnly()
	j.o.MemoryBytes, j.o.HeldBytes = m.Budget(), backend.RuntimeBytes
	j.o.Progress = func(stage string, done, total int64, details ...string) { p.Tell(stage, done, total, details) }
	j.o.Say = func(format string, args ...any) {
		p.Clear()
		e.Say(format, args...)
	}
	j.o.Warn = func(format string, args ...any) {
		p.Clear()
		e.Warn(format, args...)
	}
	if m.learner.Type == "" {
		m.hintLearner(e, corpus, j.o)
		held := backend.RuntimeBytes + corpus.Documents.Bytes()
		j.o.MemoryBytes, j.o.HeldBytes = learn.MemoryLeft(m.Budget(), held), 0
		return j, nil
	}
	return j, j.machines(e, p)
}

// machines sets the options for support vector machines.
func (j *job) machines(e *cli.Env, p *cli.Progress) (err error) {
	m := j.m
	var choosing time.Time
	j.o.Solver = training(p, func(s svm.Progress) (left []string) {
		if strings.HasPrefix(s.Stage, "choosing") {
			if choosing.IsZero() {
				choosing = time.Now()
			}
			left = wait(choosing, s)
		}
		return append(left, details(s)...)
	})
	var asked kernel.Kernel
	if m.f.Lookup("grid") == nil {
		if asked, err = m.kernelOf(j.corpus); err != nil {
			return err
		}
		m.hintScale(e, j.corpus, asked.Embedding())
	}
	if m.Job(j.corpus.Documents.Rows()) == backend.CUDA {
		j.o.Device = m.Load
	}
	j.o.Prepared = func(problem *svm.Problem, kernels []kernel.Kernel) error {
		p.Clear()
		j.problem, j.prepare = problem, time.Since(j.begin).Seconds()-j.read
		if asked != nil && kernel.Equal(asked, kernels[0]) && !learn.Proposes(asked) {
			source.WarnDoubtful(e, asked)
		}
		for _, k := range kernels {
			if err := source.WarnZeros(e, problem.Engine(), k); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// handOver returns the corpus. For SVMs, j drops the corpus, to free memory for the matrix.
func (j *job) handOver() *corpus.Corpus {
	c := j.corpus
	if j.m.learner.Type != "" {
		j.corpus = nil
	}
	return c
}

// named adds names of documents and terms to a learner's error.
func (j *job) named(err error) error { return j.names.NameValue(err) }

// checkLabels checks that the labels suit the learner, and that texts have terms. It warns about
// unlabelled documents.
func checkLabels(e *cli.Env, c *corpus.Corpus, t model.Type, scheme solver.Scheme) error {
	switch {
	case t != "" && c.Vocabulary != nil && c.Documents.NNZ() == 0:
		return fmt.Errorf("%s has no terms to learn from; -digits keeps numbers, -min-df 1 keeps words that occur in only "+
			"one document", c.Source)
	case t == model.OneClass:
		return nil // one_class ignores labels
	case t == "" || t.Classifies():
		return checkClasses(e, c, scheme)
	}
	if n, first := unlabelled(c); n > 0 {
		return fmt.Errorf("%s of %s has no label, but regression requires a number for each document",
			c.DocumentName(first), c.Source)
	}
	return nil
}

// checkClasses checks that there are enough classes for the scheme. It warns about unlabelled
// documents.
func checkClasses(e *cli.Env, c *corpus.Corpus, scheme solver.Scheme) error {
	least := 2
	if scheme == solver.Labels {
		least = 1
	}
	if len(c.Classes) == 0 {
		line := "" // hint on how to label lines of text
		if c.Vocabulary != nil {
			line = "use lines label<TAB>text or "
			if c.Table != nil {
				line = "use -label-column NAME or "
			}
		}
		return fmt.Errorf("%s has no labels, but at least 2 classes are required (%s-labels FILE; "+
			"-type one_class needs no labels)", c.Source, line)
	}
	if len(c.Classes) < least {
		return fmt.Errorf(
			"%s has only %s, but at least %d are required (-type one_class needs no labels)",
			c.Source,
			report.Counted(len(c.Classes), "class", "classes"),
			least,
		)
	}
	if c.Targets() {
		e.Warn("most labels of %s are distinct numbers; for regression, use -type epsilon_svr", c.Source)
	}
	warnLabels(e, c)
	if n, first := unlabelled(c); n > 0 && scheme != solver.Labels {
		e.Warn("ignoring %s without a label, the first is %s", report.Documents(n), c.DocumentName(first))
	}
	warnNone(e, c, scheme)
	return nil
}

// warnNone warns about unlabelled documents if the scheme has a classifier per label, because
// unlabelled documents are then negative examples for all labels. Other schemes ignore such
// documents.
func warnNone(e *cli.Env, c *corpus.Corpus, scheme solver.Scheme) {
	if n, first := unlabelled(c); n > 0 && scheme == solver.Labels {
		e.Warn("using %s without a label as negative examples for all labels, the first is %s",
			report.Documents(n), c.DocumentName(first))
	}
}

// unlabelled returns the number and the smallest index of unlabelled documents.
func unlabelled(c *corpus.Corpus) (count, first int) {
	for i := c.Documents.Rows() - 1; i >= 0; i-- {
		if len(c.Labels.Of(i)) == 0 {
			count, first = count+1, i
		}
	}
	return count, first
}
