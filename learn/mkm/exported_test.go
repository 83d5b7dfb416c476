package mkm

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	settings := Settings{Layers: []string{"arccos:n=0"}, Widths: []int{4}, Components: 3, Final: Neighbours, K: 1}
	var state *State
	m := doortest.Must(Train(t.Context(), c, settings, Options{
		Save: func(s *State) error { state = s; return nil }}))
	text := doortest.Written(t, m.Write)
	file := doortest.File(t, "model", text)
	reader := func() *strings.Reader { return strings.NewReader(text) }
	progress := doortest.Written(t, state.Write)
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, m, settings, state, m.Layers[0]},
		Calls: [][]any{
			{Load, file, nil}, {Read, reader}, {Train}, {Path, c, settings, []Final{Neighbours}, 0},
			{PredictAll}, {ReadState, func() *strings.Reader { return strings.NewReader(progress) }},
		},
	})
}
