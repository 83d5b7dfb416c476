// Package machines has the commands that train support vector machines and predict with them:
// train, cv, grid, predict.
package machines

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// machine are the flags of a command that trains: documents, kernel, problem, how to compute.
type machine struct {
	source.Documents
	source.Kernels
	backend.Compute
	f *cli.Flags

	kind       string // -type or -s
	scheme     string
	c, nu, eps float64
	tolerance  float64
	shrinking  cli.ZeroOne
	prob       cli.ZeroOne
	thresholds cli.ZeroOne
	reject     string
	weights    source.Weights
	seed       uint64
	letters

	shorthand shorthand // flags of learners
	learner   learner   // what -type names

	chooseTime float64 // what a choice may cost

	scale   string         // of columns
	vectors *learn.Vectors // defaults for vectors that aren't counts; nil for text and counts
}

// declare declares the flags.
func (m *machine) declare(f *cli.Flags) {
	m.f = f
	m.StartsOver, m.Reread = true, []*string{&m.In}
	m.Documents.Declare(f, "", &m.Limits)
	f.Group("Problem", "")
	m.Kernels.Declare(f, svm.DefaultKernel)
	if k := f.Lookup("kernel"); f.Name() != "grid" {
		k.Usage = strings.Replace(k.Usage, ", or several", "", 1)
	}
	f.StringVar(&m.scale, "scale", "", "scale columns to `RANGE`, such as 0..1, or standard, as an embedding")
	f.StringVar(&m.kind, "type", "",
		"`TYPE`: c_svc (default), nu_svc, one_class, epsilon_svr, nu_svr, or a learner")
	f.Choose(&m.scheme, "scheme", "", "machines: one-vs-one, one-vs-rest, or labels, one per label: `SCHEME`",
		[]string{"one-vs-one", "one-vs-rest", "labels"})
	f.Float64Var(&m.c, "c", 1, "`C`, the price of a violated margin: c_svc, regressions")
	f.Float64Var(&m.nu, "nu", 0.5, "`NU`, a bound on the share of errors: nu_svc, one_class, nu_svr")
	f.Float64Var(&m.eps, "epsilon", 0.1, "`WIDTH` of the zone without loss of epsilon_svr")
	f.Var(&m.weights, "weight", "multiply C for a class: `CLASS=W`, several times; balanced: by their sizes")
	f.Var(&m.prob, "probabilities", "also train for probabilities, with five more trainings per machine, `0|1`")
	f.Group("Training", "")
	f.Var(&m.thresholds, "thresholds", "tune the threshold of each label on folds, `0|1` (default: 1 where C is chosen)")
	f.Uint64Var(&m.seed, "seed", 1, "`SEED` of folds, including those for thresholds")
	m.declareLetters(f)
	m.Compute.Declare(f)
	f.Group("Output", "")
	f.Check(m.check)
}

// check checks what can be checked before anything is read.
func (m *machine) check() error {
	err := m.shorthand.take(&m.kind)
	if err == nil {
		err = m.takeScale()
	}
	if err != nil {
		return err
	}
	if m.learner.Learner, m.learner.trainer, err = learn.Parse(m.kind); err != nil {
		return cli.UsageError{Err: err}
	}
	t := m.learner.Type
	if t == "" {
		return m.checkLearner()
	}
	m.kind = m.learner.Name
	for _, q := range []struct {
		name string
		v    float64
		ok   bool
		want string
	}{
		{"-c", m.c, m.c > 0, "a number above 0"},
		{"-nu (-n)", m.nu, m.nu > 0 && m.nu <= 1, "a number above 0, at most 1"},
		{"-epsilon (-p)", m.eps, m.eps > 0, "a number above 0"},
		{"-tolerance (-e)", m.tolerance, m.tolerance > 0, "a number above 0"},
		{"-g", m.gamma, m.gamma >= 0, "a number above 0, or 0 for one divided by the number of columns"},
	} {
		if !q.ok || math.IsInf(q.v, 0) {
			return cli.Usagef("%s %v, expected %s", q.name, q.v, q.want)
		}
	}
	if err := m.checkLetters(); err != nil {
		return err
	}
	switch {
	case m.weights.Given() && t != model.CSVC:
		return cli.Usagef("-weight (-wCLASS) applies to c_svc only, found %s", t)
	case bool(m.prob) && !t.Classifies():
		return cli.Usagef("-probabilities (-b 1) applies to c_svc and nu_svc only, found %s", t)
	}
	kernels, err := m.kernelsOf(nil)
	m.Signed = m.Signed || slices.ContainsFunc(kernels, func(k kernel.Kernel) bool { return k.Embedding().Scales() })
	return err
}

// named checks that a source is named: no command learns from documents that nobody named.
func (m *machine) named() error {
	if m.In == "" {
		return source.Missing("learn from")
	}
	return nil
}

// kernelsOf returns the kernels that were asked for, at least one. The corpus, which may be nil for
// a check, gives -t its default gamma: one divided by the greatest index, as svm-train has it.
func (m *machine) kernelsOf(c *corpus.Corpus) ([]kernel.Kernel, error) {
	if m.precomputed() {
		return []kernel.Kernel{kernel.Precomputed()}, nil
	}
	if m.number >= 0 {
		return m.Parse(m.spec(c))
	}
	switch {
	case m.scale != "":
		return m.Parse("rbf")
	case m.vectors != nil:
		return m.Parse(m.vectors.Kernel)
	}
	return m.Parse(svm.DefaultKernel)
}

// kernelOf returns the one kernel that was asked for.
func (m *machine) kernelOf(c *corpus.Corpus) (kernel.Kernel, error) {
	kernels, err := m.kernelsOf(c)
	if err != nil {
		return nil, err
	}
	if len(kernels) > 1 {
		return nil, cli.Usagef("%d kernels, expected one (gram grid compares several)", len(kernels))
	}
	return kernels[0], nil
}

// options are what the flags say to a learner. The corpus may be nil for a check.
func (m *machine) options(c *corpus.Corpus) (o learn.Options, err error) {
	o = learn.Options{
		Seed: m.seed, ISA: m.ISA, Workers: m.Workers, Layers: m.shorthand.layers, Width: m.shorthand.width,
		Balanced: m.weights.Balanced, Probabilities: bool(m.prob), Reject: m.reject,
		KeepAll:    !bool(m.shrinking),
		Thresholds: bool(m.thresholds), NoThresholds: m.f.Given("thresholds") && !bool(m.thresholds), Work: m.chooseTime,
	}
	if m.f.Given("c") {
		o.C = m.c
	}
	if m.f.Given("nu", "n") {
		o.Nu = m.nu
	}
	if m.f.Given("epsilon", "p") {
		o.Epsilon = m.eps
	}
	if m.f.Given("tolerance", "e") {
		o.Tolerance = m.tolerance
	}
	if m.f.Given("s", "t", "g", "d", "r", "n", "p") {
		o.Work = 0
	}
	if c == nil {
		o.Thresholds = o.Thresholds && m.scheme != "" // documents may have labels
	}
	if err := o.SetScheme(m.learner.Learner, m.scheme, c); err != nil {
		if c == nil {
			err = cli.UsageError{Err: err}
		}
		return o, err
	}
	switch {
	case m.number >= 0:
		o.Kernel = m.spec(c)
	case len(m.Specs) > 0:
		o.Kernel = m.Specs[0]
	}
	if m.Embedding != "" {
		e, err := sparse.ParseEmbedding(m.Embedding)
		if err != nil {
			return o, cli.UsageError{Err: fmt.Errorf("-embed: %w", err)}
		}
		o.Embedding = &e
	}
	if o.Vectors = m.vectors; m.scale != "" {
		o.Vectors = &learn.Vectors{Kernel: "rbf", Embedding: *o.Embedding}
	}
	if o.Weights, err = m.weights.For(c); err != nil {
		return o, err
	}
	err = m.learner.trainer.Check(o)
	if err != nil && (c == nil || m.learner.Type != "") {
		err = cli.UsageError{Err: err}
	}
	return o, err
}
