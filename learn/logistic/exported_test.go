package logistic_test

import (
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/logistic"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	e := doortest.Must(sparse.ParseEmbedding("tf-l2"))
	m := doortest.Must(logistic.Train(t.Context(), c, e, logistic.Settings{}, logistic.Options{}))
	x := doortest.Must(e.Fit(c.Documents).Transform(c.Documents))
	documents := doortest.Must(logistic.NewDocuments(x))
	all := []int{0, 1, 2, 3, 4, 5}
	problem := doortest.Must(documents.Problem(all))
	positive := []bool{true, false, true, false, true, false}
	machines := doortest.Must(problem.Train(t.Context(), positive, []float64{1}, logistic.Settings{}, logistic.Options{}))
	text := doortest.Written(t, m.Write)
	file := doortest.File(t, "model", text)
	reader := func() *strings.Reader { return strings.NewReader(text) }
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, e, m, x, documents, problem, machines[0]},
		Calls: [][]any{
			{logistic.Load, file, nil}, {logistic.Read, reader}, {logistic.Train}, {logistic.TrainPath},
			{logistic.NewDocuments}, {logistic.Choose, c, e, logistic.Settings{}, []float64{1}, 2},
			{"Documents.Problem", all}, {"Problem.Train", positive}, {"Machine.Decisions", documents, all},
		},
	})
}
