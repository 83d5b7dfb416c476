package svm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Kernel values come from a GPU where there is one. What is on the device belongs to the problem and
// to the predictor, and is given back before the device is.
func ExampleOptions_device() {
	ctx := context.Background()
	c, err := corpus.Read(ctx, "synthetic:docs=400,terms=1000,length=30,classes=3,seed=1", corpus.Options{})
	if err != nil {
		log.Fatal(err)
	}
	var opt svm.Options
	// otherwise the error says why there is none, and the processor computes
	if gpu, err := cuda.Open(cuda.Options{MemoryBytes: 1 << 30}); err == nil {
		defer gpu.Close()
		opt.Device = func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) { return gpu.Load(ctx, x) }
	}
	kernel := kernel.MustParse("diffusion:t=0.5")
	problem, err := svm.NewProblem(ctx, c, kernel.Embedding(), opt)
	if err != nil {
		log.Fatal(err)
	}
	defer problem.Engine().Close()
	settings := svm.Settings{Kernel: kernel, Scheme: solver.OneVsRest, C: 10}
	model, report, err := problem.Train(ctx, settings)
	if err != nil {
		log.Fatal(err)
	}

	predictor, err := svm.NewPredictor(ctx, model, svm.PredictOptions{Device: opt.Device})
	if err != nil {
		log.Fatal(err)
	}
	defer predictor.Close()
	prediction, err := predictor.Predict(ctx, c.Documents)
	if err != nil {
		log.Fatal(err)
	}
	score, err := svm.ScoreModel(model, prediction, c)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Machines, "machines,", score.Right, "of", score.Documents, "documents")
	// Output:
	// 3 machines, 400 of 400 documents
}
