package learn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Explanation lists the terms with the largest weights in a model's decisions.
type Explanation struct {
	Description string                `json:"kind"` // description of the model and of its weights
	Functions   []FunctionExplanation `json:"rows"`

	// DocumentCount is the number of training documents over which effects are averaged, or 0 for
	// weights of a linear function. StoredDocumentCount is the number of documents that the model
	// stores.
	DocumentCount       int `json:"documents,omitempty"`
	StoredDocumentCount int `json:"documents_held,omitempty"`
}

// FunctionExplanation is a decision function with its most positive and most negative terms. For a
// linear function, a weight is the coefficient of the term's value in the embedded document. For
// other kernels, a weight is the mean effect of the term, f(x) - f(x without the term). The effect
// is 0 for documents x without the term.
type FunctionExplanation struct {
	Class         string       `json:"class"`
	NegativeClass string       `json:"against,omitempty"` // "" for all other classes
	Positive      []TermWeight `json:"terms_for"`         // positive weights, in descending order
	Negative      []TermWeight `json:"terms_against"`     // negative weights, in ascending order
	TermCount     int          `json:"terms"`             // number of terms with a nonzero weight
	Norm          float64      `json:"length"`            // √Σ weight²
}

// TermWeight is the weight of a term. If the model has no vocabulary, Term is the column number.
type TermWeight struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
}

const explainAdvice flagtext.FlagText = "use a model with weights, such as -type linear or an SVM with -kernel linear"

// Explain returns the terms with the n most positive and the n most negative weights of each class.
// Ties are broken by column. In one-vs-one, a class is explained by the mean of its binary
// classifiers' decision functions. If class isn't "", each binary classifier of class has its own
// row. For SVMs with a nonlinear kernel, weights are mean effects over the stored training
// documents. If all documents would take more than about 4·10⁸ kernel values, evenly spaced
// documents are sampled.
//
// It fails if n < 1 or class is unknown, or if a prediction fails. It also fails if m has a
// precomputed kernel, or is neither an SVM nor [WeightedModel].
func Explain(ctx context.Context, m Model, n int, class string, o Options) (*Explanation, error) {
	if n < 1 {
		return nil, fmt.Errorf("learn: number of terms must be at least 1, got %d", n)
	}
	machines, ok := m.(KernelMachine)
	if !ok || machines.isLinear() || machines.Kernel == model.Precomputed {
		return explainBy(ctx, m, o.Predictor, n, class)
	}
	return machines.explain(ctx, n, class, o)
}

// explainBy implements Explain for a model with a weight per term. p is the prepared model, or nil.
func explainBy(ctx context.Context, m Model, p Predictor, n int, class string) (*Explanation, error) {
	t, kind, err := modelWeights(ctx, m, p)
	if err != nil {
		return nil, err
	}
	rows, err := functionsOf(t.classifiers, class)
	if err != nil {
		return nil, err
	}
	out := &Explanation{Description: kind}
	for _, f := range rows {
		sum := make([]float64, len(t.classifiers[f.classifiers[0]].weights))
		for k, i := range f.classifiers {
			for j, w := range t.classifiers[i].weights {
				sum[j] += f.signs[k] * w / float64(len(f.classifiers))
			}
		}
		out.Functions = append(out.Functions, t.explainFunction(classifierWeights{class: f.class,
			negativeClass: f.negativeClass, weights: sum}, n))
	}
	return out, nil
}

// function is a signed mean of decision functions.
type function struct {
	class, negativeClass string
	classifiers          []int
	signs                []float64
}

// functionsOf returns a function per class or, if class is set, per binary classifier of the class.
func functionsOf(machines []classifierWeights, class string) (out []function, err error) {
	if class != "" || len(machines) < 2 || machines[0].negativeClass == "" {
		for i, m := range machines {
			if class == "" || m.class == class || m.negativeClass == class {
				out = append(out, function{m.class, m.negativeClass, []int{i}, []float64{1}})
			}
		}
		if len(out) == 0 {
			known := classesOf(machines)
			return nil, flagtext.Errorf("-class %s is not a class of the model; valid classes are %s", class, firstNames(known))
		}
		return out, nil
	}
	for _, class := range classesOf(machines) {
		f := function{class: class}
		for i, m := range machines {
			switch class {
			case m.class:
				f.classifiers, f.signs = append(f.classifiers, i), append(f.signs, 1)
			case m.negativeClass:
				f.classifiers, f.signs = append(f.classifiers, i), append(f.signs, -1)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func classesOf(machines []classifierWeights) (classes []string) {
	for _, m := range machines {
		for _, class := range []string{m.class, m.negativeClass} {
			if class != "" && !slices.Contains(classes, class) {
				classes = append(classes, class)
			}
		}
	}
	return classes
}

// firstNames joins up to 20 names by commas. An ellipsis stands for further names.
func firstNames(names []string) string {
	if len(names) > 20 {
		names = append(names[:20:20], "…")
	}
	return strings.Join(names, ", ")
}

// weights holds the weights of binary classifiers, and the names of their terms.
type weights struct {
	classifiers []classifierWeights
	vocabulary  []string
	tokenizer   corpus.Tokenizer
	columns     []uint32 // term of each weight
}

type classifierWeights struct {
	class, negativeClass string
	index                int // index of the decision value
	weights              []float64
}

// modelWeights returns a model's weights and their description. p is the prepared model, or nil.
func modelWeights(ctx context.Context, m Model, p Predictor) (*weights, string, error) {
	if machines, ok := m.(KernelMachine); ok {
		var own *svm.Weights
		if ready, ok := p.(svmPredictor); ok {
			own = ready.Weights()
		}
		return svmWeights(ctx, machines.Model, own)
	}
	a := m.About()
	weighted, ok := m.(WeightedModel)
	if !ok {
		name, _, _ := strings.Cut(a.Type, ":")
		return nil, "", flagtext.Errorf("a model of -type %s has no term weights; %s", name, explainAdvice)
	}
	all, columns, of := weighted.Weights()
	t, kind := &weights{vocabulary: a.Vocabulary, tokenizer: a.Tokenizer, columns: columns}, a.Type+", "+a.Embedding
	for k, w := range all {
		t.classifiers = append(t.classifiers, classifierWeights{class: a.Classes[k], weights: w})
	}
	if of != "" {
		kind += ", weights of " + of
	}
	return t, kind, nil
}

// WeightsOf returns the term weights of each binary classifier, and the terms in ascending order.
// It fails if the model has no weights per term.
func WeightsOf(m Model) (byMachine [][]float64, terms []uint32, err error) {
	t, _, err := modelWeights(context.Background(), m, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, q := range t.classifiers {
		byMachine = append(byMachine, q.weights[:len(t.columns)])
	}
	return byMachine, t.columns, nil
}

func (m KernelMachine) isLinear() bool {
	name, _, _ := strings.Cut(m.Kernel, ":")
	return name == "linear"
}

func svmWeights(ctx context.Context, m *model.Model, own *svm.Weights) (*weights, string, error) {
	if !(KernelMachine{Model: m}).isLinear() {
		return nil, "", flagtext.Errorf("the kernel %s has no term weights; %s", m.Kernel, explainAdvice)
	}
	k, err := kernel.Parse(m.Kernel)
	if err == nil && own == nil {
		own, err = svm.WeightsOf(ctx, m, k, 0)
	}
	if err != nil {
		return nil, "", err
	}
	t := (KernelMachine{Model: m}).trainedClassifiers()
	for i := range t.classifiers {
		of := &t.classifiers[i]
		of.weights = make([]float64, m.Embedder.Cols())
		for column := range of.weights {
			of.weights[column] = own.Values[column*own.FunctionCount+of.index]
		}
	}
	return t, fmt.Sprintf("%s, %s, %s", m.Type, m.Kernel, m.Embedder), nil
}

// maxValues is the approximate maximum number of kernel values that an explanation computes.
const maxValues = 4e8

// explain implements [Explain] for nonlinear kernels, by mean effects.
func (m KernelMachine) explain(ctx context.Context, n int, class string, o Options) (*Explanation, error) {
	t := m.trainedClassifiers()
	rows, err := functionsOf(t.classifiers, class)
	if err != nil {
		return nil, err
	}
	held := m.Support.Rows()
	every := 1 + int(float64(m.Support.NNZ())*float64(held)/maxValues)
	of, sums := (held+every-1)/every, make([][]float64, len(rows))
	for r := range sums {
		sums[r] = make([]float64, m.Embedder.Cols())
	}
	values := func(p *model.Prediction, i, r int) (f float64) {
		if !m.Type.Classifies() {
			return p.Values[i]
		}
		for k, at := range rows[r].classifiers {
			f += rows[r].signs[k] * p.DecisionValues[i][t.classifiers[at].index] / float64(len(rows[r].classifiers))
		}
		return f
	}
	for done := range of {
		columns, counts := m.Support.Row(done * every)
		docs := &sparse.CSR{Cols: m.Support.Cols, Offsets: []int64{0}}
		add := func(columns []uint32, counts []float32, but int) {
			docs.Terms = append(append(docs.Terms, columns[:but]...), columns[min(but+1, len(columns)):]...)
			docs.Values = append(append(docs.Values, counts[:but]...), counts[min(but+1, len(counts)):]...)
			docs.Offsets = append(docs.Offsets, int64(len(docs.Terms)))
		}
		add(columns, counts, len(columns)) // the whole document
		for j := range columns {
			add(columns, counts, j)
		}
		found, err := o.Predictor.Predict(ctx, docs)
		if err != nil {
			return nil, err
		}
		for r := range rows {
			whole := values(found, 0, r)
			for j, term := range columns {
				if column, ok := m.Embedder.Column(term); ok {
					sums[r][column] += (whole - values(found, j+1, r)) / float64(of)
				}
			}
		}
		o.ReportProgress("explaining", int64(done+1), int64(of))
	}
	out := &Explanation{Description: fmt.Sprintf("%s, %s, %s", m.Type, m.Kernel, m.Embedder), DocumentCount: of,
		StoredDocumentCount: held}
	for r, f := range rows {
		out.Functions = append(out.Functions, t.explainFunction(classifierWeights{class: f.class,
			negativeClass: f.negativeClass, weights: sums[r]}, n))
	}
	return out, nil
}

func (m KernelMachine) trainedClassifiers() *weights {
	t := &weights{vocabulary: m.Vocabulary, tokenizer: m.Tokenizer, columns: m.Embedder.Terms}
	names := [][2]string{{string(m.Type), ""}}
	if m.Type.Classifies() {
		names = nil
		for a, class := range m.Classes {
			if len(m.Classifier.Functions) == len(m.Classes) && m.Classifier.Scheme != solver.OneVsOne {
				names = append(names, [2]string{class, ""})
				continue
			}
			for _, other := range m.Classes[a+1:] {
				names = append(names, [2]string{class, other})
			}
		}
	}
	for i, q := range m.Classifier.Functions {
		if q != nil {
			t.classifiers = append(t.classifiers, classifierWeights{class: names[i][0], negativeClass: names[i][1], index: i})
		}
	}
	return t
}

func (t *weights) termName(column int) string {
	if column == len(t.columns) {
		return "(no term)"
	}
	term := t.columns[column]
	if int(term) < len(t.vocabulary) {
		return t.tokenizer.FormatTerm(t.vocabulary[term])
	}
	return fmt.Sprint(term)
}

func (t *weights) explainFunction(m classifierWeights, n int) FunctionExplanation {
	out := FunctionExplanation{Class: m.class, NegativeClass: m.negativeClass, Positive: []TermWeight{},
		Negative: []TermWeight{}}
	for _, w := range m.weights {
		if w != 0 {
			out.TermCount++
			out.Norm += w * w
		}
	}
	out.Norm = math.Sqrt(out.Norm)
	by := func(a, b int) int { return cmp.Or(cmp.Compare(m.weights[b], m.weights[a]), a-b) }
	for _, j := range firstBy(m.weights, n, by) {
		if m.weights[j] > 0 {
			out.Positive = append(out.Positive, TermWeight{t.termName(j), m.weights[j]})
		}
	}
	for _, j := range firstBy(m.weights, n, func(a, b int) int { return by(b, a) }) {
		if m.weights[j] < 0 {
			out.Negative = append(out.Negative, TermWeight{t.termName(j), m.weights[j]})
		}
	}
	return out
}

// firstBy returns the first n indices of nonzero weights, sorted by order.
func firstBy(weights []float64, n int, order func(a, b int) int) (first []int) {
	if n = min(n, len(weights)); n <= 0 {
		return nil
	}
	last := -1 // the n-th index so far, or -1 if unknown
	for j, w := range weights {
		if w == 0 || last >= 0 && order(last, j) < 0 {
			continue
		}
		if first = append(first, j); len(first) > 2*n+16 { // sort in batches, which is faster
			slices.SortFunc(first, order)
			first, last = first[:n], first[n-1]
		}
	}
	slices.SortFunc(first, order)
	return first[:min(n, len(first))]
}
