// Package machines has the commands that train support vector machines and predict with them:
// train, cv, grid, predict.
package machines

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

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
	weights    weights
	tiles      string
	seed       uint64
	letters

	shorthand shorthand // flags of learners
	learner   learner   // what -type names beside the types

	chooseTime float64 // what a choice may cost

	scale    string // of columns
	noCounts string // why vectors get a kernel of vectors by default: see sparse.CSR.NoCounts

	validates int        // folds of cv, 0 where a training follows
	tasks     []svm.Task // what problems are made for

	kept int64 // bytes of the corpus, if it is kept while machines are trained
	once bool  // one model is trained, and nothing else
}

// types are the problems in the order of svm-train's -s.
var types = []model.Type{model.CSVC, model.NuSVC, model.OneClass, model.EpsilonSVR, model.NuSVR}

// schemes are the ways from machines of two classes to several.
var schemes = []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels}

// declare declares the flags.
func (m *machine) declare(f *cli.Flags) {
	m.f = f
	m.StartsOver, m.Reread = true, []*string{&m.In, &m.Sets}
	m.Documents.Declare(f, "", &m.Limits)
	f.Group("Problem", "")
	m.Kernels.Declare(f, svm.DefaultKernel)
	f.StringVar(&m.scale, "scale", "", "scale columns to `RANGE`, such as 0..1, or standard, as an embedding")
	f.StringVar(&m.kind, "type", "",
		"`TYPE`: c_svc (default), nu_svc, one_class, epsilon_svr, nu_svr, or a learner")
	f.Choose(&m.scheme, "scheme", "", "machines: one-vs-one, one-vs-rest, or labels, one per label: `SCHEME`",
		[]string{"one-vs-one", "one-vs-rest", "labels"})
	f.Float64Var(&m.c, "c", 1, "`C`, the price of a violated margin: c_svc, epsilon_svr, nu_svr")
	f.Float64Var(&m.nu, "nu", 0.5, "`NU`, a bound on the share of errors: nu_svc, one_class, nu_svr")
	f.Float64Var(&m.eps, "epsilon", 0.1, "`WIDTH` of the zone without loss of epsilon_svr")
	f.Var(&m.weights, "weight", "multiply C for a class: `CLASS=W`, several times; balanced: by their sizes")
	f.Var(&m.prob, "probabilities", "train for probabilities, too, with five more trainings per machine, `0|1`")
	f.Group("Training", "")
	f.Var(&m.thresholds, "thresholds", "tune the threshold of each label on folds, `0|1` (default: 1 where C is chosen)")
	f.Stores(&m.tiles, "tiles", "keep the matrix in the folder `DIR` for later runs on the same documents", tiles.Owns)
	f.Choose(new(string), "solver", "auto", "ignored, for older scripts: `cpu|auto`", []string{"auto", "cpu"})
	f.Uint64Var(&m.seed, "seed", 1, "`SEED` of folds, those behind probabilities and thresholds included")
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
	if m.learner.Learner != nil {
		return m.checkLearner()
	}
	m.kind = strings.ReplaceAll(strings.ToLower(m.kind), "-", "_")
	if m.kind == "" {
		m.kind = string(model.CSVC)
	}
	t := model.Type(m.kind)
	if !slices.Contains(types, t) {
		return cli.Usagef("-type %q, expected one of %s, or a learner: %s", m.kind, report.Join(types),
			report.Join(learn.Names()))
	}
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
	case m.weights.given() && t != model.CSVC:
		return cli.Usagef("-weight (-wCLASS) applies to c_svc only, found %s", t)
	case bool(m.prob) && !t.Classifies():
		return cli.Usagef("-probabilities (-b 1) applies to c_svc and nu_svc only, found %s", t)
	}
	kernels, err := m.kernelsOf(nil)
	m.Signed = m.Signed || slices.ContainsFunc(kernels, func(k engine.Kernel) bool { return k.Embedding().Scales() })
	return err
}

// named checks that a source is named: no command learns from documents that nobody named.
func (m *machine) named() error {
	if m.In == "" {
		return source.Missing("learn from")
	}
	return nil
}

// takeSource takes the source from the argument behind the flags, if there is one.
func (m *machine) takeSource() error {
	if len(m.f.Args) > 0 {
		if m.f.Given("in") {
			return cli.Usagef("-in %s and the argument %q both name a source, expected one of them", m.In, m.f.Args[0])
		}
		m.In = m.f.Args[0]
	}
	return nil
}

// kernelsOf returns the kernels that were asked for, at least one. The corpus, which may be nil for
// a check, gives -t its default gamma: one divided by the greatest index, as svm-train has it.
func (m *machine) kernelsOf(c *sparse.Corpus) ([]engine.Kernel, error) {
	if m.f.Lookup("sets") != nil && m.OfSets(&m.Kernels) {
		if m.number >= 0 {
			return nil, cli.Usagef("-t %d with -sets: expected the kernel of sets of points, hyperbolic", m.number)
		}
		kernels, err := m.Hyperbolic(&m.Kernels, &m.Compute)
		var out []engine.Kernel
		for _, h := range kernels {
			out = append(out, h.Kernel())
		}
		return out, err
	}
	if m.precomputed() {
		return []engine.Kernel{engine.Precomputed()}, nil
	}
	if m.number >= 0 {
		return m.Parse(m.spec(c))
	}
	switch {
	case m.scale != "":
		return m.Parse("rbf")
	case m.noCounts != "":
		return m.Parse(learn.VectorKernel)
	}
	return m.Parse(svm.DefaultKernel)
}

// kernelOf returns the one kernel that was asked for.
func (m *machine) kernelOf(c *sparse.Corpus) (engine.Kernel, error) {
	kernels, err := m.kernelsOf(c)
	if err != nil {
		return nil, err
	}
	if len(kernels) > 1 {
		return nil, cli.Usagef("%d kernels, expected one (grambench grid compares several)", len(kernels))
	}
	return kernels[0], nil
}

// settings returns what is to be trained on a corpus, without the kernel.
func (m *machine) settings(c *sparse.Corpus) (svm.Settings, error) {
	out := svm.Settings{
		Type: model.Type(m.kind), C: m.c, Nu: m.nu, Epsilon: m.eps, Tolerance: m.tolerance,
		KeepAll: !bool(m.shrinking), Probabilities: bool(m.prob), Seed: m.seed, Balanced: m.weights.balanced,
	}
	if len(m.weights.of) > 0 {
		out.Weights = map[string]float64{}
	}
	for name, w := range m.weights.of {
		if !slices.Contains(c.Classes, name) {
			if v, err := strconv.ParseFloat(name, 64); err == nil { // +1 is 1
				name = report.Float(v + 0)
			}
		}
		if !slices.Contains(c.Classes, name) {
			return out, fmt.Errorf("-weight for class %q, which %s doesn't have, expected one of %s", name, c.Source,
				report.JoinSome(c.Classes, 20))
		}
		out.Weights[name] = w
	}
	for _, s := range schemes { // one-vs-one where none is given
		if s.String() == m.scheme {
			out.Scheme = s
		}
	}
	if m.scheme == "" && severalLabels(c) {
		out.Scheme = solver.Labels
	}
	if out.Thresholds = bool(m.thresholds); out.Thresholds && out.Scheme != solver.Labels {
		return out, cli.Usagef("-thresholds 1 with %s: labels have thresholds, expected -scheme labels", out.Scheme)
	}
	return out, nil
}

// severalLabels reports whether any document has more than one class.
func severalLabels(c *sparse.Corpus) bool {
	for i := range c.Documents.Rows() {
		if len(c.Labels.Of(i)) > 1 {
			return true
		}
	}
	return false
}
