// Package learners implements the commands train, cv, grid, predict and evaluate for support vector
// machines and other learners.
package learners

import (
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// trainingFlags holds the flags of commands that train models.
type trainingFlags struct {
	source.Documents
	source.Kernels
	backend.ComputeFlags
	f *cli.Flags

	learnerType    string              // value of -type or -s
	assigned       []assigned          // parameters set by -type, -set and the flags in parameterFlags
	assignedByName map[string]assigned // explicitly set parameters, indexed by name
	seed           uint64
	libsvmFlags

	learner learner

	chooseTime float64 // time budget for automatic selection, in multiples of a training run's time

	scale   string                // value of -scale
	vectors *learn.VectorDefaults // defaults for vectors that aren't counts; nil for text and counts
}

func (m *trainingFlags) declare(f *cli.Flags) {
	m.f = f
	m.Restartable, m.RereadSources = true, []*string{&m.Source}
	m.Documents.Declare(f, "", &m.Limits)
	f.StartGroup("Problem", "")
	m.Kernels.Declare(f, svm.DefaultKernel)
	if k := f.Lookup("kernel"); f.Name() != "grid" {
		k.Usage = strings.Replace(k.Usage, "; repeatable", "", 1)
	}
	f.StringVar(&m.scale, "scale", "", "scale columns to `RANGE`, such as 0..1, or standard (zero mean, unit variance)")
	f.StringVar(&m.learnerType, "type", "",
		"learner `TYPE`: c_svc (default), nu_svc, one_class, epsilon_svr, nu_svr, knn, ...")
	m.declareParameters("scheme", "c", "nu", "epsilon", "weight", "probabilities")
	f.SetChoices("scheme", "one-vs-one", "one-vs-rest", "labels")
	f.Var(assignmentFlag{m}, "set", "set a parameter of the learner, `NAME=VALUE` (see help learners); repeatable")
	f.StartGroup("Training", "")
	m.declareParameters("thresholds")
	f.Uint64Var(&m.seed, "seed", 1, "random `SEED` for splitting folds")
	m.declareLIBSVM(f)
	m.ComputeFlags.Declare(f)
	f.StartGroup("Output", "")
	f.AddCheck(m.check)
}

func (m *trainingFlags) check() error {
	var err error
	if m.learner.Learner, m.learner.trainer, err = learn.Parse(m.learnerType); err != nil {
		return cli.UsageError{Err: err}
	}
	for _, step := range []func() error{m.collectAssigned, m.applyScale, m.setParameters} {
		if err := step(); err != nil {
			return err
		}
	}
	if m.learner.Type == "" {
		for _, name := range []string{"t", "g", "d", "r", "backend", "gpu-mem", "gpu-tensor", "to", "one-se", "choose-time"} {
			if m.f.IsSet(name) {
				return cli.Usagef("-%s does not apply to -type %s", name, m.learner.Name)
			}
		}
		if n := len(m.Specs); n > 1 && m.f.Lookup("grid") == nil {
			return cli.Usagef("only one kernel is allowed, got %d; use gram grid to compare kernels", n)
		}
		_, err := m.options(nil)
		return err
	}
	m.learnerType = m.learner.Name
	if !(m.gamma >= 0) || math.IsInf(m.gamma, 0) {
		return cli.Usagef("-g must be positive, or 0 for 1/columns, got %v", m.gamma)
	}
	if err := m.checkLIBSVM(); err != nil {
		return err
	}
	kernels, err := m.kernelsOf(nil)
	m.Signed = m.Signed || slices.ContainsFunc(kernels, func(k kernel.Kernel) bool { return k.Embedding().Scales() })
	return err
}

func (m *trainingFlags) requireSource() error {
	if m.Source == "" {
		return source.MissingSourceError("learn from")
	}
	return nil
}

// kernelsOf returns the kernels set by flags, or the default kernel. If -t is set, the default
// gamma for vectors is 1 divided by the number of columns of c, as in svm-train. c may be nil
// during flag checks.
func (m *trainingFlags) kernelsOf(c *corpus.Corpus) ([]kernel.Kernel, error) {
	if m.isPrecomputed() {
		return []kernel.Kernel{kernel.Precomputed()}, nil
	}
	if m.kernelNumber >= 0 {
		return m.Parse(m.libsvmKernel(c))
	}
	switch {
	case m.scale != "":
		return m.Parse("rbf")
	case m.vectors != nil:
		return m.Parse(m.vectors.Kernel)
	}
	return m.Parse(svm.DefaultKernel)
}

// kernelOf returns the kernel set by flags, or the default kernel. It fails if flags set several
// kernels.
func (m *trainingFlags) kernelOf(c *corpus.Corpus) (kernel.Kernel, error) {
	kernels, err := m.kernelsOf(c)
	if err != nil {
		return nil, err
	}
	if len(kernels) > 1 {
		return nil, cli.Usagef("only one kernel is allowed, got %d; use gram grid to compare kernels", len(kernels))
	}
	return kernels[0], nil
}

// options returns the learner's options, and adapts the trainer to c. During flag checks, c is nil.
func (m *trainingFlags) options(c *corpus.Corpus) (o learn.Options, err error) {
	o = learn.Options{Seed: m.seed, ISA: m.ISA, Workers: m.Workers, WorkBudget: m.chooseTime, VectorDefaults: m.vectors}
	if m.f.IsSet("s", "t", "g", "d", "r", "n", "p") {
		o.WorkBudget = 0
	}
	t := m.learner.trainer
	if c != nil {
		if err := m.learner.AdaptTrainer(t, c); err != nil {
			return o, err
		}
	}
	if m.kernelNumber >= 0 {
		if err := params.Set(t, "kernel", m.libsvmKernel(c)); err != nil {
			return o, err
		}
	}
	if m.scale != "" {
		e, err := sparse.ParseEmbedding(m.Embedding)
		if err != nil {
			return o, err
		}
		o.VectorDefaults = &learn.VectorDefaults{Kernel: "rbf", Embedding: e}
	}
	err = t.Check(o)
	if err != nil && (c == nil || m.learner.Type != "") {
		err = cli.UsageError{Err: err}
	}
	return o, err
}
