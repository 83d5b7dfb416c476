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

// TrainOptions say what is trained. With the zero value a support vector machine is trained whose terms,
// kernel, C and scheme are chosen by cross-validation on samples, as gram train does; of a regression, with
// epsilon in place of the scheme, and C, epsilon and the tolerance in the unit of the targets.
type TrainOptions struct {
	Options

	// Type is c_svc (default), nu_svc, one_class, epsilon_svr, nu_svr, or a learner with its parameters,
	// such as "logistic", "linear:loss=hinge" or "knn:k=7"; the command gram help learners lists them.
	Type string

	// Kernel is a specification, or a name whose parameter is chosen. By default it is chosen for text and for vectors
	// that aren't counts. If nothing is chosen it is diffusion:t=0.5 for text and counts, bhattacharyya for other term
	// weights, and rbf:embed=standard for measurements.
	Kernel string `param:"kernel"`

	// Embedding is that of documents. Default: that of the kernel or the learner.
	Embedding string `param:"embed"`

	// Scheme is one-vs-one, one-vs-rest or labels. Default: chosen, and labels where documents have several.
	Scheme string `param:"scheme"`

	// C is the regularization parameter; larger fits the training data more closely. Default: chosen for text, else 1.
	C float64 `param:"c"`

	// Nu bounds the share of errors, of nu_svc, one_class and nu_svr. Default: 0.5.
	Nu float64 `param:"nu"`

	// Epsilon is the width of the zone without loss, of epsilon_svr. Default: chosen for text, else 0.1.
	Epsilon float64 `param:"epsilon"`

	Weights  map[string]float64 `param:"weight"`   // multiples of C by class; default 1
	Balanced bool               `param:"balanced"` // weight classes inversely to their sizes in documents, of any weight

	Probabilities bool `param:"probabilities"` // calibrate probabilities on five folds

	// Reject is error=2% or coverage=90%: no class below a probability that is learnt on folds.
	Reject string `param:"reject"`

	Thresholds bool    `param:"thresholds"` // tune the threshold of each label; always where C is chosen for labels
	Tolerance  float64 `param:"tolerance"`  // default that of the learner; of support vector machines 10⁻³, or 10⁻³ units
	Seed       uint64  // of folds and samples; default 1

	// DocumentWeights multiply the price of each document of the corpus,
	//
	//	Cᵢ = C · weight of the class of document i · DocumentWeights[i],
	//
	// which bounds its α in c_svc and epsilon_svr and multiplies its loss in linear, logistic, sphere-logistic and
	// landmark. In nu_svc, one_class and nu_svr they multiply the bounds, and Nu is a share of their sum. So a document
	// of the weight 2 counts as two in the problem that is solved, and one of the weight 0 is left out as if it weren't
	// there. All else counts documents alike: idf weights, Balanced, folds, sigmoids and thresholds, and the scores of
	// CrossValidate, Search and the choice of settings, whose trainings have the weights of their documents. Models
	// don't keep them. Finite, at least 0. Default: 1 each.
	DocumentWeights []float64

	// Terms are those that the text is cut into first, of a corpus that keeps its texts, as a [Search] found
	// them. Default: as it was read, or chosen.
	Terms *corpus.Terms

	// ChooseWork is what the choice may cost, as a multiple of the training; default 1. Below 0 nothing is
	// chosen.
	ChooseWork float64
}

// Train trains a model on labelled documents. The model has the same bits from any number of workers
// and from run to run.
//
// If Kernel, C or Scheme is chosen and the corpus keeps its texts, Train chooses the terms, too: those of the corpus,
// pairs of words, characters within words, or words and characters; of columns of numbers that give no width, the
// width 1 or 2. About().Tokenizer says which; [Model.Predict] cuts documents in the same way.
//
// If there is too little memory for a support vector machine on text, and o doesn't ask for one, Train trains linear
// machines, with a warning.
//
// Errors: options out of range, or that don't apply to the Type; documents without labels or of one class; labels that
// are numbers, many of them different, without a Type;
// values that the embedding refuses; more memory than o allows.
func Train(ctx context.Context, c *corpus.Corpus, o TrainOptions) (_ *Model, err error) {
	defer facade(&err)
	if err := checked(ctx, c); err != nil {
		return nil, err
	}
	if c, err = o.cut(ctx, c); err != nil {
		return nil, err
	}
	_, trainer, own, err := o.learner(c)
	if err != nil {
		return nil, err
	}
	m, err := trainer.Train(ctx, c, own)
	if err != nil {
		return nil, c.NameValue(err)
	}
	a := m.About()
	for _, note := range a.Notes {
		o.warn("%s", note)
	}
	o.unfinished(a.Ended)
	return &Model{m: m, o: o.Options}, nil
}

// cut returns a corpus cut into the terms that were asked for, with the weights of its documents.
func (o *TrainOptions) cut(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, error) {
	c, err := o.weighted(c)
	if err != nil || o.Terms == nil {
		return c, err
	}
	return o.Terms.Cut(ctx, c, corpus.Options{Workers: o.Workers, MemoryBytes: o.MemoryBytes})
}

// set sets the parameters of a trainer for which there are fields.
func (o *TrainOptions) set(l *learn.Learner, t learn.Trainer) error {
	var takes, unused []string
	err := params.Each(o, func(field, name string, values []string) error {
		if params.Has(t, name) {
			takes = append(takes, field)
		} else if values != nil {
			unused = append(unused, field)
			return nil
		}
		for _, text := range values {
			var wrong *params.ValueError
			if err := params.Set(t, name, text); errors.As(err, &wrong) {
				return fmt.Errorf("gram: %s %s, expected %s", field, text, wrong.Wanted)
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	if l.Weighs {
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

// learner returns what options mean for a corpus.
func (o *TrainOptions) learner(c *corpus.Corpus) (*learn.Learner, learn.Trainer, learn.Options, error) {
	own := o.Options.learn()
	own.Seed = cmp.Or(o.Seed, 1)
	l, trainer, err := learn.Parse(o.Type)
	if bad := o.check(); bad != nil {
		return nil, nil, own, bad
	}
	if err == nil {
		err = o.set(l, trainer)
	}
	if err == nil && l.Type != model.OneClass && len(c.Labels.IDs) == 0 {
		err = fmt.Errorf("%s has no labels, expected some to learn from: Type one_class learns without", c.Source)
	}
	if err == nil && o.Type == "" {
		err = learn.CheckTargets(c)
	}
	if err == nil && c.Vocabulary != nil && c.Documents.NNZ() == 0 {
		err = errors.New("the documents have no terms, expected some to learn from: MinDF 1 keeps terms of one document")
	}
	if err == nil {
		err = l.Suit(trainer, c)
	}
	if own.Work = max(cmp.Or(o.ChooseWork, 1), 0); err == nil && math.IsNaN(own.Work) {
		err = errors.New("ChooseWork NaN, expected a number")
	}
	if o.Kernel == "" && o.Embedding == "" {
		own.Vectors = learn.VectorsOf(c)
	}
	if v := own.Vectors; err == nil && v != nil && v.Kernel == learn.WeightsKernel && params.Has(trainer, "kernel") {
		o.warn("%s", flagtext.Words(v.Why))
	}
	if err == nil {
		err = trainer.Check(own)
	}
	return l, trainer, own, err
}

// weighted returns the corpus with the weights of its documents, without those of the weight 0.
func (o *TrainOptions) weighted(c *corpus.Corpus) (*corpus.Corpus, error) {
	if o.DocumentWeights == nil {
		return c, nil
	}
	if n := c.Documents.Rows(); len(o.DocumentWeights) != n {
		return nil, fmt.Errorf("gram: %d DocumentWeights, expected %d, one for each document of %s", len(o.DocumentWeights),
			n, c.Source)
	}
	var kept []int
	var weights []float64
	for i, w := range o.DocumentWeights {
		switch {
		case !(w >= 0) || math.IsInf(w, 0):
			return nil, fmt.Errorf("gram: DocumentWeights: %v of document %d, expected a finite number of at least 0", w,
				c.Number(i))
		case w > 0:
			kept, weights = append(kept, i), append(weights, w)
		case o.Kernel == model.Precomputed:
			return nil, fmt.Errorf("gram: DocumentWeights: 0 of document %d of a precomputed Kernel, expected a number "+
				"above 0: leave out its row and its column", c.Number(i))
		}
	}
	if kept == nil {
		return nil, errors.New("gram: DocumentWeights that are all 0, expected some above 0")
	}
	own := *c
	if own.Weights = nil; len(kept) < len(o.DocumentWeights) {
		own = *own.Select(kept)
	}
	own.Weights = weights
	return &own, nil
}
