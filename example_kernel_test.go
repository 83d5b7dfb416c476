package gram_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// A kernel of the program's own, by which a model is trained, saved, loaded and used.
func ExampleOptions() {
	student := gram.Must(kernel.New(kernel.Custom{
		Name:      "student", // stands in models: it should say all parameters
		Embedding: sparse.Sphere,
		Eval:      func(c, _, _ float64) float64 { return 1 / (1 + 2*c) },
	}))
	own := gram.Options{Kernels: []kernel.Kernel{student}}

	ctx := context.Background()
	c := gram.Must(gram.Texts(ctx, []string{"a good film", "a good book", "a bad film", "a bad book"},
		[]string{"yes", "yes", "no", "no"}, gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "student", C: 10, Options: own}))
	var file bytes.Buffer
	if err := m.Write(ctx, &file); err != nil {
		fmt.Println(err)
	}
	loaded := gram.Must(gram.LoadFrom(ctx, &file)).With(own)
	fmt.Println(gram.Must(loaded.PredictTexts(ctx, []string{"good acting"})).Label(0))
	// Output: yes
}
