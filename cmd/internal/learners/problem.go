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

// trainingJob is a corpus with the options for training.
type trainingJob struct {
	flags      *trainingFlags
	corpus     *corpus.Corpus // documents; for an SVM, nil after releaseCorpus
	names      *corpus.Corpus // names of documents and terms for error messages
	options    learn.Options
	corpusLine source.Summary // summary of the corpus before training
	begin      time.Time

	problem *svm.Problem // most recent SVM problem
	// times for reading and for preparing the documents, in seconds
	readSeconds, prepareSeconds float64
}

// prepare reads the documents, and checks that their labels suit the learner. If adaptive is set,
// the default kernel and embedding may depend on the documents.
func (m *trainingFlags) prepare(
	ctx context.Context, e *cli.Env, p *cli.Progress, adaptive bool, numCs, folds int,
) (*trainingJob, error) {
	j := &trainingJob{flags: m, begin: time.Now()}
	m.Need = func(s corpus.Size) int64 {
		return m.learner.EstimateMemory(m.learner.trainer, s, numCs, folds, m.Workers)
	}
	corpus, err := m.readVectors(ctx, e, p, adaptive)
	if err != nil {
		return nil, err
	}
	j.readSeconds = time.Since(j.begin).Seconds()
	if j.options, err = m.options(corpus); err != nil {
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
	j.corpus, j.corpusLine = corpus, source.Summary{Source: corpus.Source, DocumentCount: corpus.Documents.Rows(),
		ClassCount: len(corpus.Classes), ValueCount: corpus.Documents.NNZ(), UnspacedScripts: corpus.Scripts}
	j.corpusLine.SetTargetRange(corpus, m.learner.Type == model.EpsilonSVR || m.learner.Type == model.NuSVR)
	j.names = corpus.WithoutDocuments()
	j.options.MemoryBytes, j.options.HeldBytes = m.Budget(), backend.RuntimeBytes
	j.options.Progress = func(stage string, done, total int64, details ...string) { p.Show(stage, done, total, details) }
	j.options.Info = func(format string, args ...any) {
		p.Clear()
		e.Infof(format, args...)
	}
	j.options.Warn = func(format string, args ...any) {
		p.Clear()
		e.Warnf(format, args...)
	}
	if m.learner.Type == "" {
		m.hintLearner(e, corpus, j.options)
		held := backend.RuntimeBytes + corpus.Documents.Bytes()
		j.options.MemoryBytes, j.options.HeldBytes = learn.MemoryLeft(m.Budget(), held), 0
		return j, nil
	}
	return j, j.setSVMOptions(e, p)
}

func (j *trainingJob) setSVMOptions(e *cli.Env, p *cli.Progress) (err error) {
	m := j.flags
	var choosing time.Time
	j.options.SolverProgress = trainingProgress(p, func(s svm.Progress) (left []string) {
		if strings.HasPrefix(s.Stage, "choosing") {
			if choosing.IsZero() {
				choosing = time.Now()
			}
			left = remainingTime(choosing, s)
		}
		return append(left, progressDetails(s)...)
	})
	var asked kernel.Kernel
	if m.f.Lookup("grid") == nil {
		if asked, err = m.kernelOf(j.corpus); err != nil {
			return err
		}
		m.hintScale(e, j.corpus, asked.Embedding())
	}
	if m.BackendFor(j.corpus.Documents.Rows()) == backend.CUDA {
		j.options.Device = m.LoadDocuments
	}
	j.options.OnProblem = func(problem *svm.Problem, kernels []kernel.Kernel) error {
		p.Clear()
		j.problem, j.prepareSeconds = problem, time.Since(j.begin).Seconds()-j.readSeconds
		if asked != nil && kernel.Equal(asked, kernels[0]) && !learn.IsDiffusion(asked) {
			source.WarnIndefinite(e, asked)
		}
		for _, k := range kernels {
			if err := source.WarnZeroDiagonal(e, problem.Engine(), k); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// releaseCorpus returns the corpus. For an SVM, it also sets j.corpus to nil, to free memory.
func (j *trainingJob) releaseCorpus() *corpus.Corpus {
	c := j.corpus
	if j.flags.learner.Type != "" {
		j.corpus = nil
	}
	return c
}

func (j *trainingJob) annotateError(err error) error { return j.names.DescribeError(err) }

// checkLabels checks that the labels suit the learner, and that texts have terms. It warns about
// unlabelled documents.
func checkLabels(e *cli.Env, c *corpus.Corpus, t model.Type, scheme solver.Scheme) error {
	switch {
	case t != "" && c.Vocabulary != nil && c.Documents.NNZ() == 0:
		return fmt.Errorf("%s has no terms to learn from; -digits keeps numbers, and -min-df 1 keeps words that occur in "+
			"only one document", c.Source)
	case t == model.OneClass:
		return nil // one_class ignores labels
	case t == "" || t.Classifies():
		return checkClasses(e, c, scheme)
	}
	if n, first := countUnlabelled(c); n > 0 {
		return fmt.Errorf("%s of %s has no label, but regression requires a number for each document",
			c.DocumentName(first), c.Source)
	}
	return nil
}

// checkClasses checks that there are enough classes for the scheme. It warns about unlabelled
// documents.
func checkClasses(e *cli.Env, c *corpus.Corpus, scheme solver.Scheme) error {
	least := 2
	if scheme == solver.MultiLabel {
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
			report.FormatCountOf(len(c.Classes), "class", "classes"),
			least,
		)
	}
	if c.HasTargets() {
		e.Warnf("most labels of %s are distinct numbers; for regression, use -type epsilon_svr", c.Source)
	}
	warnLabels(e, c)
	if n, first := countUnlabelled(c); n > 0 && scheme != solver.MultiLabel {
		e.Warnf("ignoring %s without a label (first: %s)", report.FormatDocuments(n), c.DocumentName(first))
	}
	warnUnlabelled(e, c, scheme)
	return nil
}

// warnUnlabelled warns about unlabelled documents if the scheme has a classifier per label, because
// unlabelled documents are then negative examples for all labels. Other schemes ignore such
// documents.
func warnUnlabelled(e *cli.Env, c *corpus.Corpus, scheme solver.Scheme) {
	if n, first := countUnlabelled(c); n > 0 && scheme == solver.MultiLabel {
		e.Warnf("using %s without a label as negative examples of all labels (first: %s)",
			report.FormatDocuments(n), c.DocumentName(first))
	}
}

// countUnlabelled returns the number and the smallest index of unlabelled documents.
func countUnlabelled(c *corpus.Corpus) (count, first int) {
	for i := c.Documents.Rows() - 1; i >= 0; i-- {
		if len(c.Labels.Classes(i)) == 0 {
			count, first = count+1, i
		}
	}
	return count, first
}
