package learn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// DocumentExplanation explains a model's prediction for a document x by a value f(x). Larger values
// favour Label. In one-vs-one, f is the decision value of Label against SecondClass. In
// one-vs-rest, f is the decision value of Label minus the decision value of SecondClass. For
// independent labels and regression, f is the decision value. For a one-class model, f is the
// decision value times the predicted sign.
type DocumentExplanation struct {
	Label          string  `json:"label"`             // predicted label
	SecondClass    string  `json:"against,omitempty"` // second class; "" if f depends on Label alone
	Value          float64 `json:"value"`             // f(x)
	KnownTermCount int     `json:"terms_known"`       // number of distinct known terms in the document

	// Terms lists the terms whose removal changes f most. SupportVectors lists the support vectors
	// with the largest absolute contributions to f. SupportVectors is empty unless the model is an
	// SVM.
	Terms          []TermEffect          `json:"terms"`
	SupportVectors []SupportVectorEffect `json:"support_vectors,omitempty"`
}

// TermEffect is the effect of a term, f(x) - f(x without the term). Positive effects favour Label.
type TermEffect struct {
	Term    string  `json:"term"`
	Count   float64 `json:"count"` // number of occurrences in the document
	Effect  float64 `json:"effect"`
	Favours string  `json:"-"` // label or direction that the effect favours

	// Slope is ∂f/∂count with an error of about 10⁻⁸ times the scale of f, see
	// [kernel.PartialDerivatives]. Slope is nil for words and vectors, for models other than
	// support vector machines, and if the embedding isn't supported.
	Slope *float64 `json:"slope,omitempty"`
}

// SupportVectorEffect describes a support vector s with coefficient α in f. Effect is the
// contribution α·k(s, x) to f.
type SupportVectorEffect struct {
	Document    int64   `json:"document"` // number in the training corpus, from 1; 0 if unknown
	Class       string  `json:"class,omitempty"`
	KernelValue float64 `json:"kernel"` // kernel value k(s, x)
	Effect      float64 `json:"effect"`
	Favours     string  `json:"-"` // label or direction, as in TermEffect
}

// ExplainDocument explains the prediction of document i by the n terms whose removal changes f
// most, and by the n support vectors with the largest contributions to f, see
// [DocumentExplanation]. Each effect takes one prediction of the document without the term. Effects
// are as accurate as predictions. Effects don't add up to f. The kernel must not be precomputed.
//
// It fails if n < 1, if document i doesn't exist, if the model is a classifier with only one class,
// or if a prediction fails.
func ExplainDocument(
	ctx context.Context, m Model, docs *sparse.CSR, i, n int, o Options,
) (*DocumentExplanation, error) {
	switch {
	case i < 0 || i >= docs.Rows():
		return nil, fmt.Errorf("learn: document index must be between 0 and %d, got %d", docs.Rows()-1, i)
	case n < 1:
		return nil, fmt.Errorf("learn: number of terms must be at least 1, got %d", n)
	}
	return explainTerms(ctx, m, docs, i, n, -1, o)
}

// explainTerms implements [ExplainDocument] without its checks. label is as in documentExplainer.
func explainTerms(
	ctx context.Context, m Model, docs *sparse.CSR, i, n, label int, o Options,
) (*DocumentExplanation, error) {
	columns, counts := docs.Row(i)
	parts := groupTerms(m.About(), columns)
	x := &documentExplainer{m: m, n: n, o: o, label: label, document: docs.SelectRows([]int{i}), partCount: len(parts),
		termGroups: parts}
	x.withoutParts = func(first, end int) (*sparse.CSR, error) {
		out := &sparse.CSR{Cols: docs.Cols, Offsets: []int64{0}}
		for j := first; j < end; j++ {
			p := parts[j]
			out.Terms = append(append(out.Terms, columns[:p.first]...), columns[p.end:]...)
			out.Values = append(append(out.Values, counts[:p.first]...), counts[p.end:]...)
			out.Offsets = append(out.Offsets, int64(len(out.Terms)))
		}
		return out, nil
	}
	return x.explain(ctx, func(j int) (string, float64) {
		if parts[j].vectorColumn != "" {
			return parts[j].vectorColumn, 1
		}
		names := &weights{vocabulary: x.a.Vocabulary, tokenizer: x.a.Tokenizer, columns: columns}
		return names.termName(parts[j].first), float64(counts[parts[j].first])
	})
}

// termGroup is a term of a document, or all coordinates of a vector.
type termGroup struct {
	first, end   int    // range of the document's terms
	vectorColumn string // column of the vector; "" for a term
}

func groupTerms(a About, terms []uint32) (parts []termGroup) {
	rows, remark := a.Tokenizer.HasColumns(), a.Tokenizer.DescribeTerms()
	for k, t := range terms {
		p := termGroup{first: k, end: k + 1}
		if rows {
			if r := remark(a.Vocabulary[t]); r != nil && r.IsVector {
				p.vectorColumn = r.Column
			}
		}
		if last := len(parts) - 1; p.vectorColumn != "" && last >= 0 && parts[last].vectorColumn == p.vectorColumn {
			parts[last].end = p.end
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

type documentExplainer struct {
	m Model
	a About
	n int
	o Options

	document   *sparse.CSR
	partCount  int         // number of parts of the document (terms, words or columns)
	termGroups []termGroup // nil if parts are words or columns
	// index of the independent label to explain; -1 = the label with the largest decision value
	label        int
	withoutParts func(first, end int) (*sparse.CSR, error) // returns copies of the document, each without one part
}

// explain explains the prediction of x.document. part(j) returns the name of part j and its count
// in the document.
func (x *documentExplainer) explain(
	ctx context.Context, part func(j int) (string, float64),
) (*DocumentExplanation, error) {
	predicted, err := x.o.Predictor.Predict(ctx, x.document)
	if err != nil {
		return nil, err
	}
	predicted.Rejected = nil // explain the class even if it was rejected
	x.a = x.m.About()        // valid now, because Predict has checked the model
	f, err := marginOf(&x.a, x.m, predicted, 0)
	if err != nil {
		return nil, err
	}
	if x.label >= 0 {
		f.positive, f.name = x.label, x.a.Classes[x.label]
		if !slices.Contains(predicted.Labels[0], x.label) {
			f.sign, f.name = -1, "not "+f.name
		}
	}
	out := &DocumentExplanation{
		Label: "none", Value: f.value(predicted, 0), KnownTermCount: len(x.document.Terms), Terms: []TermEffect{},
	}
	if labels := x.a.Labels(predicted, 0); len(labels) > 0 {
		out.Label = labels[0]
	}
	if f.name != "" {
		out.Label = f.name
	}
	if f.secondClass >= 0 {
		out.SecondClass = x.a.Classes[f.secondClass]
	}
	effects, err := x.partEffects(ctx, f, out.Value)
	if err != nil {
		return nil, err
	}
	for _, j := range strongest(effects, x.n) {
		name, count := part(j)
		out.Terms = append(out.Terms, TermEffect{name, count, effects[j], out.favouredLabel(x.a.IsRegression, effects[j]),
			nil})
	}
	ready, ok := x.o.Predictor.(svmPredictor)
	if !ok {
		return out, nil
	}
	m := x.m.(KernelMachine)
	alpha := f.alpha(m)
	if k := ready.Kernel(); x.termGroups != nil && !kernel.IsPrecomputed(k) {
		all, err := slopes(ctx, m, k, alpha, x.document)
		if err != nil {
			return nil, err
		}
		for k, j := range strongest(effects, x.n) {
			if p := x.termGroups[j]; all != nil && p.vectorColumn == "" && !math.IsNaN(all[p.first]) &&
				!math.IsInf(all[p.first], 0) {
				out.Terms[k].Slope = &all[p.first]
			}
		}
	}
	return out, out.addSupportVectors(ctx, m, ready.Predictor, alpha, x.document, x.n)
}

// margin defines the explained function f for a document (see [DocumentExplanation]). If there are
// classes, f is a signed decision value or the difference of two decision values. Otherwise f is
// the predicted value.
type margin struct {
	// With decision values d, f = sign·(d[positive] - d[negative]). If negative is -1, f =
	// sign·d[positive].
	positive, negative int
	sign               float64
	secondClass        int    // index of SecondClass in the model's classes; -1 for none
	isPredictedValue   bool   // true if f is the predicted value of a regression or a one-class model
	name               string // label of f, for independent labels
}

func (f *margin) value(p *model.Prediction, i int) float64 {
	if f.isPredictedValue {
		return f.sign * p.Values[i]
	}
	v := p.DecisionValues[i][f.positive]
	if f.negative >= 0 {
		v -= p.DecisionValues[i][f.negative]
	}
	return f.sign * v
}

func marginOf(a *About, m Model, p *model.Prediction, i int) (*margin, error) {
	f := &margin{negative: -1, secondClass: -1, sign: 1}
	if a.OneClass || a.IsRegression {
		f.isPredictedValue = true
		if a.OneClass && !(p.Values[i] > 0) { // the prediction is -1
			f.sign = -1
		}
		return f, nil
	}
	decisions := p.DecisionValues[i]
	greatest := func(but int) int {
		best := -1
		for k, v := range decisions {
			if k != but && (best < 0 || v > decisions[best]) {
				best = k
			}
		}
		return best
	}
	machines, ok := m.(KernelMachine)
	switch {
	case a.Scheme == solver.MultiLabel:
		f.positive = greatest(-1)
		f.name = a.Classes[f.positive]
	case len(a.Classes) < 2:
		return nil, fmt.Errorf("learn: cannot explain predictions of a model with only one class, %s", a.Classes)
	case ok && a.Scheme == solver.OneVsOne:
		votes := make([]float64, len(a.Classes))
		for k, pair := range solver.ClassPairs(len(a.Classes)) {
			side := 0
			if decisions[k] <= 0 {
				side = 1
			}
			votes[pair[side]] += 1 + min(math.Abs(decisions[k]), 1e6)/1e7/float64(len(decisions))
		}
		first := p.ClassIndices[i]
		for k, pair := range solver.ClassPairs(len(a.Classes)) {
			at := 0
			switch first {
			case pair[0]:
			case pair[1]:
				at = 1
			default:
				continue
			}
			if other := pair[1-at]; machines.Classifier.Functions[k] != nil &&
				(f.secondClass < 0 || votes[other] > votes[f.secondClass]) {
				f.positive, f.secondClass, f.sign = k, other, 1-2*float64(at)
			}
		}
	default:
		f.positive = p.ClassIndices[i]
		f.secondClass = greatest(f.positive)
		f.negative = f.secondClass
		if f.secondClass >= 0 && a.HasVotes && decisions[f.positive] < decisions[f.secondClass] { // smallest energy wins
			f.sign = -1
		}
	}
	return f, nil
}

// Margin returns the decision value f of document i and the second class, see Value and SecondClass
// of [DocumentExplanation]. For one-class models, f isn't multiplied by the predicted sign. second
// is "" if f depends on the label alone. Margin fails for classifiers with only one class, unless
// labels are independent.
func (a *About) Margin(m Model, p *model.Prediction, i int) (f float64, second string, err error) {
	if a.OneClass || a.IsRegression {
		return p.Values[i], "", nil
	}
	at, err := marginOf(a, m, p, i)
	if err != nil {
		return 0, "", err
	}
	if at.secondClass >= 0 {
		second = a.Classes[at.secondClass]
	}
	return at.value(p, i), second, nil
}

// partEffects returns f(x) - f(x without part j) for each part of the document.
func (x *documentExplainer) partEffects(ctx context.Context, f *margin, value float64) ([]float64, error) {
	const atOnce = 256 // documents per batch; memory for all copies would be quadratic in the number of parts
	effects := make([]float64, 0, x.partCount)
	for first := 0; first < x.partCount; first += atOnce {
		without, err := x.withoutParts(first, min(first+atOnce, x.partCount))
		if err != nil {
			return nil, err
		}
		predicted, err := x.o.Predictor.Predict(ctx, without)
		if err != nil {
			return nil, err
		}
		for k := range without.Rows() {
			effects = append(effects, value-f.value(predicted, k))
		}
		x.o.ReportProgress("explaining", int64(len(effects)), int64(x.partCount))
	}
	return effects, nil
}

// strongest returns the indices of the n nonzero effects that are largest in absolute value, in
// descending order. Ties are broken by index.
func strongest(effects []float64, n int) []int {
	var order []int
	for j, v := range effects {
		if v != 0 {
			order = append(order, j)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(effects[b]), math.Abs(effects[a])) })
	return order[:min(n, len(order))]
}

// alpha returns the coefficients in f of m's support vectors.
func (f *margin) alpha(m KernelMachine) []float64 {
	alpha := make([]float64, m.Support.Rows())
	add := func(machine int, sign float64) {
		if machine < 0 {
			return
		}
		q := m.Classifier.Functions[machine]
		for k, s := range q.Support {
			alpha[s] += sign * q.Coef[k]
		}
	}
	add(f.positive, f.sign)
	add(f.negative, -f.sign)
	return alpha
}

func (x *DocumentExplanation) favouredLabel(number bool, effect float64) string {
	switch {
	case number && effect > 0:
		return "a greater value"
	case number:
		return "a smaller value"
	case effect > 0:
		return x.Label
	}
	return cmp.Or(x.SecondClass, "against it")
}

// addSupportVectors lists the support vectors with the largest contributions to f = Σ αₛ k(s, x).
// It overwrites alpha.
func (x *DocumentExplanation) addSupportVectors(
	ctx context.Context, m KernelMachine, p *svm.Predictor, alpha []float64, whole *sparse.CSR, n int,
) error {
	row, err := p.KernelRows(ctx, whole)
	if err != nil || row == nil {
		return err
	}
	values := row.Row(0)
	for s := range alpha {
		alpha[s] *= float64(values[s])
	}
	for _, s := range strongest(alpha, n) {
		number := !m.Type.Classifies() && m.Type != model.OneClass
		e := SupportVectorEffect{KernelValue: float64(values[s]), Effect: alpha[s],
			Favours: x.favouredLabel(number, alpha[s])}
		if len(m.SupportDocs) > s && m.SupportDocs[s] >= 0 {
			e.Document = m.SupportDocs[s] + 1
		}
		if len(m.SupportClasses) > s && m.SupportClasses[s] >= 0 {
			e.Class = m.Classes[m.SupportClasses[s]]
		}
		x.SupportVectors = append(x.SupportVectors, e)
	}
	return nil
}
