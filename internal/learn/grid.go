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

// SearchWorkBudget is the default time budget of an SVM search, in multiples of one training run.
// FinalistCount is the number of best candidates that the search compares in the last round.
const SearchWorkBudget, FinalistCount = 60.0, 3

// defaultLists returns the default lists of parameter values for a type of SVM. Unless a kernel is
// set, there is a list for parameter t of the diffusion kernel. For nu_svc there is a list for nu.
// For other types there is a list for C, unless C is set.
func defaultLists(t model.Type, kernelGiven, cGiven bool) (out []kernel.ParamGrid) {
	if !kernelGiven {
		out = append(out, kernel.ParamGrid{Name: "t", Values: []float64{0.1, 0.25, 0.5, 1, 2}})
	}
	if t == model.NuSVC {
		out = append(out, kernel.ParamGrid{Name: "nu", Values: []float64{0.05, 0.1, 0.2, 0.4}})
	} else if !cGiven {
		out = append(out, kernel.ParamGrid{Name: "C", Values: []float64{0.1, 1, 10, 100}})
	}
	return out
}

// Grid defines the settings to compare. [NewGrid] makes a Grid.
type Grid struct {
	Points       []Point            // points of learners other than SVMs; each is tried with all values of C
	C            []float64          // values of C; nil = C of the trainer
	Lists        []kernel.ParamGrid // lists of numbers, set by the user or by default
	UseSamples   bool               // true to choose kernel, C and scheme in turn, on growing samples
	Folds        int                // number of folds, default 5
	PreferSmallC bool               // for SVMs: true to select the smallest C within one standard error of the best

	// TokenizerCount is the number of tokenizers. Corpus returns the documents tokenised by the
	// tokenizer with the given index, which is below TokenizerCount. Tokenizer 0 is the tokenizer
	// of the corpus.
	TokenizerCount int
	Corpus         func(ctx context.Context, tokenizer int) (*corpus.Corpus, error)

	OnPoint func(*Validation) // called for each completed point of an SVM grid; may be nil

	svmTrainer  *svmTrainer // nil for other learners
	candidates  []tune.Candidate
	kernels     []kernel.Kernel
	schemes     []solver.Scheme
	nu, epsilon []float64
	embeddings  []string // embeddings to try on samples
}

// PointCount returns the number of points, or 0 if UseSamples is set.
func (g *Grid) PointCount() int {
	if g.svmTrainer == nil {
		return len(g.Points) * max(len(g.C), 1)
	}
	return len(g.candidates)
}

func (g *Grid) Kernels() []kernel.Kernel { return g.kernels }

// Point is a combination of settings.
type Point struct {
	Trainer Trainer
	Kernel  string // kernel specification; "" if no kernel is set
	Spec    string // learner with the tried values, in the syntax of -type

	Scheme solver.Scheme // scheme of support vector machines
	solver.Regularization
	Tokenizer int // index of the tokenizer
}

// ParameterValues holds the name of a parameter and its values as text.
type ParameterValues struct {
	Name   string
	Values []string
}

// NewGrid makes a grid of all combinations of the values in lists. A list may be for any parameter
// of the learner. The parameters of SVMs are kernel, C, nu, epsilon, scheme, embed, ngrams and
// kernel parameters. For an SVM without lists of numbers or kernels, NewGrid sets UseSamples if
// o.WorkBudget isn't 0 and parameters may be selected, else it uses default lists.
//
// It fails if a parameter is unknown, or if a value or option is invalid.
func NewGrid(l *Learner, trainer Trainer, lists []ParameterValues, o Options) (*Grid, error) {
	if own, ok := trainer.(*svmTrainer); ok {
		return own.grid(lists, o)
	}
	g := &Grid{}
	if params.Default(trainer, "c") != "" {
		g.C = []float64{0.01, 0.1, 1, 10, 100, 1000}
		if trainer.IsSet("c") {
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
			return nil, flagtext.Errorf("-grid c: unknown parameter (did you mean C?)")
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
			g.Lists = append(g.Lists, kernel.ParamGrid{Name: list.Name, Values: values})
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
		return nil, flagtext.Errorf("-grid C: values must be positive and below 1e300, got %v", g.C)
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

func (w *ParameterValues) numbers() (values []float64, err error) {
	for _, text := range w.Values {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v != v {
			return nil, flagtext.Errorf("-grid %s: values must be numbers, got %s", w.Name, strings.Join(w.Values, ","))
		}
		values = append(values, v)
	}
	return values, nil
}

func (t *svmTrainer) grid(lists []ParameterValues, o Options) (*Grid, error) {
	if t.Type == model.OneClass {
		return nil, flagtext.Errorf("-type %s cannot be searched, because it has no labels to validate with", t.Type)
	}
	g := &Grid{svmTrainer: t}
	var kernels []string
	var numbers []kernel.ParamGrid
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
			g.TokenizerCount = len(list.Values)
		case "scheme":
			for _, name := range list.Values {
				one, err := params.With(t, map[string]any{"scheme": name})
				if err == nil && one.Scheme == solver.MultiLabel {
					err = errors.New("scheme \"labels\" cannot be searched; use one-vs-one or one-vs-rest")
				}
				if err != nil {
					return nil, flagtext.Errorf("-grid scheme with -type %s: %w", t.Type, err)
				}
				g.schemes = append(g.schemes, one.Scheme)
			}
		default:
			values, err := list.numbers()
			if err != nil && HasParameter(list.Name) {
				err = flagtext.Errorf("-grid %s=%s: the parameter requires another learner, set by -type (see "+
					"gram help learners)", list.Name, strings.Join(list.Values, ","))
			}
			if err != nil {
				return nil, err
			}
			numbers = append(numbers, kernel.ParamGrid{Name: list.Name, Values: values})
		}
	}
	if g.UseSamples = len(numbers) == 0 && kernels == nil && t.mayChoose(&o); g.UseSamples {
		return g, nil
	}
	if len(numbers) == 0 && len(kernels) < 2 {
		numbers = defaultLists(t.Type, t.Kernel != "" || kernels != nil || t.needsVectorKernel(&o), t.IsSet("c"))
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
	if err := g.setKernels(t, all, numbers); err != nil {
		return nil, err
	}
	s, err := t.settings(&o)
	g.candidates = t.combine(s, g)
	return g, err
}

// combine returns all combinations of g's lists. Parameters without a list have the value in s.
func (t *svmTrainer) combine(s svm.Settings, g *Grid) []tune.Candidate {
	used, schemes := s.UsedRegularization(), g.schemes
	if schemes == nil {
		schemes = []solver.Scheme{s.Scheme}
	}
	list := func(values []float64, own float64) []float64 {
		if values == nil {
			return []float64{own}
		}
		return values
	}
	return tune.Combine(max(g.TokenizerCount, 1), schemes, g.kernels, list(g.nu, used.Nu), list(g.epsilon, used.Epsilon),
		list(g.C, s.C))
}

func (g *Grid) setKernels(t *svmTrainer, kernels []kernel.Kernel, lists []kernel.ParamGrid) error {
	g.Lists = lists
	var own []kernel.ParamGrid
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
	all, unused, err := kernel.ExpandGrid(kernels, own)
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
		return flagtext.Errorf("-grid %s: unknown parameter of %s%s; valid names are C, nu, epsilon, kernel, embed, scheme "+
			"and parameters of the base kernel", unused[0], strings.Join(names, ", "), meant)
	}
	for i, k := range all {
		if slices.ContainsFunc(all[:i], func(other kernel.Kernel) bool { return kernel.Equal(other, k) }) {
			return fmt.Errorf("kernel %s is listed twice in the search", k)
		}
	}
	g.kernels = all
	return nil
}
