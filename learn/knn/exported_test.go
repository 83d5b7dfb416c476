package knn_test

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/knn"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	m := doortest.Must(knn.Train(c, knn.Settings{}))
	text := doortest.Written(t, m.Write)
	file := doortest.File(t, "model", text)
	reader := func() *strings.Reader { return strings.NewReader(text) }
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, m},
		Calls: [][]any{
			{knn.Load, file, nil}, {knn.Read, reader}, {knn.Train},
			{knn.CrossValidate, c, []knn.Settings{{}}, []int{0, 0, 1, 1, 0, 1}},
		},
	})
}
