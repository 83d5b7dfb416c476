package svm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// Train a model on documents and let it say what others are. Training documents are embedded as the
// kernel wants them; those to be predicted are read with the model's vocabulary, so that their
// terms have the same numbers.
func Example() {
	ctx := context.Background()
	corpus, err := sparse.Read(ctx, "synthetic:docs=400,terms=1000,length=30,classes=3,seed=1", sparse.Options{})
	if err != nil {
		log.Fatal(err)
	}
	kernel := engine.MustParseKernel("diffusion:t=0.5")
	problem, err := svm.NewProblem(ctx, corpus, kernel.Embedding(), svm.Options{MemoryBytes: 256 << 20})
	if err != nil {
		log.Fatal(err)
	}
	model, report, err := problem.Train(ctx, svm.Settings{Kernel: kernel, C: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Machines, "machines,", report.Unfinished, "unfinished")

	predictor, err := svm.NewPredictor(model, svm.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	prediction, err := predictor.Predict(ctx, corpus.Documents)
	if err != nil {
		log.Fatal(err)
	}
	score, err := prediction.Score(model, corpus)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d documents\n", score.Right, score.Documents)
	// Output:
	// 3 machines, 0 unfinished
	// 400 of 400 documents
}

// Predictions say more than a class: the decision values of all machines, and, where they were
// asked for at training, probabilities.
func ExamplePredictor_Predict() {
	ctx := context.Background()
	corpus, err := sparse.Read(ctx, "synthetic:docs=200,terms=500,length=30,classes=2,seed=2", sparse.Options{})
	if err != nil {
		log.Fatal(err)
	}
	kernel := engine.MustParseKernel("linear:embed=tfidf-l2")
	problem, err := svm.NewProblem(ctx, corpus, kernel.Embedding(), svm.Options{})
	if err != nil {
		log.Fatal(err)
	}
	model, _, err := problem.Train(ctx, svm.Settings{Kernel: kernel, C: 1, Probabilities: true})
	if err != nil {
		log.Fatal(err)
	}
	predictor, err := svm.NewPredictor(model, svm.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	prediction, err := predictor.Predict(ctx, corpus.Documents.SelectRows([]int{0}))
	if err != nil {
		log.Fatal(err)
	}
	own := corpus.Labels.Of(0)[0]
	fmt.Println(
		model.Classes[prediction.Class[0]] == corpus.Classes[own], prediction.Decisions[0][0] > 0,
		prediction.Probabilities[0][own] > 0.9,
	)
	// Output: true true true
}
