package gram_test

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
)

// A Gram matrix of counts that the program has, as a mat.Symmetric, and its eigenvalues.
func ExampleGram() {
	rows := gram.NewRows(4)
	rows.Add([]uint32{0, 1}, []float64{2, 2})
	rows.Add([]uint32{0, 1}, []float64{1, 1})
	rows.Add([]uint32{2, 3}, []float64{5, 1})
	k := gram.Must(gram.Gram(context.Background(), rows.Corpus(), "bhattacharyya", gram.Options{}))
	fmt.Println(k.At(0, 1), k.At(0, 2))

	var eigen mat.EigenSym
	if eigen.Factorize(k, false) { // k is a mat.Symmetric
		fmt.Printf("%.3f\n", eigen.Values(nil))
	}
	// Output:
	// 1 0
	// [0.000 1.000 2.000]
}
