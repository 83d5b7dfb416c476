package model

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

var ctx = context.Background()

// points returns n documents with up to dims values, a tenth of them 0, and an empty document.
// Values are multiples of 1/64, so that products are exact in float32. If signed is set, some are
// negative.
func points(seed uint64, n, dims int, signed bool) *sparse.CSR {
	r := rand.New(rand.NewPCG(seed, 3))
	m := &sparse.CSR{Cols: dims + 1, Offsets: []int64{0}}
	for i := range n {
		for j := range dims {
			v := float32(r.IntN(256)) / 64
			if signed {
				v -= 2
			}
			if i != n/2 && v != 0 && r.IntN(10) > 0 {
				m.Terms, m.Values = append(m.Terms, uint32(j+1)), append(m.Values, v)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Values)))
	}
	return m
}

// evaluate returns k(x_i, y_j) in float64, by the kernel's definition, for documents of one
// embedder.
func evaluate(t testing.TB, spec string, x, y *sparse.Embedded) [][]float64 {
	t.Helper()
	dense := func(x *sparse.Embedded, i int, unit bool) []float64 {
		row := make([]float64, x.Cols)
		terms, _ := x.Row(i)
		values := x.Vector64(i, nil)
		if unit {
			values = x.UnitVector64(i, nil)
		}
		for k, c := range terms {
			row[c] = values[k]
		}
		return row
	}
	diffusion := strings.HasPrefix(spec, "diffusion")
	var k libsvmKernel
	if !diffusion {
		k = musttest.Get(parseKernel(spec))(t)
	}
	out := make([][]float64, x.Rows())
	for i := range out {
		a := dense(x, i, diffusion)
		for j := range y.Rows() {
			b := dense(y, j, diffusion)
			var dot float64
			for c := range a {
				dot += a[c] * b[c]
			}
			square := x.Norms[i]*x.Norms[i] + y.Norms[j]*y.Norms[j] - 2*dot
			switch {
			case diffusion:
				dot = math.Exp(-math.Pow(math.Acos(min(dot, 1)), 2) / 0.5)
			case k.typ == "rbf":
				dot = math.Exp(-k.gamma * square)
			case k.typ == "polynomial":
				dot = math.Pow(k.gamma*dot+k.coef0, float64(k.degree))
			case k.typ == "sigmoid":
				dot = math.Tanh(k.gamma*dot + k.coef0)
			}
			out[i] = append(out[i], dot)
		}
	}
	return out
}

// recipe describes a model for tests.
type recipe struct {
	typ       Type
	scheme    solver.Scheme
	kernel    string
	embedding sparse.Embedding
	signed    bool
	words     bool // the corpus has a vocabulary
	sigmoids  bool
	classes   []string // default "a b c"; "empty" has no documents
}

func (r recipe) String() string {
	s := fmt.Sprintf("%s/%s/%s/%s", r.typ, r.scheme, r.kernel, r.embedding)
	if r.sigmoids {
		s += "/sigmoids"
	}
	if r.words {
		s += "/words"
	}
	return s
}

// train trains a model on 60 documents.
func (r recipe) train(t testing.TB) *Model {
	t.Helper()
	const n, dims = 60, 6
	docs := points(1, n, dims, r.signed)
	m := &Model{
		Origin: archive.Origin{Source: "a corpus <&>", Digest: [32]byte{1, 2, 0xff}, NumDocuments: n, Classes: r.classes},
		Type:   r.typ, Kernel: r.kernel, Embedder: r.embedding.Fit(docs),
		Parameters: map[string][]string{"c": {"3"}, "weight": {"a=1", "a\xff=2", "<b>=0.1"}},
	}
	if r.words {
		m.Vocabulary = []string{"", "be", "bé", "zü\xff", "c", "d", "e"}
		m.Tokenizer = corpus.Tokenizer{MinN: 1, MaxN: 2, Pattern: `\w"+,`, StopWords: "a \xff"}
		m.Form = corpus.FormatOptions{Extension: ".csv", Format: corpus.FormatCSV, TextColumn: `the "text"`,
			LabelSeparator: "|"}
	}
	x := musttest.Get(m.Embedder.Transform(docs))(t)
	var values []float32
	for _, row := range evaluate(t, r.kernel, x, x) {
		for _, v := range row {
			values = append(values, float32(v))
		}
	}
	for i := range n { // symmetric bit for bit
		for j := range i {
			values[i*n+j] = values[j*n+i]
		}
	}
	gram := musttest.Get(solver.NewDense(n, values))(t)
	labels, several, targets := make([]int, n), make([][]int, n), make([]float64, n)
	if r.typ.Classifies() && r.classes == nil {
		m.Classes = []string{"a", "b", "c"}
	}
	for i := range n {
		terms, row := docs.Row(i)
		var sum float64
		for k, c := range terms {
			sum += float64(row[k]) * float64(c)
		}
		labels[i], targets[i] = (int(sum/4)%3+3)%3%max(len(m.Classes), 1), sum/10
		several[i] = []int{labels[i]}
		if i%5 == 0 {
			several[i] = append(several[i], (labels[i]+1)%max(len(m.Classes), 1))
		}
		if slices.Contains(m.Classes, "empty") { // the second class
			labels[i] = labels[i] / 2 * 2
		}
	}
	training := solver.Training{
		Classes: len(m.Classes), Scheme: r.scheme,
		Parameters: solver.Parameters{Regularization: solver.Regularization{C: 3}, Probabilities: r.sigmoids},
	}
	switch {
	case !r.typ.Classifies() && r.typ != OneClass:
		training.Targets = targets
	case r.typ.Classifies() && r.scheme == solver.MultiLabel:
		training.LabelSets = several
	default:
		training.Labels, training.OneClass = labels, r.typ == OneClass
	}
	switch r.typ {
	case NuSVC, OneClass, NuSVR:
		training.Nu = 0.3
	case EpsilonSVR:
		training.Epsilon = 0.05
	}
	c := musttest.Get(solver.Train(ctx, gram, training, solver.Options{}))(t)
	rows := c.Support()
	m.Classifier, m.Support = *c, docs.SelectRows(rows)
	m.Classifier.AtLeastOneLabel = r.typ.Classifies() && r.scheme == solver.MultiLabel
	place := map[int]int{}
	for s, row := range rows {
		place[row] = s
		class := int32(-1)
		if r.typ.Classifies() && (r.scheme != solver.MultiLabel || len(several[row]) == 1) {
			class = int32(labels[row])
		}
		m.SupportDocs, m.SupportClasses = append(m.SupportDocs, int64(row)), append(m.SupportClasses, class)
	}
	for i, machine := range c.Functions {
		if machine != nil {
			own := solver.DecisionFunction{
				Coef: machine.Coef, Rho: machine.Rho, Objective: machine.Objective, Iterations: machine.Iterations,
				Gap:       machine.Gap,
				Converged: machine.Converged, Bounded: machine.Bounded, Sigmoid: machine.Sigmoid,
			}
			for _, row := range machine.Support {
				own.Support = append(own.Support, place[row])
			}
			m.Classifier.Functions[i] = &own
		}
	}
	return m
}

// decision is a decision value, and the sum of the absolute values of its summands.
type decision struct{ value, scale float64 }

// decisions returns the decision values of all binary classifiers for test documents, summed in
// float64.
func decisions(t testing.TB, m *Model, docs *sparse.CSR) [][]decision {
	t.Helper()
	x := musttest.Get(m.Embedder.Transform(docs))(t)
	y := musttest.Get(m.Embedder.Transform(m.Support))(t)
	return decide(m, evaluate(t, m.Kernel, x, y))
}

// decide returns the decision values for kernel values with the support vectors.
func decide(m *Model, values [][]float64) [][]decision {
	out := make([][]decision, len(values))
	for i, row := range values {
		for _, machine := range m.Classifier.Functions {
			var d decision
			if machine != nil {
				for k, s := range machine.Support {
					d.value += machine.Coef[k] * row[s]
					d.scale += math.Abs(machine.Coef[k] * row[s])
				}
				d.value -= machine.Rho
				d.scale += math.Abs(machine.Rho)
			}
			out[i] = append(out[i], d)
		}
	}
	return out
}

// plain returns the values without scales.
func plain(row []decision) []float64 {
	values := make([]float64, len(row))
	for i, d := range row {
		values[i] = d.value
	}
	return values
}

func encode(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	musttest.NoError(t, m.Write(ctx, &b))
	return b.Bytes()
}
