package landmark

import (
	"context"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	larger := doortest.Must(sparse.Read(t.Context(), "synthetic:docs=24,terms=9,length=5,classes=2", sparse.Options{}))
	settings := Settings{Landmarks: 3}
	var request *Request
	var state *State
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Train(ctx, c, settings, Options{
		Save: func(s *State) error { state = s; return nil },
		Progress: func(p run.Progress) {
			if strings.HasPrefix(p.Stage, "pass 2") {
				cancel()
			}
		},
	})
	if err == nil || state == nil {
		t.Fatalf("%v, expected a training that was interrupted", err)
	}
	m := doortest.Must(Train(t.Context(), c, settings, Options{
		Pass: func(ctx context.Context, q *Request, add func(int, *Sums) error) error {
			request = q
			passing := doortest.Must(NewPassing(ctx, c, settings, q, Options{}))
			defer passing.Close()
			return add(0, doortest.Must(passing.Block(ctx, 0)))
		}}))
	passing := func() *Passing {
		return doortest.Must(NewPassing(t.Context(), c, settings, request, Options{}))
	}
	sums := doortest.Must(passing().Block(t.Context(), 0))
	text := doortest.Written(t, m.Write)
	file := doortest.File(t, "model", text)
	reader := func() *strings.Reader { return strings.NewReader(text) }
	progress := doortest.Written(t, state.Write)
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, m, settings, request, state, passing, sums},
		Calls: [][]any{
			{Load, file, nil}, {Read, reader}, {Train}, {TrainPath}, {Update, c, settings, m, []int{0, 1, 2}},
			{Choose}, {Grow, larger, settings}, {NewPassing},
			{ReadState, func() *strings.Reader { return strings.NewReader(progress) }},
			{"Passing.Block", 0}, {"Request.Check", 0, sums},
		},
	})
}
