package machines

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/source"
)

// Flags are those of what is trained, with the names, meanings and defaults of gram train. Where
// several values are searched, -kernel, -scheme, -c, -nu and -epsilon take lists.
type Flags struct {
	Settings
	Kernels, Schemes []string
	Cs, Nus, Widths  []float64

	embedding string
	several   bool
	shrinking cli.ZeroOne
	weights   source.Weights
	given     *flag.FlagSet
}

// Declare declares the flags; several reports whether lists are searched.
func (f *Flags) Declare(to *flag.FlagSet, several bool) {
	f.given, f.several = to, several
	list := func(text string) string {
		if several {
			return text + ", or a list with commas"
		}
		return text
	}
	kernel := "train with the kernel `SPEC` (default " + svm.DefaultKernel + "); see gram kernels"
	if several {
		kernel = "search the kernel `SPEC`, with | between values of a number; several times"
	}
	to.Var(repeated(func(spec string) error {
		some, err := source.Alternatives(spec)
		f.Kernels = append(f.Kernels, some...)
		return err
	}), "kernel", kernel)
	to.StringVar(&f.embedding, "embed", "",
		"embed documents as `EMBEDDING`, such as tfidf-l2 (default: as the kernel wants)")
	to.StringVar(&f.Type, "type", "c_svc", "`TYPE`: c_svc, nu_svc, one_class, epsilon_svr or nu_svr")
	to.Func("scheme", list("`SCHEME` of machines: one-vs-one, one-vs-rest or labels"), func(v string) error {
		f.Schemes = strings.Split(v, ",")
		for _, name := range f.Schemes {
			if _, err := ParseScheme(name); err != nil {
				return err
			}
		}
		return nil
	})
	numbers := func(to *[]float64) func(string) error {
		return func(v string) error {
			*to = nil
			for text := range strings.SplitSeq(v, ",") {
				n, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return fmt.Errorf("%q, expected a number", text)
				}
				if slices.Contains(*to, n) {
					return fmt.Errorf("%v twice", n)
				}
				*to = append(*to, n)
			}
			return nil
		}
	}
	to.Func("c", list("`C`, the price of a violated margin (default 1)"), numbers(&f.Cs))
	to.Func("nu", list("`NU`, a bound on the share of errors (default 0.5)"), numbers(&f.Nus))
	to.Func("epsilon", list("`WIDTH` of the zone without loss (default 0.1)"), numbers(&f.Widths))
	to.Var(&f.weights, "weight", "multiply C for a class: `CLASS=W`, several times; balanced: by their sizes")
	to.Float64Var(&f.Tolerance, "tolerance", 1e-3, "end when no optimality condition is violated by more than `E`")
	f.shrinking = true
	to.Var(&f.shrinking, "shrinking", "leave out documents that can't move for a while, `0|1`")
	to.Var((*cli.ZeroOne)(&f.Probabilities), "probabilities",
		"train for probabilities, too, calibrated on folds, `0|1`")
	to.Var((*cli.ZeroOne)(&f.Thresholds), "thresholds", "tune the threshold of each label on folds, `0|1`")
	to.Uint64Var(&f.Seed, "seed", 1, "`SEED` of folds, including those for thresholds")
}

// repeated is the value of a flag that may be given several times.
type repeated func(text string) error

func (r repeated) String() string        { return "" }
func (r repeated) Set(text string) error { return r(text) }
func (r repeated) Several()              {}

// Take checks the flags against documents and fills in what they leave open. Settings then have the
// first of each list.
func (f *Flags) Take(c *corpus.Corpus) error {
	if c == nil {
		return errors.New("no documents, expected -in SOURCE")
	}
	if len(f.Kernels) == 0 {
		f.Kernels = []string{svm.DefaultKernel}
	}
	if !f.several && (len(f.Kernels) > 1 || len(f.Schemes) > 1 || len(f.Cs) > 1 || len(f.Nus) > 1 || len(f.Widths) > 1) {
		return errors.New("several values of -kernel, -scheme, -c, -nu or -epsilon, expected one of each: " +
			"plan search compares them")
	}
	for i, spec := range f.Kernels {
		k, err := job.ParseKernel(spec, f.embedding)
		if err != nil {
			return err
		}
		if f.Kernels[i] = k.String(); slices.Contains(f.Kernels[:i], f.Kernels[i]) {
			return fmt.Errorf("kernel %s is in the search twice", k)
		}
	}
	f.Kernel = f.Kernels[0]
	if len(f.Schemes) > 0 {
		f.Scheme = f.Schemes[0]
	}
	f.KeepAll = !bool(f.shrinking)
	f.C, f.Nu, f.Epsilon = 1, 0.5, 0.1
	for _, q := range []struct {
		name string
		list []float64
		to   *float64
		most float64
	}{
		{"-c", f.Cs, &f.C, math.Inf(1)}, {"-nu", f.Nus, &f.Nu, 1}, {"-epsilon", f.Widths, &f.Epsilon, math.Inf(1)},
		{"-tolerance", []float64{f.Tolerance}, &f.Tolerance, math.Inf(1)},
	} {
		for _, v := range q.list {
			if err := positive(q.name, v, q.most); err != nil {
				return err
			}
		}
		if len(q.list) > 0 {
			*q.to = q.list[0]
		}
	}
	if err := f.suit(c); err != nil {
		return err
	}
	f.Balanced = f.weights.Balanced
	var err error
	if f.Weights, err = f.weights.For(c); err == nil {
		_, err = f.SVM()
	}
	return err
}
