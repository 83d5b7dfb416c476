package lmnn

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

// No group has documents in both the training and the validation set.
func TestDividedByGroups(t *testing.T) {
	c := &corpus.Corpus{Documents: &sparse.CSR{Offsets: make([]int64, 91)}, Classes: []string{"a", "b"}}
	for i := range 90 {
		c.Labels.Add(int32(i % 2))
		c.Groups = append(c.Groups, int64(i%30))
	}
	fit, held := splitDocuments(c, 1)
	for _, i := range held {
		if slices.ContainsFunc(fit, func(j int) bool { return c.Groups[i] == c.Groups[j] }) {
			t.Fatalf("documents of group %d are in both parts", c.Groups[i])
		}
	}
	if len(held) != 15 || len(fit) != 75 {
		t.Errorf("%d and %d documents, expected 75 and 15", len(fit), len(held))
	}
}
