package gram_test

import (
	"context"
	"fmt"

	"github.com/gramengine/gram"
)

// How good a training is, by cross-validation.
func ExampleCrossValidate() {
	ctx := context.Background()
	c := gram.Must(gram.Read(ctx, "synthetic:docs=200,terms=500,classes=2", gram.ReadOptions{}))
	v := gram.Must(gram.CrossValidate(ctx, c, gram.ValidateOptions{
		TrainOptions: gram.TrainOptions{Kernel: "linear", C: 10}, Folds: 4,
	}))
	fmt.Printf("accuracy %.2f ± %.2f of %d folds\n", v.Mean, v.SD, len(v.Figures))
	// Output: accuracy 1.00 ± 0.00 of 4 folds
}

// The best of a list of C, and a model of it.
func ExampleSearch() {
	ctx := context.Background()
	c := gram.Must(gram.Read(ctx, "synthetic:docs=200,terms=500,classes=2", gram.ReadOptions{}))
	r := gram.Must(gram.Search(ctx, c, gram.SearchOptions{
		TrainOptions: gram.TrainOptions{Kernel: "diffusion"},
		Grid:         map[string][]string{"C": {"0.1", "1", "10"}, "t": {"0.5", "2"}},
	}))
	best := r.Points[r.Best]
	fmt.Printf("%s, C = %v: %s %.2f\n", best.Options.Kernel, best.Options.C, r.Measure, best.Mean)
	m := gram.Must(gram.Train(ctx, c, r.Train))
	fmt.Println(m.About().Classes)
	// Output:
	// diffusion:t=0.5, C = 0.1: accuracy 1.00
	// [class1 class2]
}
