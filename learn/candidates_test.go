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
	seen := map[string]bool{}
	for _, k := range got.Kernels[:len(chosenHistograms)+len(chosenVectors)] {
		seen[k.Embedding().String()] = true
	}
	if len(seen) != len(chosenHistograms)+len(chosenVectors) {
		t.Errorf("the first kernels are %v", got.Kernels[:5])
	}
}
