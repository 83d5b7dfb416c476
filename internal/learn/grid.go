package learn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// What a search of support vector machines does by default: the work of its choice, as a multiple of
// the training, and how many of the best it compares on all documents.
const SearchWork, Finalists = 60.0, 3

// defaultLists are what a grid of a type tries where no lists are given: t of diffusion, unless a
// kernel is given, and nu or C, unless that is.
func defaultLists(t model.Type, kernelGiven, cGiven bool) (out []kernel.List) {
	if !kernelGiven {
		out = append(out, kernel.List{Name: "t", Values: []float64{0.1, 0.25, 0.5, 1, 2}})
	}
	if t == model.NuSVC {
		out = append(out, kernel.List{Name: "nu", Values: []float64{0.05, 0.1, 0.2, 0.4}})
	} else if !cGiven {
		out = append(out, kernel.List{Name: "C", Values: []float64{0.1, 1, 10, 100}})
	}
	return out
}

// Grid says which settings are compared. [NewGrid] makes one.
type Grid struct {
	Points  []Point       // of learners that aren't support vector machines, each with all C
	C       []float64     // nil for that of the options
	Lists   []kernel.List // of numbers: those that were given, and those that suit where none were
	Samples bool          // kernel, C and scheme are tried on samples that grow, in place of all of a list
	Folds   int           // default 5
	LeastC  bool          // of support vector machines: the least C within one standard error of the best is the best

	// Corpus returns the documents cut into terms in one of Cuts ways, of which the corpus is number 0.
	Cuts   int
	Corpus func(ctx context.Context, cut int) (*corpus.Corpus, error)

	Each func(*Validation) // called with each point that is complete, of support vector machines; nil for none

	machines    *machines // nil for other learners
	all         []tune.Candidate
	kernels     []kernel.Kernel
	schemes     []solver.Scheme
	nu, epsilon []float64
	embeddings  []string // for samples
}

// Total is the number of points, 0 on samples.
func (g *Grid) Total() int {
	if g.machines == nil {
		return len(g.Points) * max(len(g.C), 1)
	}
	return len(g.all)
}

// Kernels are those of support vector machines that are compared.
func (g *Grid) Kernels() []kernel.Kernel { return g.kernels }

// Point is a combination of settings.
type Point struct {
	Trainer Trainer
	Kernel  string // "" where none is given
	Spec    string // the learner with the values that were tried, as -type takes it

	Scheme solver.Scheme // of support vector machines
	solver.Regularization
	Cut int // in which way text is cut
}

// Words holds the name of a parameter and its values as text.
type Words struct {
	Name   string
	Values []string
}

// NewGrid makes a grid of all combinations of lists: of the parameters of a learner, as -type has it, or
// of support vector machines: C, nu, epsilon, scheme, embed, ngrams and parameters of kernels; and of
// kernels. Without lists of numbers and kernels it has those that suit, or samples if o.Work allows it.
//
// Errors: a learner or a parameter that isn't known, values and options that make no sense.
func NewGrid(l *Learner, trainer Trainer, lists []Words, o Options) (*Grid, error) {
	if own, ok := trainer.(*machines); ok {
		return own.grid(lists, o)
	}
	g := &Grid{}
	if params.Default(trainer, "c") != "" {
		g.C = []float64{0.01, 0.1, 1, 10, 100, 1000}
		if trainer.Given("c") {
			g.C = []float64{params.Get(trainer, "c").(float64)}
		}
	}
	trainers := []Trainer{trainer}
	for _, list := range lists {
		var err error
		switch {
		case list.Name == "embed" || list.Name == "scheme" || list.Name == "ngrams":
			return nil, flagtext.Errorf("-grid %s does not apply to -type %s", list.Name, l.Name)
		case list.Name == "c":
			return nil, flagtext.Errorf("-grid c: no such parameter (did you mean C?)")
		case list.Name == "C" && g.C == nil:
			return nil, flagtext.Errorf("-grid C: -type %s has no C", l.Name)
		case list.Name == "C":
			if g.C, err = list.numbers(); err != nil {
				return nil, err
			}
			slices.Sort(g.C)
			continue
		}
		if values, err := list.numbers(); err == nil {
			g.Lists = append(g.Lists, kernel.List{Name: list.Name, Values: values})
		}
		var more []Trainer
		for _, t := range trainers {
			for _, value := range list.Values {
				own, err := params.With(t, map[string]any{list.Name: value})
				if err != nil {
					return nil, flagtext.Errorf("-grid %s with -type %s: %w", list.Name, l.Name, err)
				}
				more = append(more, own)
			}
		}
		trainers = more
	}
	if n := len(g.C); n > 0 && !(g.C[0] > 0 && g.C[n-1] < 1e300) {
		return nil, flagtext.Errorf("-grid C: %v, expected numbers above 0, below 1e300", g.C)
	}
	for _, t := range trainers {
		if err := t.Check(o); err != nil {
			return nil, err
		}
		kernel, _ := params.Get(t, "kernel").(string)
		g.Points = append(g.Points, Point{Trainer: t, Kernel: kernel, Spec: l.Name + params.Spec(t)})
	}
	return g, nil
}

// numbers are the values as numbers.
func (w *Words) numbers() (values []float64, err error) {
	for _, text := range w.Values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v != v {
			return nil, flagtext.Errorf("-grid %s: %s, expected numbers", w.Name, strings.Join(w.Values, ","))
		}
		values = append(values, v)
	}
	return values, nil
}

// grid makes a grid for support vector machines.
func (t *machines) grid(lists []Words, o Options) (*Grid, error) {
	if t.Type == model.OneClass {
		return nil, flagtext.Errorf("-type %s: there is nothing to compare predictions with", t.Type)
	}
	g := &Grid{machines: t}
	var kernels []string
	var numbers []kernel.List
	var embeddings []Embedding
	for _, list := range lists {
		switch list.Name {
		case "kernel":
			kernels = list.Values
		case "embed":
			g.embeddings = list.Values
			for _, name := range list.Values {
				e, err := sparse.ParseEmbedding(name)
				if err != nil {
					return nil, flagtext.Errorf("-grid embed: %w", err)
				}
				embeddings = append(embeddings, Embedding{&e})
			}
		case "ngrams":
			g.Cuts = len(list.Values)
		case "scheme":
			for _, name := range list.Values {
				one, err := params.With(t, map[string]any{"scheme": name})
				if err == nil && one.Scheme == solver.Labels {
					err = errors.New("labels can't be compared with others, expected one-vs-one, one-vs-rest")
				}
				if err != nil {
					return nil, flagtext.Errorf("-grid scheme with -type %s: %w", t.Type, err)
				}
				g.schemes = append(g.schemes, one.Scheme)
			}
		default:
			values, err := list.numbers()
			if err != nil && Has(list.Name) {
				err = flagtext.Errorf("-grid %s=%s: a parameter of learners, which -type names: gram help learners", list.Name,
					strings.Join(list.Values, ","))
			}
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, kernel.List{Name: list.Name, Values: values})
		}
	}
	if g.Samples = len(numbers) == 0 && kernels == nil && t.mayChoose(&o); g.Samples {
		return g, nil
	}
	if len(numbers) == 0 && len(kernels) < 2 {
		numbers = defaultLists(t.Type, t.Kernel != "" || kernels != nil || t.ofVectors(&o), t.Given("c"))
	}
	if kernels == nil {
		kernels = []string{t.spec(&o)}
	}
	var all []kernel.Kernel
	if embeddings == nil {
		embeddings = []Embedding{t.Embedding}
	}
	for _, embedding := range embeddings {
		for _, spec := range kernels {
			k, err := o.kernelOf(spec, embedding)
			if err != nil {
				return nil, err
			}
			all = append(all, k)
		}
	}
	if err := g.vary(t, all, numbers); err != nil {
		return nil, err
	}
	s, err := t.settings(&o)
	g.all = t.combine(s, g)
	return g, err
}

// combine returns all combinations of the lists of a grid. Settings stand for lists that it doesn't have.
func (t *machines) combine(s svm.Settings, g *Grid) []tune.Candidate {
	used, schemes := s.Used(), g.schemes
	if schemes == nil {
		schemes = []solver.Scheme{s.Scheme}
	}
	list := func(values []float64, own float64) []float64 {
		if values == nil {
			return []float64{own}
		}
		return values
	}
	return tune.Combine(max(g.Cuts, 1), schemes, g.kernels, list(g.nu, used.Nu), list(g.epsilon, used.Epsilon),
		list(g.C, s.C))
}

// vary fills in the lists of support vector machines.
func (g *Grid) vary(t *machines, kernels []kernel.Kernel, lists []kernel.List) error {
	g.Lists = lists
	var own []kernel.List
	for _, list := range lists {
		to := map[string]*[]float64{"C": &g.C, "nu": &g.nu, "epsilon": &g.epsilon}[list.Name]
		if to == nil {
			own = append(own, list)
			continue
		}
		*to = list.Values
		for _, v := range list.Values {
			if _, err := params.With(t, map[string]any{strings.ToLower(list.Name): fmt.Sprint(v)}); err != nil {
				return flagtext.Errorf("-grid %s with -type %s: %w", list.Name, t.Type, err)
			}
		}
	}
	all, unused, err := kernel.Vary(kernels, own)
	if err != nil {
		return err
	}
	if len(unused) > 0 {
		var names []string
		for _, k := range kernels {
			names = append(names, k.String())
		}
		meant := ""
		if unused[0] == "c" {
			meant = " (did you mean C?)"
		}
		return flagtext.Errorf("-grid %s: no such parameter of %s, expected C, nu, epsilon, kernel, embed, scheme or a "+
			"parameter of a kernel that isn't made of others%s", unused[0], strings.Join(names, ", "), meant)
	}
	for i, k := range all {
		if slices.ContainsFunc(all[:i], func(other kernel.Kernel) bool { return kernel.Equal(other, k) }) {
			return fmt.Errorf("kernel %s is in the search twice", k)
		}
	}
	g.kernels = all
	return nil
}
