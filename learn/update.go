package learn

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/internal/task"
	"github.com/gramengine/gram/learn/landmark"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Updated says what a training has found of the model that it began at.
type Updated struct {
	What      string `json:"what,omitempty"` // what was looked for: support vectors or landmarks; "" for nothing
	Found     int    `json:"found"`          // of them, among the documents
	Of        int    `json:"of"`
	Documents int    `json:"new_documents"` // how many more there are; 0 where the model doesn't say
}

// leastFound is the share of what a model learnt from below which a source can't hold all documents.
const leastFound = 0.5

// Update trains on old and new documents from where the training of old ended. Options are as [Options.Inherit] has
// them. Errors: a learner that can't, a source that lacks most of the model's documents, those of Train.
func Update(ctx context.Context, t Trainer, c *sparse.Corpus, o Options, old Model) (Model, *Updated, error) {
	if err := errors.Join(run.Given(ctx, "learn"), c.Validate(), valid(old)); err != nil {
		return nil, nil, err
	}
	a := old.About()
	if (c.Vocabulary == nil) != (a.Vocabulary == nil) {
		return nil, nil, flagtext.Errorf("-update: text and vectors, expected %s to hold what the model learnt from",
			c.Source)
	}
	o.HeldBytes += a.Bytes
	switch own := old.(type) {
	case Machines:
		if t, ok := t.(machines); ok && t.kind == own.Type {
			return t.update(ctx, c, o, own)
		}
	case landmarkModel:
		if t, ok := t.(*landmarks); ok {
			return t.update(ctx, c, o, own)
		}
	case linearModel: // it keeps no α, and α made of its weights is no better than 0: an error of f in all documents,
		if t, ok := t.(*lines); ok { // which share the bias, grows as many times as there are documents
			return anew(ctx, t, c, o, own.Documents)
		}
	case neighboursModel: // its documents
		if t, ok := t.(*nearest); ok {
			return anew(ctx, t, c, o, own.Documents.Rows())
		}
	default:
		return nil, nil, cannotUpdate(a.Type)
	}
	return nil, nil, flagtext.Errorf("-update: a model of %s, expected one of the same -type", a.Type)
}

func cannotUpdate(name string) error {
	return flagtext.Errorf("-update: a model of %s can't be updated, only those of c_svc, epsilon_svr, linear, landmark "+
		"and knn: train it anew", name)
}

// begun says how many documents a corpus has beside those of a model, 0 where it doesn't say, and what at has found.
func begun(c *sparse.Corpus, documents int, what string, at []int) (*Updated, error) {
	u := &Updated{What: what, Of: len(at)}
	for _, d := range at {
		u.Found += min(d+1, 1)
	}
	n := c.Documents.Rows()
	if documents > 0 {
		u.Documents = n - documents
	}
	switch {
	case float64(u.Found) < leastFound*float64(u.Of):
		return nil, flagtext.Errorf("-update: %s holds %d of the %d %s of the model, expected most of them: it must hold "+
			"all documents, old and new, cut into the same terms", c.Source, u.Found, u.Of, what)
	case float64(n) < leastFound*float64(documents):
		return nil, flagtext.Errorf("-update: %s holds %d documents, and the model learnt from %d, expected as many and new "+
			"ones", c.Source, n, documents)
	}
	return u, nil
}

// Inherit fills in, of what isn't given, what a model that can be updated was trained with, but for its type, scheme
// and terms; nothing is chosen. Errors: a model that isn't valid, has weights of classes or a threshold of -reject, if
// these aren't given again.
func (o *Options) Inherit(m Model) error {
	if err := valid(m); err != nil {
		return err
	}
	o.Work = 0
	switch m := m.(type) {
	case Machines:
		s := m.Settings
		if m.Classifier.Rejection != nil && o.Reject == "" {
			return flagtext.Errorf("the model has a threshold below which it doesn't answer, but not what it was " +
				"learnt for: -reject says it again")
		}
		c, nu, epsilon := m.Type.Used(s.C, s.Nu, s.Epsilon)
		o.C, o.Nu, o.Epsilon = cmp.Or(o.C, c), cmp.Or(o.Nu, nu), cmp.Or(o.Epsilon, epsilon)
		o.Kernel, o.Tolerance = cmp.Or(o.Kernel, m.Kernel), cmp.Or(o.Tolerance, s.Tolerance)
		o.Probabilities, o.Thresholds = o.Probabilities || s.Probabilities, !o.NoThresholds && (o.Thresholds || s.Thresholds)
		if len(s.Weights) > 0 && o.Weights == nil && !o.Balanced {
			return flagtext.Errorf("the model was trained with weights of classes, which may be balanced for its documents: " +
				"-weight says them again")
		}
	case linearModel:
		o.C, o.Tolerance = cmp.Or(o.C, m.Settings.C), cmp.Or(o.Tolerance, m.Settings.Tolerance)
		o.Embedding = cmp.Or(o.Embedding, &m.Embedder.Embedding)
	case landmarkModel:
		o.C, o.Tolerance = cmp.Or(o.C, m.Settings.C), cmp.Or(o.Tolerance, m.Settings.Tolerance)
		o.Kernel = cmp.Or(o.Kernel, m.Settings.Kernel)
	case neighboursModel:
		o.Kernel = cmp.Or(o.Kernel, m.Settings.Kernel)
	}
	return nil
}

// TermsOf returns how a model's text was cut, nil of vectors. Models keep no least number of documents with a term, but
// of many terms some have it. Errors: a model that isn't valid.
func TermsOf(m Model) (*Terms, error) {
	if err := valid(m); err != nil {
		return nil, err
	}
	a := m.About()
	if a.Vocabulary == nil {
		return nil, nil
	}
	t := &Terms{Tokenizer: a.Tokenizer}
	var f *sparse.Embedder
	switch m := m.(type) {
	case Machines:
		f = m.Embedder
	case linearModel:
		f = m.Embedder
	case landmarkModel:
		f = m.Embedder
	}
	if f != nil && len(f.DF) > 0 {
		t.MinDF = int(slices.Min(f.DF))
	}
	return t, nil
}

// update is Train from the support vectors of the model that are found.
func (t machines) update(ctx context.Context, c *sparse.Corpus, o Options, own Machines) (Model, *Updated, error) {
	if t.kind != model.CSVC && t.kind != model.EpsilonSVR {
		return nil, nil, cannotUpdate(string(t.kind))
	}
	s, err := t.settings(&o)
	if err == nil {
		err = o.checkReject(c)
	}
	if err == nil && own.Kernel == model.Precomputed {
		err = flagtext.Errorf("-update: a precomputed kernel, whose documents have no terms to be known by: train it anew")
	}
	if err != nil {
		return nil, nil, err
	}
	var classes []string // of support vectors that have one
	for _, k := range own.SupportClass {
		if k >= 0 {
			classes = append(classes, own.Classes[k])
		}
	}
	if len(classes) < len(own.SupportClass) {
		classes = nil
	}
	at, err := task.Match(ctx, own.Support, own.Embedder, own.Vocabulary, classes, c)
	if err != nil {
		return nil, nil, err
	}
	u, err := begun(c, own.Documents, "support vectors", at)
	if err != nil {
		return nil, nil, err
	}
	values := c.Documents.NNZ()
	opt := o.svm(svm.Task{Settings: s})
	opt.Once = true
	p, err := o.problem(ctx, c, []kernel.Kernel{s.Kernel}, opt)
	if err != nil {
		return nil, nil, err
	}
	m, report, err := p.Update(ctx, s, own.Model, at) // the corpus may go
	if err != nil {
		return nil, nil, err
	}
	return Machines{m, &Trained{Report: *report, Settings: s, Values: values}}, u, nil
}

// anew trains from the beginning.
func anew(ctx context.Context, t Trainer, c *sparse.Corpus, o Options, documents int) (Model, *Updated, error) {
	u, err := begun(c, documents, "", nil)
	if err != nil {
		return nil, nil, err
	}
	m, err := t.Train(ctx, c, o)
	if err != nil {
		return nil, nil, err
	}
	return m, u, nil
}

// update is Train on the landmarks of the model that are found, from their coefficients.
func (t *landmarks) update(
	ctx context.Context, c *sparse.Corpus, o Options, own landmarkModel,
) (Model, *Updated, error) {
	s, err := t.settings(o)
	if err == nil {
		c, err = weighted(c, o)
	}
	if err != nil {
		return nil, nil, err
	}
	at, err := task.Match(ctx, own.Landmarks, own.Embedder, own.Vocabulary, nil, c)
	if err != nil {
		return nil, nil, err
	}
	u, err := begun(c, own.Documents, "landmarks", at)
	if err != nil {
		return nil, nil, err
	}
	m, err := landmark.Update(ctx, c, s, own.Model, at, o.landmarks())
	if err != nil {
		return nil, nil, err
	}
	return landmarkModel{m, nil}, u, nil
}
