package linear_test

import (
	"strings"
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
	text := doortest.Written(t, m.Write)
	file := doortest.File(t, "model", text)
	reader := func() *strings.Reader { return strings.NewReader(text) }
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, e, m},
		Calls: [][]any{
			{linear.Load, file, nil}, {linear.Read, reader}, {linear.Train}, {linear.TrainPath},
		},
	})
}
