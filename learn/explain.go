package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Explanation has the terms by which a model decides.
type Explanation struct {
	Kind string      `json:"kind"` // of the model, its kernel or embedding, and what has the weights
	Rows []Explained `json:"rows"`
}

// Explained is a decision function Σ weight · term, with the terms that speak most for it and against
// it. A weight is by unit of what the embedding makes of a document.
type Explained struct {
	Class   string       `json:"class"`
	Against string       `json:"against,omitempty"` // "" for all others
	For     []TermWeight `json:"terms_for"`         // above 0, the greatest first
	Not     []TermWeight `json:"terms_against"`     // below 0, the least first
	Known   int          `json:"terms"`             // with a weight other than 0
	Length  float64      `json:"length"`            // √Σ weight²
}

// TermWeight is a term, by its text or else its column, with its weight.
type TermWeight struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
}

// explained says which models have weights.
const explained flagtext.Words = "logistic regression, -type linear or a support vector machine with a linear kernel"

// Explain returns the n terms that speak most for each class or pair of classes, and as many against
// it, those of equal weights by their columns. If keep isn't nil, it says of which machines. Spherical
// margins have the hyperplane's unit vector.
//
// Errors: n below 1, a model without weights by term.
func Explain(m Model, n int, keep func(class, against string) bool) (*Explanation, error) {
	return explainBy(context.Background(), m, nil, n, keep)
}

// explainBy is Explain of a model that p, if not nil, has made ready.
func explainBy(
	ctx context.Context, m Model, p Predictor, n int, keep func(class, against string) bool,
) (*Explanation, error) {
	if m == nil {
		return nil, errors.New("learn: no model to explain, expected one")
	}
	if n < 1 {
		return nil, fmt.Errorf("learn: %d terms to name, expected 1 or more", n)
	}
	if err := valid(m); err != nil {
		return nil, err
	}
	t, kind, err := weightsOf(ctx, m, p)
	if err != nil {
		return nil, err
	}
	out := &Explanation{Kind: kind, Rows: []Explained{}}
	for _, q := range t.machines {
		if keep == nil || keep(q.class, q.against) {
			out.Rows = append(out.Rows, t.row(q, n))
		}
	}
	return out, nil
}

// valid checks a model that can be checked.
func valid(m Model) error {
	if m == nil {
		return errors.New("learn: no model, expected one")
	}
	if checked, ok := m.(interface{ Validate() error }); ok {
		if err := checked.Validate(); err != nil {
			return fmt.Errorf("learn: the model: %w", err)
		}
	}
	return nil
}

// weights are those of machines, and what they belong to.
type weights struct {
	machines   []weightsOfMachine
	vocabulary []string
	tokenizer  sparse.Tokenizer
	columns    []uint32 // term of each weight
}

type weightsOfMachine struct {
	class, against string
	weights        []float64
}

// weightsOf returns the weights of a model, which p, if not nil, has made ready, and what it is.
func weightsOf(ctx context.Context, m Model, p Predictor) (*weights, string, error) {
	if machines, ok := m.(Machines); ok {
		var own *svm.Weights
		if ready, ok := p.(machinesReady); ok {
			own = ready.Weights()
		}
		return weightsOfMachines(ctx, machines.Model, own)
	}
	a := m.About()
	weighted, ok := m.(Weighted)
	if !ok {
		name, _, _ := strings.Cut(a.Type, ":")
		return nil, "", flagtext.Errorf("a model of -type %s has no weights by term, expected %s", name, explained)
	}
	all, columns, of := weighted.Weights()
	t, kind := &weights{vocabulary: a.Vocabulary, tokenizer: a.Tokenizer, columns: columns}, a.Type+", "+a.Embedding
	for k, w := range all {
		t.machines = append(t.machines, weightsOfMachine{class: a.Classes[k], weights: w})
	}
	if of != "" {
		kind += ", weights of " + of
	}
	return t, kind, nil
}

// WeightsOf returns, by machine, the weight of each term, and the terms, ascending: those that [Explain] names.
// Errors: a model without weights by term.
func WeightsOf(m Model) (byMachine [][]float64, terms []uint32, err error) {
	if err := valid(m); err != nil {
		return nil, nil, err
	}
	t, _, err := weightsOf(context.Background(), m, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, q := range t.machines {
		byMachine = append(byMachine, q.weights[:len(t.columns)])
	}
	return byMachine, t.columns, nil
}

// weightsOfMachines returns the weights of support vector machines, own if they are known.
func weightsOfMachines(ctx context.Context, m *model.Model, own *svm.Weights) (*weights, string, error) {
	if name, _, _ := strings.Cut(m.Kernel, ":"); name != "linear" {
		return nil, "", flagtext.Errorf("the kernel %s has no weights by term, expected %s", m.Kernel, explained)
	}
	k, err := kernel.Parse(m.Kernel)
	if err == nil && own == nil {
		own, err = svm.WeightsOf(ctx, m, k, 0)
	}
	if err != nil {
		return nil, "", err
	}
	t := &weights{vocabulary: m.Vocabulary, tokenizer: m.Tokenizer, columns: m.Embedder.Terms}
	names := [][2]string{{string(m.Type), ""}}
	if m.Type.Classifies() {
		names = nil
		for a, class := range m.Classes {
			if len(m.Classifier.Machines) == len(m.Classes) && m.Classifier.Scheme.String() != "one-vs-one" {
				names = append(names, [2]string{class, ""})
				continue
			}
			for _, other := range m.Classes[a+1:] {
				names = append(names, [2]string{class, other})
			}
		}
	}
	for i, q := range m.Classifier.Machines {
		if q == nil {
			continue
		}
		of := weightsOfMachine{names[i][0], names[i][1], make([]float64, m.Embedder.Cols())}
		for column := range of.weights {
			of.weights[column] = own.At[column*own.Machines+i]
		}
		t.machines = append(t.machines, of)
	}
	return t, fmt.Sprintf("%s, %s, %s", m.Type, m.Kernel, m.Embedder), nil
}

// name is the text of a weight's term.
func (t *weights) name(column int) string {
	if column == len(t.columns) {
		return "(no term)"
	}
	term := t.columns[column]
	if int(term) < len(t.vocabulary) {
		return t.tokenizer.Term(t.vocabulary[term])
	}
	return fmt.Sprint(term)
}

// row lists the greatest weights of a machine, those of equal terms by their column.
func (t *weights) row(m weightsOfMachine, n int) Explained {
	out := Explained{Class: m.class, Against: m.against, For: []TermWeight{}, Not: []TermWeight{}}
	for _, w := range m.weights {
		if w != 0 {
			out.Known++
			out.Length += w * w
		}
	}
	out.Length = math.Sqrt(out.Length)
	by := func(a, b int) int { return cmp.Or(cmp.Compare(m.weights[b], m.weights[a]), a-b) }
	for _, j := range firstBy(m.weights, n, by) {
		if m.weights[j] > 0 {
			out.For = append(out.For, TermWeight{t.name(j), m.weights[j]})
		}
	}
	for _, j := range firstBy(m.weights, n, func(a, b int) int { return by(b, a) }) {
		if m.weights[j] < 0 {
			out.Not = append(out.Not, TermWeight{t.name(j), m.weights[j]})
		}
	}
	return out
}

// firstBy returns the places of the first n weights other than 0 in an order.
func firstBy(weights []float64, n int, order func(a, b int) int) (first []int) {
	if n = min(n, len(weights)); n <= 0 {
		return nil
	}
	last := -1 // of n that have been met
	for j, w := range weights {
		if w == 0 || last >= 0 && order(last, j) < 0 {
			continue
		}
		if first = append(first, j); len(first) > 2*n+16 { // more at a time than one take less time
			slices.SortFunc(first, order)
			first, last = first[:n], first[n-1]
		}
	}
	slices.SortFunc(first, order)
	return first[:min(n, len(first))]
}
