package gram_test

import (
	"context"
	"fmt"

	"github.com/gramengine/gram"
)

// More documents into a model, with its settings.
func ExampleTrain_update() {
	ctx := context.Background()
	old := gram.Must(gram.Read(ctx, "synthetic:docs=190,terms=500,classes=2", gram.ReadOptions{}))
	all := gram.Must(gram.Read(ctx, "synthetic:docs=200,terms=500,classes=2", gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, old, gram.TrainOptions{Kernel: "diffusion:t=2", C: 10}))
	m = gram.Must(gram.Train(ctx, all, gram.TrainOptions{Update: m})) // kernel, C and scheme of m
	fmt.Println(m.About().Kernel, m.About().C)
	// Output: diffusion:t=2 10
}
