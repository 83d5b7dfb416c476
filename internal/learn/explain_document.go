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
// favour Label. In one-vs-one, f is the decision value of Label against Against. In one-vs-rest, f
// is Label's decision value minus Against's. For independent labels and regression, f is the
// decision value. For a one-class model, f is the decision value times the predicted sign.
type DocumentExplanation struct {
	Label   string  `json:"label"`             // predicted label
	Against string  `json:"against,omitempty"` // second class; "" if f depends on Label alone
	Value   float64 `json:"value"`             // f(x)
	Known   int     `json:"terms_known"`       // number of distinct known terms in the document

	// Terms lists the terms whose removal changes f most. Support lists the support vectors with
	// the largest absolute contributions to f. Support is empty unless the model is an SVM.
	Terms   []TermEffect    `json:"terms"`
	Support []SupportEffect `json:"support_vectors,omitempty"`
}

// TermEffect is the effect of a term, f(x) - f(x without the term). Positive effects favour Label.
type TermEffect struct {
	Term   string  `json:"term"`
	Count  float64 `json:"count"` // number of occurrences in the document
	Effect float64 `json:"effect"`
	For    string  `json:"-"` // label or direction that the effect favours

	// Slope is ∂f/∂count with an error of about 10⁻⁸ times the scale of f, see [kernel.Slopes].
	// Slope is nil for words, and for models other than support vector machines.
	Slope *float64 `json:"slope,omitempty"`
}

// SupportEffect describes a support vector s with coefficient α in f. Effect is the contribution
// α·k(s, x) to f.
type SupportEffect struct {
	Document int64   `json:"document"` // number in the training corpus, from 1; 0 if unknown
	Class    string  `json:"class,omitempty"`
	Kernel   float64 `json:"kernel"` // kernel value k(s, x)
	Effect   float64 `json:"effect"`
	For      string  `json:"-"` // label or direction, as in TermEffect
}

// ExplainDocument explains the prediction of document i by the n terms whose removal changes f
// most, and by the n support vectors with the largest contributions to f. For any learner, each
// effect takes one prediction without the term. Effects are as accurate as predictions. Effects
// don't add up to f.
//
// It fails if n < 1, if document i doesn't exist, if the model has a precomputed kernel, or if a
// prediction fails.
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

// explainTerms implements ExplainDocument without its checks. For label, see explaining.label.
func explainTerms(
	ctx context.Context, m Model, docs *sparse.CSR, i, n, label int, o Options,
) (*DocumentExplanation, error) {
	columns, counts := docs.Row(i)
	parts := termParts(m.About(), columns)
	x := &explaining{m: m, n: n, o: o, label: label, whole: docs.SelectRows([]int{i}), parts: len(parts), terms: parts}
	x.without = func(first, end int) (*sparse.CSR, error) {
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
		if parts[j].vector != "" {
			return parts[j].vector, 1
		}
		names := &weights{vocabulary: x.a.Vocabulary, tokenizer: x.a.Tokenizer, columns: columns}
		return names.name(parts[j].first), float64(counts[parts[j].first])
	})
}

// termPart is a term of a document, or all coordinates of a vector.
type termPart struct {
	first, end int    // range of the document's terms
	vector     string // column of the vector; "" for a term
}

func termParts(a About, terms []uint32) (parts []termPart) {
	rows, remark := a.Tokenizer.HasColumns(), a.Tokenizer.Remarks()
	for k, t := range terms {
		p := termPart{first: k, end: k + 1}
		if rows {
			if r := remark(a.Vocabulary[t]); r != nil && r.Vector {
				p.vector = r.Column
			}
		}
		if last := len(parts) - 1; p.vector != "" && last >= 0 && parts[last].vector == p.vector {
			parts[last].end = p.end
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

type explaining struct {
	m Model
	a About
	n int
	o Options

	whole   *sparse.CSR                               // the document
	parts   int                                       // number of parts of the document (terms, words or columns)
	terms   []termPart                                // nil if parts are words or columns
	label   int                                       // independent label to explain; -1 = the label with the largest f
	without func(first, end int) (*sparse.CSR, error) // returns copies of the document, each without one part
}

// part returns the name of part j and its count in the document.
func (x *explaining) explain(ctx context.Context, part func(j int) (string, float64)) (*DocumentExplanation, error) {
	predicted, err := x.o.Ready.Predict(ctx, x.whole)
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
		f.first, f.name = x.label, x.a.Classes[x.label]
		if !slices.Contains(predicted.Labels[0], x.label) {
			f.sign, f.name = -1, "not "+f.name
		}
	}
	out := &DocumentExplanation{
		Label: "none", Value: f.of(predicted, 0), Known: len(x.whole.Terms), Terms: []TermEffect{},
	}
	if labels := x.a.Labels(predicted, 0); len(labels) > 0 {
		out.Label = labels[0]
	}
	if f.name != "" {
		out.Label = f.name
	}
	if f.second >= 0 {
		out.Against = x.a.Classes[f.second]
	}
	effects, err := x.withoutEach(ctx, f, out.Value)
	if err != nil {
		return nil, err
	}
	for _, j := range strongest(effects, x.n) {
		name, count := part(j)
		out.Terms = append(out.Terms, TermEffect{name, count, effects[j], out.side(x.a.Numbers, effects[j]), nil})
	}
	ready, ok := x.o.Ready.(machinesReady)
	if !ok {
		return out, nil
	}
	m := x.m.(KernelMachine)
	alpha := f.alpha(m)
	if k := ready.Kernel(); x.terms != nil && !kernel.IsPrecomputed(k) {
		all, err := slopes(ctx, m, k, alpha, x.whole)
		if err != nil {
			return nil, err
		}
		for k, j := range strongest(effects, x.n) {
			if p := x.terms[j]; all != nil && p.vector == "" && !math.IsNaN(all[p.first]) && !math.IsInf(all[p.first], 0) {
				out.Terms[k].Slope = &all[p.first]
			}
		}
	}
	return out, out.support(ctx, m, ready.Predictor, alpha, x.whole, x.n)
}

// margin defines the explained function f for a document (see [DocumentExplanation]). If there are
// classes, f is a signed decision value or the difference of two decision values. Otherwise f is
// the predicted value.
type margin struct {
	first, less int // indices of decision values: f = sign·(first - less); less is -1 for none
	sign        float64
	second      int    // index of the class in Against; -1 for none
	value       bool   // f is the predicted value of a regression or a one-class model
	name        string // label of f, for independent labels
}

// of returns f for document i.
func (f *margin) of(p *model.Prediction, i int) float64 {
	if f.value {
		return f.sign * p.Value[i]
	}
	v := p.Decisions[i][f.first]
	if f.less >= 0 {
		v -= p.Decisions[i][f.less]
	}
	return f.sign * v
}

func marginOf(a *About, m Model, p *model.Prediction, i int) (*margin, error) {
	f := &margin{less: -1, second: -1, sign: 1}
	if a.OneClass || a.Numbers {
		f.value = true
		if a.OneClass && !(p.Value[i] > 0) { // the prediction is -1
			f.sign = -1
		}
		return f, nil
	}
	decisions := p.Decisions[i]
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
	case a.Scheme == solver.Labels:
		f.first = greatest(-1)
		f.name = a.Classes[f.first]
	case len(a.Classes) < 2:
		return nil, fmt.Errorf("learn: cannot explain predictions of a model with only one class, %s", a.Classes)
	case ok && a.Scheme == solver.OneVsOne:
		votes := make([]float64, len(a.Classes))
		for k, pair := range solver.Pairs(len(a.Classes)) {
			side := 0
			if decisions[k] <= 0 {
				side = 1
			}
			votes[pair[side]] += 1 + min(math.Abs(decisions[k]), 1e6)/1e7/float64(len(decisions))
		}
		first := p.Class[i]
		for k, pair := range solver.Pairs(len(a.Classes)) {
			at := 0
			switch first {
			case pair[0]:
			case pair[1]:
				at = 1
			default:
				continue
			}
			if other := pair[1-at]; machines.Classifier.Functions[k] != nil &&
				(f.second < 0 || votes[other] > votes[f.second]) {
				f.first, f.second, f.sign = k, other, 1-2*float64(at)
			}
		}
	default:
		f.first = p.Class[i]
		f.second = greatest(f.first)
		f.less = f.second
		if f.second >= 0 && a.Votes && decisions[f.first] < decisions[f.second] { // energies: smallest wins
			f.sign = -1
		}
	}
	return f, nil
}

// Margin returns the decision value f of document i and the second class, as in Value and Against
// of [DocumentExplanation]. second is "" if f depends on the label alone. It fails for classifiers
// with only one class.
func (a *About) Margin(m Model, p *model.Prediction, i int) (f float64, second string, err error) {
	if a.OneClass || a.Numbers {
		return p.Value[i], "", nil
	}
	at, err := marginOf(a, m, p, i)
	if err != nil {
		return 0, "", err
	}
	if at.second >= 0 {
		second = a.Classes[at.second]
	}
	return at.of(p, i), second, nil
}

// withoutEach returns f(x) - f(x without part j) for each part of the document.
func (x *explaining) withoutEach(ctx context.Context, f *margin, value float64) ([]float64, error) {
	const atOnce = 256 // documents per batch; copies for all parts would take memory quadratic in the document's length
	effects := make([]float64, 0, x.parts)
	for first := 0; first < x.parts; first += atOnce {
		without, err := x.without(first, min(first+atOnce, x.parts))
		if err != nil {
			return nil, err
		}
		predicted, err := x.o.Ready.Predict(ctx, without)
		if err != nil {
			return nil, err
		}
		for k := range without.Rows() {
			effects = append(effects, value-f.of(predicted, k))
		}
		x.o.Tell("explaining", int64(len(effects)), int64(x.parts))
	}
	return effects, nil
}

// strongest returns the indices of the n largest nonzero |effects| in descending order. Ties are
// broken by index.
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

// alpha returns the coefficients of the support vectors in f.
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
	add(f.first, f.sign)
	add(f.less, -f.sign)
	return alpha
}

// side returns the label or direction that an effect favours.
func (x *DocumentExplanation) side(number bool, effect float64) string {
	switch {
	case number && effect > 0:
		return "a greater value"
	case number:
		return "a smaller value"
	case effect > 0:
		return x.Label
	}
	return cmp.Or(x.Against, "against it")
}

// support lists the support vectors with the largest contributions to f = Σ αₛ k(s, x). It
// overwrites alpha.
func (x *DocumentExplanation) support(
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
		e := SupportEffect{Kernel: float64(values[s]), Effect: alpha[s], For: x.side(number, alpha[s])}
		if len(m.SupportDoc) > s && m.SupportDoc[s] >= 0 {
			e.Document = m.SupportDoc[s] + 1
		}
		if len(m.SupportClass) > s && m.SupportClass[s] >= 0 {
			e.Class = m.Classes[m.SupportClass[s]]
		}
		x.Support = append(x.Support, e)
	}
	return nil
}
