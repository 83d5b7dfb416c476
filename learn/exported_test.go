package learn_test

import (
	"io"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	c := doortest.Must(sparse.Read(t.Context(), "synthetic:docs=12,terms=6,length=4,classes=2", sparse.Options{}))
	train := func(spec string) learn.Model {
		_, trainer, err := learn.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		return doortest.Must(trainer.Train(t.Context(), c, learn.Options{}))
	}
	m := train("linear")
	text := doortest.Written(t, m.Write)
	file := doortest.File(t, "model", text)
	reader := func() *strings.Reader { return strings.NewReader(text) }
	learner, trainer, err := learn.Parse("linear")
	if err != nil {
		t.Fatal(err)
	}
	prediction := doortest.Must(m.Predict(t.Context(), c.Documents, learn.Options{}))
	about := m.About()
	logistic := train("logistic")
	probable := doortest.Must(logistic.Predict(t.Context(), c.Documents, learn.Options{}))
	novelty := func() *learn.Novelty {
		return doortest.Must(learn.NewNovelty(t.Context(), m, nil, c.Documents, learn.Options{}))
	}
	texts := doortest.Must(sparse.FromTexts(t.Context(), []string{"red green", "salt"}, []string{"a", "b"},
		sparse.Options{MinDF: 1}))
	words := doortest.Must(trainer.Train(t.Context(), texts, learn.Options{}))
	problem := doortest.Must(svm.NewProblem(t.Context(), c, sparse.Sphere, svm.Options{}))
	machines, _, err := problem.Train(t.Context(), svm.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var point svm.Point
	point.Kernel = kernel.MustParse("linear")
	prices := []learn.Words{{Name: "C", Values: []string{"1", "2"}}}
	grid := doortest.Must(learn.NewGrid("linear", prices, learn.Options{}))
	doortest.Run(t, doortest.Package{
		Good: []any{c, c.Documents, doortest.As[learn.Model](m), doortest.As[learn.Trainer](trainer), learner, prediction,
			about, novelty, problem, machines, learn.Machines{Model: machines}, logistic, learn.Words{},
			doortest.As[kernel.Kernel](kernel.MustParse("diffusion:t=1")), &learn.Ended{}, &learn.Given{},
			&learn.Lines{P: prediction, Of: about}, &learn.Options{}, learn.Point{Trainer: trainer}},
		Bad: []any{doortest.As[learn.Model](learn.Machines{}), doortest.As[learn.Model](train("knn"))},
		Calls: [][]any{
			{learn.DefaultTerms}, {learn.TextsToKeep}, {learn.Chooses, model.CSVC},
			{learn.VectorEmbedding}, {learn.Near}, {learn.Explain, m, 3}, {learn.ExplainDocument, m, c.Documents, 0, 3},
			{learn.ExplainText, words, "red green", 3},
			{learn.RowsOf, m, prediction, c}, {learn.Evaluate, m, prediction, c},
			{learn.WriteRows, io.Discard, "csv"}, {learn.NewNovelty, m, nil, c.Documents},
			{"Novelty.Add", prediction, c.Documents}, {"About.Known", []uint32{0, 1}},
			{learn.NewGrid, "linear", prices}, {learn.Names},
			{learn.Has}, {learn.Parse, "linear"}, {learn.Of}, {learn.Help}, {learn.MostProbable, probable}, {learn.Ready},
			{learn.Update, trainer, c, learn.Options{}, m}, {learn.TermsOf, m}, {learn.WeightsOf, m},
			{learn.ParseTerms, "words:1..2, min-df 2"}, {"Options.Inherit", m},
			{learn.Enough, nil}, {learn.Left}, {learn.Load, file}, {learn.Read, reader}, {learn.MeasureOf},
			{learn.ValidationOf, model.CSVC, point, svm.Accuracy},
			{"Options.SetScheme", nil, "labels"},
			{"About.Margin", m, prediction, 0}, {learn.CrossValidate, c, trainer, learn.Options{}, 2}, {learn.Search, c, grid},
			{learn.LearningCurve, c, trainer, learn.Options{}, 2},
		},
		Elsewhere: map[string]string{"Given.Candidates": "TestCandidatesInTurn", // it parses all kernels each time
			"Terms.Cut": "TestSearchTerms", "Found.Train": "TestSearchTerms", "Found.Worths": "TestSearchTerms"},
	})
}
