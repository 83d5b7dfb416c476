package main

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// svmFlags are the flags of the commands that train support vector machines, by long names and by svm-train's letters.
type svmFlags struct {
	f *flags

	kind       string // -type or -s
	scheme     string
	c, nu, eps float64
	tolerance  float64
	shrinking  zeroOne
	prob       zeroOne
	weights    weights
	tiles      string
	solver     string // its place
	place      svm.Place
	quiet      bool

	libsvmKernel  int // -t; -1 where it isn't given
	gamma, offset float64
	degree        int
	kernelDefault string
	given         map[string]bool // flags that were given, by name
	kept          int64           // bytes of the corpus, if it is kept while machines are trained
	once          bool            // one model is trained, and nothing else
}

// svmTypes are the types in the order of svm-train's -s.
var svmTypes = []model.Type{model.CSVC, model.NuSVC, model.OneClass, model.EpsilonSVR, model.NuSVR}

// libsvmKernels are the kernels in the order of svm-train's -t.
var libsvmKernels = []string{"linear", "polynomial", "rbf", "sigmoid"}

// schemes are the ways from machines of two classes to several.
var schemes = []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels}

// svmFlags declares how machines are trained: the source, the kernel, the problem, how to compute.
func (f *flags) svmFlags() *svmFlags {
	s := &svmFlags{f: f, kernelDefault: svm.DefaultKernel, libsvmKernel: -1, shrinking: true, weights: weights{}}
	f.sourceFlags("")
	f.learns = true
	f.kernelFlags(s.kernelDefault)
	f.computeFlags(0)
	f.seedFlag("folds, those behind probabilities included")

	set := f.set
	set.StringVar(&s.kind, "type", "", "solve the problem `TYPE`: c_svc, nu_svc, one_class, epsilon_svr or nu_svr (default: c_svc)")
	set.StringVar(&s.scheme, "scheme", "", "train `SCHEME`: one-vs-one, one-vs-rest, or labels, a machine a label "+
		"(default: labels where documents have several, else one-vs-one)")
	set.Float64Var(&s.c, "c", 1, "`C`, the price of a violated margin, of c_svc, epsilon_svr and nu_svr")
	set.Float64Var(&s.nu, "nu", 0.5, "`NU`, a bound on the part of errors, of nu_svc, one_class and nu_svr")
	set.Float64Var(&s.eps, "epsilon", 0.1, "`WIDTH` of the zone without loss of epsilon_svr, in units of the labels")
	set.Float64Var(&s.tolerance, "tolerance", 1e-3, "stop where the optimality conditions are violated by at most `E`")
	set.Var(&s.shrinking, "shrinking", "leave documents out for a while that can't move, `0|1`")
	set.Var(&s.prob, "probabilities", "train for probabilities, too, which takes five more trainings a machine, `0|1`")
	set.Var(s.weights, "weight", "multiply C for a class: `CLASS=W`, may be given several times; also svm-train's -wCLASS W")
	set.StringVar(&s.tiles, "tiles", "", "keep the matrix in the folder `DIR` for later runs on the same documents and embedding (4 bytes a pair)")
	f.stores("-tiles", &s.tiles)
	set.StringVar(&s.solver, "solver", "auto", "keep the solver's rows and scores in the memory of the `PLACE`: cpu, cuda, or auto, the GPU's for large problems that -backend has it compute")
	set.BoolVar(&s.quiet, "q", false, "neither progress nor report")

	// svm-train's letters.
	set.Func("s", "-type by svm-train's `NUMBER`: 0 c_svc, 1 nu_svc, 2 one_class, 3 epsilon_svr, 4 nu_svr", func(v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 0 || n >= len(svmTypes) {
			return fmt.Errorf("expected 0, 1, 2, 3 or 4")
		}
		s.kind = string(svmTypes[n])
		return nil
	})
	set.Func("t", "-kernel by svm-train's `NUMBER`: 0 linear, 1 polynomial, 2 rbf, 3 sigmoid, on the values as they are, negative ones accepted", func(v string) error {
		n, err := strconv.Atoi(v)
		if n == 4 && err == nil {
			return fmt.Errorf("a precomputed kernel isn't read: give the documents and a -kernel, it is computed on the way")
		}
		if err != nil || n < 0 || n >= len(libsvmKernels) {
			return fmt.Errorf("expected 0, 1, 2 or 3")
		}
		s.libsvmKernel = n
		return nil
	})
	set.Float64Var(&s.gamma, "g", 0, "`GAMMA` of -t 1, 2, 3; alone it means -t 2 (default: one divided by the number of columns)")
	set.IntVar(&s.degree, "d", 3, "`DEGREE` of -t 1")
	set.Float64Var(&s.offset, "r", 0, "`COEF0` of -t 1 and 3")
	set.Float64Var(&s.nu, "n", 0.5, "-`nu`")
	set.Float64Var(&s.eps, "p", 0.1, "-`epsilon`")
	set.Float64Var(&s.tolerance, "e", 1e-3, "-`tolerance`")
	set.Var(&s.shrinking, "h", "-shrinking, `0|1`")
	set.Var(&s.prob, "b", "-probabilities, `0|1`")

	f.rewrite = s.rewrite
	f.check = s.check
	return s
}

// check holds what can be held before anything is read.
func (s *svmFlags) check() error {
	s.given = map[string]bool{}
	s.f.set.Visit(func(fl *flag.Flag) { s.given[fl.Name] = true })
	s.kind = strings.ReplaceAll(strings.ToLower(s.kind), "-", "_")
	if s.kind == "" {
		s.kind = string(model.CSVC)
	}
	if !slices.Contains(svmTypes, model.Type(s.kind)) {
		return usagef("-type %q, expected one of %s", s.kind, join(svmTypes))
	}
	if s.scheme != "" {
		if _, ok := parseScheme(s.scheme); !ok {
			return usagef("-scheme %q, expected one-vs-one, one-vs-rest or labels", s.scheme)
		}
	}
	for _, q := range []struct {
		name string
		v    float64
		ok   bool
		want string
	}{
		{"-c", s.c, s.c > 0, "a number above 0"},
		{"-nu (-n)", s.nu, s.nu > 0 && s.nu <= 1, "a number above 0, at most 1"},
		{"-epsilon (-p)", s.eps, s.eps > 0, "a number above 0"},
		{"-tolerance (-e)", s.tolerance, s.tolerance > 0, "a number above 0"},
		{"-g", s.gamma, s.gamma >= 0, "a number above 0, or 0 for one divided by the number of columns"},
	} {
		if !q.ok || math.IsInf(q.v, 0) {
			return usagef("%s %v, expected %s", q.name, q.v, q.want)
		}
	}
	if s.libsvmKernel < 0 && s.given["g"] && len(s.f.kernels) == 0 {
		s.libsvmKernel = 2
	}
	if len(s.f.kernels) > 0 && s.libsvmKernel >= 0 {
		return usagef("-kernel and -t both name a kernel, expected one of them")
	}
	for _, letter := range []string{"g", "d", "r"} {
		if s.given[letter] && s.libsvmKernel < 0 {
			return usagef("-%s is a parameter of -t; a -kernel has its parameters behind a colon, as in -kernel rbf:gamma=0.5", letter)
		}
	}
	if s.libsvmKernel >= 0 {
		s.f.signed = true
	}
	if len(s.weights) > 0 && s.kind != string(model.CSVC) {
		return usagef("-weight (-wCLASS) belongs to c_svc, not to %s", s.kind)
	}
	if bool(s.prob) && !model.Type(s.kind).Classifies() {
		return usagef("-probabilities (-b 1) belong to c_svc and nu_svc, not to %s", s.kind)
	}
	if err := s.checkSolver(); err != nil {
		return err
	}
	_, err := s.kernelsOf(nil)
	return err
}

func parseScheme(name string) (solver.Scheme, bool) {
	i := slices.IndexFunc(schemes, func(s solver.Scheme) bool { return s.String() == name })
	if i < 0 {
		return 0, false
	}
	return schemes[i], true
}

// kernelsOf returns the kernels that were asked for, at least one. The corpus, which may be nil for a check, gives -t its default gamma: one divided
// by the greatest index, as svm-train has it.
func (s *svmFlags) kernelsOf(c *sparse.Corpus) ([]engine.Kernel, error) {
	if s.f.set.Lookup("sets") != nil && s.f.ofSets() {
		return s.setKernels()
	}
	if s.libsvmKernel < 0 {
		return s.f.parseKernels(s.kernelDefault)
	}
	var parameters []string
	number := func(key string, v float64) {
		parameters = append(parameters, key+"="+strconv.FormatFloat(v, 'g', -1, 64))
	}
	if s.libsvmKernel > 0 {
		if gamma := s.gamma; gamma > 0 {
			number("gamma", gamma)
		} else if c != nil && c.Vocabulary == nil {
			number("gamma", 1/float64(max(greatestIndex(c.Documents), 1)))
		}
	}
	if s.libsvmKernel == 1 {
		number("degree", float64(s.degree))
	}
	if s.libsvmKernel == 1 || s.libsvmKernel == 3 {
		number("r", s.offset)
	}
	spec := libsvmKernels[s.libsvmKernel]
	if parameters != nil {
		spec += ":" + strings.Join(parameters, ",")
	}
	return s.f.parseKernels(spec)
}

// setKernels returns the kernels that compare sets of points.
func (s *svmFlags) setKernels() ([]engine.Kernel, error) {
	if s.libsvmKernel >= 0 {
		return nil, usagef("-t %d with -sets: expected the kernel of sets of points, hyperbolic", s.libsvmKernel)
	}
	kernels, err := s.f.checkSets()
	if err != nil {
		return nil, err
	}
	var out []engine.Kernel
	for _, h := range kernels {
		out = append(out, h.Kernel())
	}
	return out, nil
}

// greatestIndex returns the number of the last column, counted from 1 where column 0 is used.
func greatestIndex(m *sparse.CSR) int {
	if slices.Contains(m.Terms, 0) {
		return m.Cols
	}
	return m.Cols - 1
}

// kernelOf returns the one kernel that was asked for.
func (s *svmFlags) kernelOf(c *sparse.Corpus) (engine.Kernel, error) {
	kernels, err := s.kernelsOf(c)
	if err != nil {
		return nil, err
	}
	if len(kernels) > 1 {
		return nil, usagef("%d kernels, expected one (grambench grid compares several)", len(kernels))
	}
	return kernels[0], nil
}

// settings returns what is to be trained on a corpus, without the kernel.
func (s *svmFlags) settings(c *sparse.Corpus) (svm.Settings, error) {
	out := svm.Settings{
		Type: model.Type(s.kind), C: s.c, Nu: s.nu, Epsilon: s.eps, Tolerance: s.tolerance,
		KeepAll: !bool(s.shrinking), Probabilities: bool(s.prob), Seed: s.f.seed,
	}
	if len(s.weights) > 0 {
		out.Weights = map[string]float64{}
	}
	for name, w := range s.weights {
		if !slices.Contains(c.Classes, name) {
			if v, err := strconv.ParseFloat(name, 64); err == nil { // +1 is 1
				name = strconv.FormatFloat(v+0, 'g', -1, 64)
			}
		}
		if !slices.Contains(c.Classes, name) {
			return out, fmt.Errorf("-weight for class %q, which %s doesn't have, expected one of %s", name, c.Source, shortList(c.Classes, 20))
		}
		out.Weights[name] = w
	}
	out.Scheme, _ = parseScheme(s.scheme) // checked before; one-vs-one where none is given
	if s.scheme == "" && severalLabels(c) {
		out.Scheme = solver.Labels
	}
	return out, nil
}

// severalLabels says whether any document has more than one class.
func severalLabels(c *sparse.Corpus) bool {
	for i := range c.Documents.Rows() {
		if len(c.Labels.Of(i)) > 1 {
			return true
		}
	}
	return false
}

// shortList joins the first n names.
func shortList(names []string, n int) string {
	if len(names) > n {
		return join(names[:n]) + ", …"
	}
	return join(names)
}
