package learn

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/knn"
	"github.com/gramengine/gram/learn/landmark"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Updater is a Trainer that can begin at an earlier model.
type Updater interface {
	Trainer

	// Update is Train from where the training of old ended, a model of the same learner. It ends at the same
	// optimum, to the tolerance, in fewer steps the more documents are those of old.
	Update(ctx context.Context, c *sparse.Corpus, o Options, old Model) (Model, *Updated, error)
}

// Updated says what a training has found of the model that it began at.
type Updated struct {
	What      string `json:"what,omitempty"` // what was looked for: support vectors or landmarks; "" for nothing
	Found     int    `json:"found"`          // of them, among the documents
	Of        int    `json:"of"`
	Documents int    `json:"new_documents"` // how many more documents there are; 0 where the model doesn't say
}

// Update trains on old and new documents from where the training of old ended, by the trainer that has the type of
// its [Recipe]. Errors: a learner that can't, a source that lacks most of the model's documents, those of Train.
func Update(ctx context.Context, t Trainer, c *sparse.Corpus, o Options, old Model) (Model, *Updated, error) {
	if err := errors.Join(run.Given(ctx, "learn"), c.Validate()); err != nil {
		return nil, nil, err
	}
	if err := valid(old); err != nil {
		return nil, nil, err
	}
	if (c.Vocabulary == nil) != (old.About().Vocabulary == nil) {
		return nil, nil, fmt.Errorf("-update: text and vectors, expected %s to hold what the model learnt from", c.Source)
	}
	if u, ok := t.(Updater); ok {
		return u.Update(ctx, c, o, old)
	}
	return nil, nil, fmt.Errorf("-update: a model of %s can't be updated, only those of c_svc, epsilon_svr, linear, "+
		"landmark and knn: train it anew", old.About().Type)
}

// added is how many more documents there are than a model had, 0 where it doesn't say.
func added(c *sparse.Corpus, documents int) int {
	if documents == 0 {
		return 0
	}
	return c.Documents.Rows() - documents
}

// kindError is that of a model of another learner.
func kindError(old Model, name string) error {
	return fmt.Errorf("-update: a model of %s, found -type %s, expected the same type", old.About().Type, name)
}

// Recipe is what a model was trained with, for another of the same kind; what is zero isn't known, or the default.
type Recipe struct {
	Type, Kernel, Embedding, Scheme string // as flags have them
	C, Nu, Epsilon, Tolerance       float64
	Weights                         map[string]float64
	Probabilities, Thresholds       bool
	Seed                            uint64
	Terms                           *Terms // nil of vectors
}

// RecipeOf returns what a model was trained with. Errors: no model, or one that isn't valid.
func RecipeOf(m Model) (r Recipe, err error) {
	if err := valid(m); err != nil {
		return r, err
	}
	a := m.About()
	r = Recipe{Type: a.Type, Kernel: a.Kernel, Scheme: a.SchemeName(), C: a.C}
	var embedder *sparse.Embedder
	switch m := m.(type) {
	case Machines:
		s := m.Settings
		r.C, r.Nu, r.Epsilon = m.Type.Used(s.C, s.Nu, s.Epsilon)
		r.Tolerance, r.Weights, r.Seed = s.Tolerance, s.Weights, s.Seed
		r.Probabilities, r.Thresholds = s.Probabilities, s.Thresholds
		embedder = m.Embedder
	case linearModel:
		r.Embedding, r.Tolerance, r.Seed = a.Embedding, m.Settings.Tolerance, m.Settings.Seed
		embedder = m.Embedder
	case landmarkModel:
		r.Kernel, r.Tolerance, r.Seed = m.Settings.Kernel, m.Settings.Tolerance, m.Settings.Seed
		embedder = m.Embedder
	case neighboursModel:
		r.Kernel = m.Settings.Kernel
		if r.Scheme == "" {
			r.Scheme = m.Settings.Scheme.String()
		}
	}
	if a.Vocabulary != nil {
		r.Terms = &Terms{Tokenizer: a.Tokenizer}
		if embedder != nil && len(embedder.DF) > 0 {
			r.Terms.MinDF = int(slices.Min(embedder.DF)) // of thousands of terms some have the least
		}
	}
	return r, nil
}

// Flags returns what isn't zero as flags of train and their values, without terms.
func (r *Recipe) Flags() (flags [][2]string) {
	add := func(name, value string, given bool) {
		if given {
			flags = append(flags, [2]string{name, value})
		}
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	add("type", r.Type, r.Type != "")
	add("kernel", r.Kernel, r.Kernel != "")
	add("embed", r.Embedding, r.Embedding != "")
	add("scheme", r.Scheme, r.Scheme != "")
	add("c", number(r.C), r.C > 0)
	add("nu", number(r.Nu), r.Nu > 0)
	add("epsilon", number(r.Epsilon), r.Epsilon > 0)
	add("tolerance", number(r.Tolerance), r.Tolerance > 0 && !math.IsInf(r.Tolerance, 0))
	for _, class := range slices.Sorted(maps.Keys(r.Weights)) {
		add("weight", class+"="+number(r.Weights[class]), true)
	}
	add("probabilities", "1", r.Probabilities)
	add("thresholds", "1", r.Thresholds)
	add("seed", strconv.FormatUint(r.Seed, 10), r.Seed > 0)
	return flags
}

// Update implements Updater.
func (t machines) Update(ctx context.Context, c *sparse.Corpus, o Options, old Model) (Model, *Updated, error) {
	own, ok := old.(Machines)
	if !ok || own.Type != t.kind {
		return nil, nil, kindError(old, string(t.kind))
	}
	s, err := t.settings(&o)
	if err == nil {
		err = o.checkReject(c)
	}
	if err != nil {
		return nil, nil, err
	}
	values := c.Documents.NNZ()
	u := &Updated{What: "support vectors", Of: own.Support.Rows(), Documents: added(c, own.Documents)}
	o.HeldBytes += own.bytes()
	opt := o.svm(svm.Task{Settings: s})
	opt.Once = true
	p, err := o.problem(ctx, c, []kernel.Kernel{s.Kernel}, opt)
	if err != nil {
		return nil, nil, err
	}
	m, report, err := p.Update(ctx, s, own.Model) // the corpus may go
	if err != nil {
		return nil, nil, err
	}
	u.Found = report.Found
	return Machines{m, &Trained{Report: *report, Settings: s, Values: values}}, u, nil
}

// Update implements Updater: a model of neighbours is its documents.
func (t *nearest) Update(ctx context.Context, c *sparse.Corpus, o Options, old Model) (Model, *Updated, error) {
	own, ok := old.(neighboursModel)
	if !ok {
		return nil, nil, kindError(old, "knn")
	}
	of := own.Documents.Rows()
	found, err := knn.Found(ctx, own.Model, c)
	if err != nil {
		return nil, nil, err
	}
	m, err := t.Train(ctx, c, o)
	return m, &Updated{"documents", found, of, added(c, of)}, err
}

// Update implements Updater: it is Train. Models don't keep α, and α that is made of their weights is no better than
// 0: an error of f in all documents, which share the bias, grows as many times as there are documents.
func (l *lines) Update(ctx context.Context, c *sparse.Corpus, o Options, old Model) (Model, *Updated, error) {
	own, ok := old.(linearModel)
	if !ok {
		return nil, nil, kindError(old, "linear")
	}
	m, err := l.Train(ctx, c, o)
	return m, &Updated{Documents: added(c, own.Documents)}, err
}

// Update implements Updater, on the landmarks of the model that are found.
func (t *landmarks) Update(ctx context.Context, c *sparse.Corpus, o Options, old Model) (Model, *Updated, error) {
	own, ok := old.(landmarkModel)
	if !ok {
		return nil, nil, kindError(old, "landmark")
	}
	s, err := t.settings(o)
	if err != nil {
		return nil, nil, err
	}
	o.MemoryBytes = Left(o.MemoryBytes, own.Bytes())
	m, found, err := landmark.Update(ctx, c, s, own.Model, o.landmarks())
	return landmarkModel{m, nil}, &Updated{"landmarks", found, own.Landmarks.Rows(), added(c, own.Documents)}, err
}
