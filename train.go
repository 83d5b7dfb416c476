package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/params"
)

// TrainOptions are the options of [Train]. The zero value trains a support vector machine whose
// terms, kernel, C and scheme are chosen by cross-validation on samples, as gram train does. For
// regression, epsilon is chosen instead of the scheme, and C, epsilon and the tolerance are in
// units of the targets.
type TrainOptions struct {
	Options

	// Type is c_svc (default), nu_svc, one_class, epsilon_svr, nu_svr, or a learner with its
	// parameters, such as "logistic", "linear:loss=hinge" or "knn:k=7". The command gram help
	// learners lists all learners.
	Type string

	// Kernel is a specification, or the name of a kernel whose parameter is chosen automatically.
	// By default the kernel is chosen by cross-validation for texts, and for vectors that aren't
	// counts. If it isn't chosen, the kernel is diffusion:t=0.5 for text and counts, bhattacharyya
	// for other term weights, and rbf:embed=standard for measurements.
	Kernel string `param:"kernel"`

	// Embedding of the documents. Default: the embedding of the kernel or the learner.
	Embedding string `param:"embed"`

	// Scheme is one-vs-one, one-vs-rest or labels. Default: labels if documents have several
	// labels, else chosen if C is chosen, else one-vs-one.
	Scheme string `param:"scheme"`

	// C is the regularization parameter. A larger C fits the training data more closely. Default:
	// chosen for text, and for vectors that aren't counts if Kernel isn't set; else 1.
	C float64 `param:"c"`

	// Nu bounds the fraction of errors in nu_svc, one_class and nu_svr. Default: 0.5.
	Nu float64 `param:"nu"`

	// Epsilon is the largest error without loss in epsilon_svr. Default: chosen if C is chosen,
	// else 0.1.
	Epsilon float64 `param:"epsilon"`

	Weights  map[string]float64 `param:"weight"`   // factor of C for each class name; default 1
	Balanced bool               `param:"balanced"` // true: weight each class inversely to its number of documents

	Probabilities bool `param:"probabilities"` // true: calibrate probabilities on five folds

	// Reject is a target such as error=2% or coverage=90%. The model predicts ? if the largest
	// probability is below a threshold, which is tuned by cross-validation for this target.
	Reject string `param:"reject"`

	Thresholds bool    `param:"thresholds"` // true: tune each label's threshold; implied if C is chosen for label sets
	Tolerance  float64 `param:"tolerance"`  // stopping tolerance; default: the learner's, which is 10⁻³ for SVMs
	Seed       uint64  // seed of folds and samples; default 1

	// DocumentWeights multiply C for each document of the corpus,
	//
	//	Cᵢ = C · weight of the class of document i · DocumentWeights[i]
	//
	// In c_svc and epsilon_svr, Cᵢ is the upper bound of αᵢ. In linear, logistic and landmark, Cᵢ
	// multiplies the loss of document i. In nu_svc, one_class and nu_svr, weights multiply the
	// bounds, and Nu is a fraction of the sum of weights. So a document with the weight 2 counts
	// twice in the optimisation problem, and a document with the weight 0 is excluded.
	// CrossValidate, Search and the automatic choice train with weights, but their scores are
	// unweighted. Also unweighted are idf weights, Balanced, folds, sigmoids and thresholds. Models
	// don't store DocumentWeights. DocumentWeights must be finite and nonnegative. Default: 1 each.
	DocumentWeights []float64

	// Terms specifies how to tokenise the kept texts of the corpus again, for example with the
	// terms that [Search] selected. Default: the terms of the corpus, or terms that Train chooses.
	Terms *corpus.TermOptions

	// ChooseWork is the time budget of the automatic choice as a multiple of one training run;
	// default 1. If ChooseWork is negative, nothing is chosen.
	ChooseWork float64
}

// Train trains a model on labelled documents. Repeated runs give bit-identical models. Models
// depend on Workers only if the kernel values of a support vector machine don't all fit in memory.
//
// If Kernel, C or Scheme is chosen and the corpus keeps its texts, Train also chooses the terms:
// the terms of the corpus, word pairs, character n-grams within words, or words and character
// n-grams. For numeric columns without a width, Train chooses a width of 1 or 2. For a table
// without text, Train can also choose numbers as values instead of terms. About().Tokenizer
// describes the chosen terms. [Model.Predict] tokenises documents in the same way.
//
// If the memory doesn't suffice for a support vector machine on text, and o doesn't request this
// type, Train trains a linear model and warns.
//
// It fails if an option is out of range or doesn't apply to the Type, if documents have fewer
// labels or classes than the Type requires, if Type is empty and labels are many different numbers,
// if the embedding rejects a value, or if the memory doesn't suffice.
func Train(ctx context.Context, c *corpus.Corpus, o TrainOptions) (_ *Model, err error) {
	defer convertError(&err)
	if err := checkCorpus(ctx, c); err != nil {
		return nil, err
	}
	if c, err = o.prepareCorpus(ctx, c); err != nil {
		return nil, err
	}
	_, trainer, own, err := o.learner(c)
	if err != nil {
		return nil, err
	}
	m, err := trainer.Train(ctx, c, own)
	if err != nil {
		return nil, c.DescribeError(err)
	}
	a := m.About()
	for _, note := range a.Notes {
		o.warn("%s", note)
	}
	o.warnUnfinished(a.Convergence)
	return &Model{m: m, o: o.Options}, nil
}

// prepareCorpus sets document weights. If Terms is set, it tokenises the texts again. Otherwise it
// stores numbers of tables as values if the kernel or the embedding needs vectors.
func (o *TrainOptions) prepareCorpus(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, error) {
	c, err := o.withWeights(c)
	opt := corpus.Options{Workers: o.Workers, MemoryBytes: o.MemoryBytes}
	switch {
	case err != nil:
		return nil, err
	case o.Terms != nil:
		return o.Terms.Tokenize(ctx, c, opt)
	case o.Kernel != "":
		return learn.WithVectors(ctx, c, []string{o.Kernel}, o.Embedding, opt)
	}
	return learn.WithVectors(ctx, c, nil, o.Embedding, opt)
}

func (o *TrainOptions) setParameters(l *learn.Learner, t learn.Trainer) error {
	var takes, unused []string
	err := params.Visit(o, func(field, name string, values []string) error {
		if params.Has(t, name) {
			takes = append(takes, field)
		} else if values != nil {
			unused = append(unused, field)
			return nil
		}
		for _, text := range values {
			var wrong *params.ValueError
			if err := params.Set(t, name, text); errors.As(err, &wrong) {
				return fmt.Errorf("gram: %s must be %s, got %s", field, wrong.Allowed, text)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if l.SupportsWeights {
		takes = append(takes, "DocumentWeights")
	} else if o.DocumentWeights != nil {
		unused = append(unused, "DocumentWeights")
	}
	if unused != nil {
		return fmt.Errorf("%s does not apply to Type %s, which takes %s", unused[0], l.Name,
			cmp.Or(strings.Join(takes, ", "), "none of these fields"))
	}
	return err
}

func (o *TrainOptions) learner(c *corpus.Corpus) (*learn.Learner, learn.Trainer, learn.Options, error) {
	own := o.Options.learnOptions()
	own.Seed = cmp.Or(o.Seed, 1)
	l, trainer, err := learn.Parse(o.Type)
	if bad := o.check(); bad != nil {
		return nil, nil, own, bad
	}
	if err == nil {
		err = o.setParameters(l, trainer)
	}
	if err == nil && l.Type != model.OneClass && len(c.Labels.IDs) == 0 {
		err = fmt.Errorf("%s has no labels; Type one_class needs none", c.Source)
	}
	if err == nil && o.Type == "" {
		err = learn.CheckTargets(c)
	}
	if err == nil && c.Vocabulary != nil && c.Documents.NNZ() == 0 {
		err = errors.New("the documents have no terms to learn from; MinDF 1 keeps all terms")
	}
	if err == nil {
		err = l.AdaptTrainer(trainer, c)
	}
	if own.WorkBudget = max(cmp.Or(o.ChooseWork, 1), 0); err == nil && math.IsNaN(own.WorkBudget) {
		err = errors.New("ChooseWork must be a number, got NaN")
	}
	if o.Kernel == "" && o.Embedding == "" || c.Tokenizer.HasValues() {
		own.VectorDefaults = learn.VectorDefaultsOf(c)
	}
	if v := own.VectorDefaults; err == nil && v != nil && v.Kernel == learn.WeightsKernel &&
		params.Has(trainer, "kernel") {
		o.warn("%s", flagtext.FlagText(v.Reason))
	}
	if err == nil {
		err = trainer.Check(own)
	}
	return l, trainer, own, err
}

// withWeights returns the corpus with DocumentWeights, without documents of weight 0.
func (o *TrainOptions) withWeights(c *corpus.Corpus) (*corpus.Corpus, error) {
	if o.DocumentWeights == nil {
		return c, nil
	}
	if n := c.Documents.Rows(); len(o.DocumentWeights) != n {
		return nil, fmt.Errorf("gram: got %d DocumentWeights for %d documents of %s", len(o.DocumentWeights), n, c.Source)
	}
	var kept []int
	var weights []float64
	for i, w := range o.DocumentWeights {
		switch {
		case !(w >= 0) || math.IsInf(w, 0):
			return nil, fmt.Errorf("gram: DocumentWeights must be nonnegative and finite, got %v for document %d", w,
				c.DocumentNumber(i))
		case w > 0:
			kept, weights = append(kept, i), append(weights, w)
		case o.Kernel == model.Precomputed:
			return nil, fmt.Errorf("gram: DocumentWeights must be positive with a precomputed Kernel, got 0 for document %d; "+
				"remove its row and its column instead", c.DocumentNumber(i))
		}
	}
	if kept == nil {
		return nil, errors.New("gram: at least one of DocumentWeights must be positive")
	}
	own := *c
	if own.Weights = nil; len(kept) < len(o.DocumentWeights) {
		own = *own.Select(kept)
	}
	own.Weights = weights
	return &own, nil
}
