package svm_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Train a model on documents and let it say what others are. Training documents are embedded as the
// kernel wants them; those to be predicted are read with the model's vocabulary, so that their
// terms have the same numbers.
func Example() {
	ctx := context.Background()
	c, err := corpus.Read(ctx, "synthetic:docs=400,terms=1000,length=30,classes=3,seed=1", corpus.Options{})
	if err != nil {
		log.Fatal(err)
	}
	kernel := kernel.MustParse("diffusion:t=0.5")
	problem, err := svm.NewProblem(ctx, c, kernel.Embedding(), svm.Options{MemoryBytes: 256 << 20})
	if err != nil {
		log.Fatal(err)
	}
	model, report, err := problem.Train(ctx, svm.Settings{Kernel: kernel, C: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Machines, "machines,", report.Unfinished, "unfinished")

	predictor, err := svm.NewPredictor(ctx, model, svm.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	prediction, err := predictor.Predict(ctx, c.Documents)
	if err != nil {
		log.Fatal(err)
	}
	score, err := svm.ScoreModel(model, prediction, c)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d of %d documents\n", score.Right, score.Documents)
	// Output:
	// 3 machines, 0 unfinished
	// 400 of 400 documents
}

// A Gram matrix that was computed elsewhere: here of points on a line, by the Gaussian kernel.
func ExampleNewPrecomputed() {
	ctx := context.Background()
	k := func(x, y float64) float32 { return float32(math.Exp(-(x - y) * (x - y))) }
	train, test := []float64{0, 1, 5, 6}, []float64{0.4, 5.7}
	var square, cross []float32
	for _, x := range train {
		for _, y := range train {
			square = append(square, k(x, y))
		}
	}
	for _, x := range test { // a row for each, a column for each training point
		for _, y := range train {
			cross = append(cross, k(x, y))
		}
	}
	matrix := &corpus.Corpus{Source: "points", Classes: []string{"left", "right"}}
	for _, class := range []int32{0, 0, 1, 1} {
		matrix.Labels.Add(class)
	}
	var err error
	if matrix.Documents, err = sparse.FromDense(len(train), len(train), square); err != nil {
		log.Fatal(err)
	}
	problem, err := svm.NewPrecomputed(ctx, matrix, svm.Options{})
	if err != nil {
		log.Fatal(err)
	}
	model, _, err := problem.Train(ctx, svm.Settings{C: 10})
	if err != nil {
		log.Fatal(err)
	}
	predictor, err := svm.NewPredictor(ctx, model, svm.PredictOptions{})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := sparse.FromDense(len(test), len(train), cross)
	if err != nil {
		log.Fatal(err)
	}
	prediction, err := predictor.Predict(ctx, rows)
	if err != nil {
		log.Fatal(err)
	}
	for i, class := range prediction.Class {
		fmt.Println(test[i], model.Classes[class])
	}
	// Output:
	// 0.4 left
	// 5.7 right
}
