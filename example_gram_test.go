package gram_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gramengine/gram"
)

// A Gram matrix of counts that the program has, as a mat.Symmetric.
func ExampleGram() {
	rows := gram.NewRows(4)
	rows.Add([]uint32{0, 1}, []float64{2, 2})
	rows.Add([]uint32{0, 1}, []float64{1, 1})
	rows.Add([]uint32{2, 3}, []float64{5, 1})
	k, err := gram.Gram(context.Background(), rows.Corpus(), "bhattacharyya", gram.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(k.At(0, 1), k.At(0, 2))
	// Output: 1 0
}
