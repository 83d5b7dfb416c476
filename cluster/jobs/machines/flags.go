package machines

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/source"
)

// Flags holds the flags for training parameters. In a search, -kernel, -scheme, -c, -nu and
// -epsilon accept lists.
type Flags struct {
	Settings
	Values map[string][]string // values of the flags, by parameter name

	embedding  string
	allowLists bool
}

// parameterFlags describes the flags for training parameters. list is true for flags that take
// lists in a search.
var parameterFlags = []struct {
	name, usage string
	list        bool
}{
	{"scheme", "`SCHEME`: one-vs-one, one-vs-rest or labels", true},
	{"c", "regularization parameter `C`", true},
	{"nu", "`NU`: bound on the fraction of errors", true},
	{"epsilon", "`WIDTH` of the epsilon-tube", true},
	{"weight", "multiply C by W for a class, `CLASS=W` (repeatable); balanced = by class size", false},
	{"tolerance", "stop when no optimality condition is violated by more than `E`", false},
	{"shrinking", "use the shrinking heuristic, `0|1`", false},
	{"probabilities", "calibrate probabilities by cross-validation, `0|1`", false},
	{"thresholds", "tune the threshold of each label by cross-validation, `0|1`", false},
}

// Declare declares the flags. If several is set, -kernel and the flags with list set accept lists.
func (f *Flags) Declare(to *flag.FlagSet, several bool) {
	f.allowLists, f.Values = several, map[string][]string{}
	kernel := "train with the kernel `SPEC` (default " + svm.DefaultKernel + "); see gram kernels"
	if several {
		kernel = "try the kernel `SPEC` (repeatable); | separates values of a parameter"
	}
	to.Var(repeatableFlag(func(spec string) error {
		some, err := source.ExpandAlternatives(spec)
		f.Values["kernel"] = append(f.Values["kernel"], some...)
		return err
	}), "kernel", kernel)
	to.StringVar(&f.embedding, "embed", "",
		"embed documents as `EMBEDDING`, such as tfidf-l2 (default: from the kernel)")
	to.StringVar(&f.Type, "type", "c_svc", "`TYPE`: c_svc, nu_svc, one_class, epsilon_svr or nu_svr")
	for _, p := range parameterFlags {
		usage := p.usage
		if text := params.Default(&svm.Settings{}, p.name); text != "" {
			usage += " (default " + text + ")"
		}
		if p.list && several {
			usage += ", or a comma-separated list"
		}
		to.Var(repeatableFlag(func(text string) error { return f.addValue(p.name, text, p.list) }), p.name, usage)
	}
	to.Uint64Var(&f.Seed, "seed", 1, "`SEED` for assigning documents to folds")
}

func (f *Flags) addValue(name, text string, list bool) error {
	switch {
	case list:
		values := strings.Split(text, ",")
		for i, v := range values {
			if slices.Contains(values[:i], v) {
				return fmt.Errorf("%s twice", v)
			}
		}
		f.Values[name] = values
		return nil
	case name == "weight" && text == "balanced":
		name, text = "balanced", "true"
	case name != "weight":
		f.Values[name] = nil
	}
	f.Values[name] = append(f.Values[name], text)
	return nil
}

type repeatableFlag func(text string) error

func (r repeatableFlag) String() string        { return "" }
func (r repeatableFlag) Set(text string) error { return r(text) }
func (r repeatableFlag) Several()              {}

// Resolve checks the flags against the documents and sets the defaults. Afterwards, Settings has
// the first value of each list.
func (f *Flags) Resolve(c *corpus.Corpus) error {
	if c == nil {
		return errors.New("-in SOURCE is required")
	}
	kernels := f.Values["kernel"]
	if len(kernels) == 0 {
		kernels = []string{svm.DefaultKernel}
	}
	for i, spec := range kernels {
		k, err := job.ParseKernel(spec, f.embedding)
		if err != nil {
			return err
		}
		if kernels[i] = k.String(); slices.Contains(kernels[:i], kernels[i]) {
			return fmt.Errorf("kernel %s is listed twice", k)
		}
	}
	f.Values["kernel"] = kernels
	l, t, err := learn.Parse(f.Type)
	if err == nil && l.Type == "" {
		err = fmt.Errorf("-type must be c_svc, nu_svc, one_class, epsilon_svr or nu_svr, got %s", f.Type)
	}
	if err == nil && l.Type.Classifies() {
		err = CheckLabelled(c)
	}
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(f.Values)) {
		values := f.Values[name]
		if !f.allowLists && len(values) > 1 && name != "weight" {
			return errors.New("-kernel, -scheme, -c, -nu and -epsilon take only one value; " +
				"compare values with plan search")
		}
		if !params.Has(t, name) {
			return fmt.Errorf("-%s does not apply to -type %s; valid parameters are %s", name, l.Name,
				strings.Join(params.Names(t), ", "))
		}
		for _, text := range slices.Backward(values) { // backward, so that the first value takes effect
			var wrong *params.ValueError
			if err := params.Set(t, name, text); errors.As(err, &wrong) {
				return fmt.Errorf("-%s must be %s, got %s", name, wrong.Allowed, text)
			} else if err != nil {
				return err
			}
		}
	}
	if err := l.AdaptTrainer(t, c); err != nil {
		return err
	}
	f.Parameters = params.Values(t)
	_, err = f.SolverSettings()
	return err
}
