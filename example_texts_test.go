package gram_test

import (
	"context"
	"fmt"

	"github.com/gramengine/gram"
)

// A support vector machine from texts in memory.
func ExampleTexts() {
	ctx, texts := context.Background(), []string{"a good film", "a good book", "a bad film", "a bad book"}
	c := gram.Must(gram.Texts(ctx, texts, []string{"yes", "yes", "no", "no"}, gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))
	p := gram.Must(m.PredictTexts(ctx, []string{"good acting"}))
	fmt.Println(p.Label(0), p.Known[0])
	// Output: yes 1
}
