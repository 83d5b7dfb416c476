package linear_test

import (
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/linear"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	e := doortest.Must(sparse.ParseEmbedding("tf-l2"))
	m := doortest.Must(linear.Train(t.Context(), c, e, linear.Settings{}, linear.Options{}))
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, e, m},
		Calls: [][]any{
			{linear.Train}, {linear.TrainPath},
		},
	})
}
