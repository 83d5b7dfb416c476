package gram_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

// Errors that a program may want to tell apart.
func Example_errors() {
	texts, all := []string{"red green", "red blue", "salt sugar"}, []string{"all", "all", "all"}
	report := func(err error) {
		var memory *corpus.MemoryError
		switch {
		case errors.As(err, &memory):
			fmt.Println("needs more than", memory.Limit, "bytes")
		case errors.Is(err, context.Canceled):
			fmt.Println("cancelled")
		default:
			fmt.Println(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := gram.Must(gram.Texts(ctx, texts, all, gram.ReadOptions{MinDF: 1}))
	_, err := gram.Gram(ctx, c, "", gram.Options{MemoryBytes: 1000})
	report(err)
	_, err = gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 1})
	report(err)
	cancel()
	_, err = gram.Gram(ctx, c, "", gram.Options{})
	report(err)
	// Output:
	// needs more than 1000 bytes
	// gram: the documents are of 1 class, expected two or more
	// cancelled
}
