package learn

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// All kernels and embeddings with the first t come before any kernel with the next t.
func TestCandidatesInTurn(t *testing.T) {
	none := &sparse.CSR{Offsets: []int64{0}}
	c := &corpus.Corpus{Classes: make([]string, 3), Vocabulary: []string{}, Documents: none}
	got, err := (&Constraints{}).Candidates(c, svm.Settings{Scheme: solver.OneVsOne})
	if err != nil || len(got.Kernels) != len(histogramEmbeddings)*len(candidateScales[0].Values)+len(vectorEmbeddings) {
		t.Fatalf("%v, %v", got.Kernels, err)
	}
	const first = "diffusion:t=2,embed=tfkl-l1-sqrt"
	if n := len(got.SupervisedKernels); n != len(candidateScales[0].Values) || got.SupervisedKernels[0].String() != first {
		t.Errorf("kernels that learn from labels are %v", got.SupervisedKernels)
	}
	seen := map[string]bool{}
	for _, k := range got.Kernels[:len(histogramEmbeddings)+len(vectorEmbeddings)] {
		seen[k.Embedding().String()] = true
	}
	if len(seen) != len(histogramEmbeddings)+len(vectorEmbeddings) {
		t.Errorf("the first kernels are %v", got.Kernels[:5])
	}
}

// Supervised embeddings are tried with a requested kernel on the sphere that has an unset
// parameter. They aren't tried for independent labels, numbers among the terms, vectors, or a fixed
// embedding.
func TestCandidatesSupervised(t *testing.T) {
	text := func() *corpus.Corpus {
		return &corpus.Corpus{Classes: make([]string, 3), Vocabulary: []string{}, Documents: &sparse.CSR{Offsets: []int64{0}}}
	}
	numbers, vectors := text(), text()
	numbers.Tokenizer.Views = "a=words + b=numbers"
	vectors.Vocabulary = nil
	for what, of := range map[string]struct {
		given  Constraints
		corpus *corpus.Corpus
		scheme solver.Scheme
		want   string
	}{
		"nothing":          {Constraints{}, text(), solver.OneVsRest, "diffusion:t=2,embed=tfkl-l1-sqrt"},
		"a name":           {Constraints{Kernel: "ngd-exp"}, text(), solver.OneVsRest, "ngd-exp:t=2,embed=tfkl-l1-sqrt"},
		"one without t":    {Constraints{Kernel: "bhattacharyya"}, text(), solver.OneVsRest, ""},
		"linear":           {Constraints{Kernel: "linear"}, text(), solver.OneVsRest, ""},
		"rbf":              {Constraints{Kernel: "rbf"}, text(), solver.OneVsRest, ""},
		"parameters":       {Constraints{Kernel: "diffusion:t=1"}, text(), solver.OneVsRest, ""},
		"an embedding":     {Constraints{Embeddings: []string{"tf-l1-sqrt"}}, text(), solver.OneVsRest, ""},
		"several labels":   {Constraints{}, text(), solver.MultiLabel, ""},
		"columns, numbers": {Constraints{}, numbers, solver.OneVsRest, ""},
		"vectors":          {Constraints{}, vectors, solver.OneVsRest, ""},
	} {
		got, err := of.given.Candidates(of.corpus, svm.Settings{Scheme: of.scheme})
		first := ""
		if len(got.SupervisedKernels) > 0 {
			first = got.SupervisedKernels[0].String()
		}
		if err != nil || first != of.want {
			t.Errorf("%s: %q, %v, expected %q", what, first, err, of.want)
		}
	}
}

// In regression, unit, C and epsilon scale with the targets and ignore outliers.
func TestCandidatesOfRegression(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	normal := musttest.MakeSlice(1000, func(i int) float64 { return 50 + 20*r.NormFloat64() })
	far := slices.Clone(normal)
	for i := range 100 {
		far[10*i] = 1e9
	}
	same := make([]float64, 1000)
	same[0], same[1] = 1, -1
	for name, of := range map[string]struct {
		targets []float64
		unit    float64
	}{
		"normal": {normal, 20}, "some far away": {far, 20}, "mostly the same": {same, 0.04}, "all the same": {same[2:], 1},
		"none": {nil, 1}, "infinite": {[]float64{-1e308, 1e308, -1e308, 1e308}, 1e308},
	} {
		c := &corpus.Corpus{Vocabulary: []string{}, Documents: &sparse.CSR{Offsets: make([]int64, len(of.targets)+1)},
			Labels: sparse.Labels{Offsets: []int64{0}}}
		for i, v := range of.targets {
			c.Classes = append(c.Classes, strconv.FormatFloat(v, 'g', -1, 64))
			c.Labels.IDs, c.Labels.Offsets = append(c.Labels.IDs, int32(i)), append(c.Labels.Offsets, int64(i+1))
		}
		got, err := (&Constraints{}).Candidates(c, svm.Settings{Type: model.EpsilonSVR})
		if err != nil || got.ParameterUnit != of.unit || got.C[0] != of.unit ||
			got.Epsilons[0] != run.RoundSignificant(of.unit/10, 12) ||
			got.SupervisedKernels != nil || len(got.Schemes) != 1 {
			t.Errorf("%s: %+v, %v, expected the unit %v", name, got, err, of.unit)
		}
		fixed := &Constraints{Regularization: solver.Regularization{C: 3, Epsilon: 5}}
		given, err := fixed.Candidates(c, svm.Settings{Type: model.EpsilonSVR, Epsilon: 5})
		if err != nil || len(given.C) != 1 || given.C[0] != 3 || !slices.Equal(given.Epsilons, []float64{5}) {
			t.Errorf("%s: C and epsilon that are given are %v and %v, %v", name, given.C, given.Epsilons, err)
		}
	}
}

// Vectors with many columns of sparse nonnegative fractions get a text kernel, unless most values
// are in columns that most rows have. Other vectors that aren't counts get a kernel for
// measurements.
func TestVectorsOf(t *testing.T) {
	vectors := func(columns, perRow, common int, value func(i int) float32) *corpus.Corpus {
		random, m := rand.New(rand.NewPCG(1, 2)), &sparse.CSR{Cols: columns, Offsets: []int64{0}}
		for range 50 {
			row := random.Perm(columns - common)[:perRow-common]
			for k := range row {
				row[k] += common
			}
			for k := range common {
				row = append(row, k)
			}
			slices.Sort(row)
			for _, j := range row {
				m.Terms, m.Values = append(m.Terms, uint32(j)), append(m.Values, value(len(m.Terms)))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		return &corpus.Corpus{Documents: m}
	}
	fraction := func(i int) float32 { return 0.01 * float32(1+i%37) }
	words := vectors(500, 8, 1, fraction)
	words.Vocabulary = make([]string, 500)
	for _, q := range []struct {
		what   string
		corpus *corpus.Corpus
		kernel string // "" for none
		why    string
	}{
		{"tf-idf", vectors(500, 8, 1, fraction), WeightsKernel, "non-negative fractions in "},
		{"counts", vectors(500, 8, 1, func(i int) float32 { return float32(1 + i%3) }), "", ""},
		{"text", words, "", ""},
		{"narrow", vectors(60, 4, 0, fraction), VectorKernel, "fractions are not term counts"},
		{"dense", vectors(200, 40, 0, fraction), VectorKernel, "fractions are not term counts"},
		{"measurements and indicators", vectors(500, 8, 5, fraction), VectorKernel, "fractions are not term counts"},
		{"negative", vectors(500, 8, 0, func(i int) float32 { return fraction(i) - 0.1 }), VectorKernel, ReasonNegative},
	} {
		v := VectorDefaultsOf(q.corpus)
		if got := v != nil; got != (q.kernel != "") || got && (v.Kernel != q.kernel || !strings.HasPrefix(v.Reason, q.why)) {
			t.Errorf("%s: %+v, expected kernel %q, because %q", q.what, v, q.kernel, q.why)
		}
	}
}
