package spectrum_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine/spectrum"
)

// Eigenvalues of a Gram matrix of three documents, and of the centred matrix, which has an
// eigenvalue 0. engine.Symmetric implements mat.Symmetric.
func ExampleEigenvalues() {
	ctx := context.Background()
	k := mat.NewSymDense(3, []float64{
		1, 0.5, 0,
		0.5, 1, 0.5,
		0, 0.5, 1,
	})
	values, err := spectrum.Eigenvalues(ctx, k, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", values)
	if values, err = spectrum.Eigenvalues(ctx, spectrum.Centre(k), 1); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", values[:2]) // the third is 0, up to rounding of either sign
	// Output:
	// [1.7071 1.0000 0.2929]
	// [1.0000 0.3333]
}
