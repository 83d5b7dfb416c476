package svm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn/svm"
)

// Which t and which C? Every dot product is computed once for all six combinations and five folds.
func ExampleProblem_Search() {
	ctx := context.Background()
	c, err := corpus.Read(ctx, "synthetic:docs=300,terms=500,length=60,classes=3", corpus.Options{})
	if err != nil {
		log.Fatal(err)
	}
	grid := svm.Grid{C: []float64{1, 10}, Seed: 1}
	for _, t := range []string{"0.1", "0.5", "1"} {
		grid.Kernels = append(grid.Kernels, kernel.MustParse("diffusion:t="+t))
	}
	problem, err := svm.NewProblem(ctx, c, grid.Kernels[0].Embedding(), svm.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := problem.Search(ctx, svm.Settings{}, grid, nil)
	if err != nil {
		log.Fatal(err)
	}
	best := result.Points[result.Best]
	fmt.Printf("%d points, %d fits, %d dot products\n", len(result.Points), result.Fits(), result.DotProducts)
	fmt.Println("above 80 %:", best.Mean > 0.8)

	model, _, err := problem.Train(ctx, svm.Settings{Kernel: best.Kernel, C: best.C}) // nothing is computed again
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("trained on", model.Documents, "documents,", problem.Cache().Computed, "dot products in all")
	// Output:
	// 6 points, 30 fits, 45150 dot products
	// above 80 %: true
	// trained on 300 documents, 45150 dot products in all
}

func ExampleProblem_CrossValidate() {
	ctx := context.Background()
	c, err := corpus.Read(ctx, "synthetic:docs=300,terms=500,length=60,classes=3", corpus.Options{})
	if err != nil {
		log.Fatal(err)
	}
	kernel := kernel.MustParse("diffusion:t=0.5")
	problem, err := svm.NewProblem(ctx, c, kernel.Embedding(), svm.Options{})
	if err != nil {
		log.Fatal(err)
	}
	v, err := problem.CrossValidate(ctx, svm.Settings{Kernel: kernel, C: 10}, 5, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(v.Figures), "folds,", v.Score.Documents, "documents, above 80 %:", v.Mean > 0.8)
	// Output: 5 folds, 300 documents, above 80 %: true
}
