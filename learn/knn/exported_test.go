package knn_test

import (
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/knn"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	m := doortest.Must(knn.Train(c, knn.Settings{}))
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, m},
		Calls: [][]any{
			{knn.Train},
			{knn.CrossValidate, c, []knn.Settings{{}}, []int{0, 0, 1, 1, 0, 1}},
		},
	})
}
