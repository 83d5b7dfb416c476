package learn

import (
	"testing"

	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Kernels come with all embeddings and their first t before those with the next one.
func TestCandidatesInTurn(t *testing.T) {
	none := &sparse.CSR{Offsets: []int64{0}}
	corpus := &sparse.Corpus{Classes: make([]string, 3), Vocabulary: []string{}, Documents: none}
	got, err := (&Given{}).Candidates(corpus, svm.Settings{Scheme: solver.OneVsOne})
	if err != nil || len(got.Kernels) != len(chosenHistograms)*len(chosenScales[0].Values)+len(chosenVectors) {
		t.Fatalf("%v, %v", got.Kernels, err)
	}
	const first = "diffusion:t=2,embed=tfkl-l1-sqrt"
	if n := len(got.Supervised); n != len(chosenScales[0].Values) || got.Supervised[0].String() != first {
		t.Errorf("kernels that learn from labels are %v", got.Supervised)
	}
	seen := map[string]bool{}
	for _, k := range got.Kernels[:len(chosenHistograms)+len(chosenVectors)] {
		seen[k.Embedding().String()] = true
	}
	if len(seen) != len(chosenHistograms)+len(chosenVectors) {
		t.Errorf("the first kernels are %v", got.Kernels[:5])
	}
}

// Weights from labels are tried with the kernel that is asked for, where it is one of the sphere and may vary; not for
// labels that come together, numbers among the terms, vectors, or a given embedding.
func TestCandidatesSupervised(t *testing.T) {
	text := func() *sparse.Corpus {
		return &sparse.Corpus{Classes: make([]string, 3), Vocabulary: []string{}, Documents: &sparse.CSR{Offsets: []int64{0}}}
	}
	numbers, vectors := text(), text()
	numbers.Tokenizer.Views = "a=words + b=numbers"
	vectors.Vocabulary = nil
	for what, of := range map[string]struct {
		given  Given
		corpus *sparse.Corpus
		scheme solver.Scheme
		want   string
	}{
		"nothing":          {Given{}, text(), solver.OneVsRest, "diffusion:t=2,embed=tfkl-l1-sqrt"},
		"a name":           {Given{Kernel: "ngd-exp"}, text(), solver.OneVsRest, "ngd-exp:t=2,embed=tfkl-l1-sqrt"},
		"one without t":    {Given{Kernel: "bhattacharyya"}, text(), solver.OneVsRest, ""},
		"linear":           {Given{Kernel: "linear"}, text(), solver.OneVsRest, ""},
		"rbf":              {Given{Kernel: "rbf"}, text(), solver.OneVsRest, ""},
		"parameters":       {Given{Kernel: "diffusion:t=1"}, text(), solver.OneVsRest, ""},
		"an embedding":     {Given{Embeddings: []string{"tf-l1-sqrt"}}, text(), solver.OneVsRest, ""},
		"several labels":   {Given{}, text(), solver.Labels, ""},
		"columns, numbers": {Given{}, numbers, solver.OneVsRest, ""},
		"vectors":          {Given{}, vectors, solver.OneVsRest, ""},
	} {
		got, err := of.given.Candidates(of.corpus, svm.Settings{Scheme: of.scheme})
		first := ""
		if len(got.Supervised) > 0 {
			first = got.Supervised[0].String()
		}
		if err != nil || first != of.want {
			t.Errorf("%s: %q, %v, expected %q", what, first, err, of.want)
		}
	}
}
