package svm_test

import (
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.FromTexts(t.Context(), []string{"a b b", "b c d d", "a a", "c d", "a b", "d d e"},
		[]string{"x", "y", "x", "y", "x", "y"}, sparse.Options{MinDF: 1}))
	labels, numbers := *c, *c
	numbers.Classes = []string{"1", "2"}
	labels.Labels = sparse.Labels{Offsets: []int64{0, 1, 2, 3, 4, 5, 6}, IDs: []int32{0, 1, 0, 1, 0, 1}}
	problem := doortest.Must(svm.NewProblem(t.Context(), c, sparse.Sphere, svm.Options{Workers: 1}))
	m, _, err := problem.Train(t.Context(), svm.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	straight := doortest.Must(svm.NewProblem(t.Context(), c, kernel.MustParse("linear:embed=tfidf-l2").Embedding(),
		svm.Options{}))
	lines, _, err := straight.Train(t.Context(), svm.Settings{Kernel: kernel.MustParse("linear:embed=tfidf-l2")})
	if err != nil {
		t.Fatal(err)
	}
	each := make([]int, m.Support.Rows())
	for s, d := range m.SupportDoc {
		each[s] = int(d)
	}
	predictor := func() *svm.Predictor { return doortest.Must(svm.NewPredictor(m, svm.PredictOptions{})) }
	prediction := doortest.Must(predictor().Predict(t.Context(), c.Documents))
	grid := svm.Grid{C: []float64{1, 10}, Folds: 2}
	terms := func(int, sparse.Embedding) (int, error) { return c.Documents.Cols, nil }
	of := func(int, sparse.Embedding) (*svm.Problem, error) { return problem, nil }
	tasks := doortest.Must(svm.NewSearchTasks(svm.Settings{}, grid, terms))
	outcome := func(task int) (*svm.SearchOutcome, error) { return tasks.Do(t.Context(), problem, task) }
	found := doortest.Must(problem.Search(t.Context(), svm.Settings{}, grid, nil))
	machines := doortest.Must(problem.TrainMachines(t.Context(), svm.Settings{}, []int{0}))
	values := doortest.Must(sparse.FromDense(4, 4, []float32{2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 2, 1, 0, 0, 1, 2}))
	square := &sparse.Corpus{Documents: values, Classes: []string{"x", "y"},
		Labels: sparse.Labels{Offsets: []int64{0, 1, 2, 3, 4}, IDs: []int32{0, 0, 1, 1}}}
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, sparse.Sphere, problem, m, predictor, prediction, grid, tasks, found,
			doortest.As[kernel.Kernel](kernel.MustParse("diffusion:t=1")), svm.Accuracy},
		Bad: []any{doortest.As[kernel.Kernel](kernel.MustParse("linear")),
			doortest.As[kernel.Kernel](kernel.Precomputed())},
		Calls: [][]any{
			{svm.LeastBytes}, {svm.Choose, c, svm.Settings{}, svm.Candidates{C: []float64{1, 10}}}, {svm.NewPredictor},
			{svm.NewPredictorContext}, {svm.NewPrecomputed, square}, {svm.NewProblem},
			{svm.ScoreClasses, []string{"x", "y"}, []int{0, 1, 0, 1, 0, 1}, c},
			{svm.ScoreLabels, []string{"x", "y"}, [][]int{{0}, {1}, {0}, {1}, {0}, {1}}, &labels},
			{svm.ScoreProbabilities, []string{"x", "y"}, [][]float64{{1, 0}, {0.5, 0.5}, nil, nil, nil, nil}, false, c},
			{svm.ScoreModel}, {svm.ScoreValues, []float64{1, 2, 3, 4, 5, 6}, &numbers},
			{svm.SearchProblems, svm.Settings{}, grid, of},
			{svm.NewSearchTasks, svm.Settings{}, grid, terms}, {svm.Calibrates, c, solver.OneVsOne},
			{"Problem.CrossValidate", svm.Settings{}, 2},
			{"Problem.TrainMachines", svm.Settings{}, []int{0}},
			{"Problem.Update", svm.Settings{}, m, each}, {"SearchTasks.Do", problem, 0},
			{"Problem.Assemble", svm.Settings{}, []*solver.Classifier{machines}},
			{"SearchTasks.Assemble", of, outcome}, {"SearchTasks.Needs", 0},
			{"Predictor.PredictTexts", []string{"a b", "c"}}, {svm.Linear},
			{svm.WeightsOf, lines, kernel.MustParse("linear:embed=tfidf-l2")},
		},
	})
}
