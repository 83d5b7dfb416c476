package engine_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// three returns the documents "wolf wolf moon", "wolf moon moon" and "moon river".
func three() *sparse.CSR {
	return &sparse.CSR{Cols: 3, Offsets: []int64{0, 2, 4, 6}, Terms: []uint32{0, 2, 0, 2, 0, 1}, Values: []float32{1,
		2, 2, 1, 1, 1}}
}

// gramOf returns the matrix of a kernel.
func gramOf(k kernel.Kernel, counts *sparse.CSR) *engine.Symmetric {
	documents, err := k.Embedding().Fit(counts).Transform(counts)
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(documents, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	gram, err := e.Gram(context.Background(), k)
	if err != nil {
		log.Fatal(err)
	}
	return gram
}

// A user-defined kernel: the generalised t-Student kernel 1/(1 + ‖a-b‖²) of points on the sphere, where ‖a-b‖² = 2c.
func Example_ownKernel() {
	student, err := kernel.New(kernel.Custom{
		Name:      "student",
		Embedding: sparse.Sphere,
		Eval:      func(c, _, _ float64) float64 { return 1 / (1 + 2*c) },
		Properties: kernel.Properties{Definite: kernel.Positive, Condition: "a mixture of Gaussians",
			NonNegative: true, PositiveDiagonal: true,
			Source: "Schoenberg, Trans. AMS 44 (1938)"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", mat.Formatted(gramOf(student, three())))
	fmt.Println(student, "is", kernel.PropertiesOf(student).Definite)
	// By hand: c = 1 - 2√2/3 of the first two, which share √(2/9) twice.
	fmt.Printf("%.4f\n", 1/(1+2*(1-2*math.Sqrt2/3)))
	// Output:
	// ⎡1.0000  0.8974  0.4580⎤
	// ⎢0.8974  1.0000  0.5419⎥
	// ⎣0.4580  0.5419  1.0000⎦
	// student is positive definite
	// 0.8974
}

// Kernels made of others: what is known of them follows from their parts, and what means the same is the same kernel.
func Example_combinedKernels() {
	for _, spec := range []string{"0.5*diffusion:t=0.5 + 0.5*linear:embed=tf-l1-sqrt", "exp(2*ngd)",
		"product(ngd-exp, bhattacharyya)", "bhattacharyya + -1*ngd-exp"} {
		k, err := kernel.Parse(spec)
		if err != nil {
			log.Fatal(err)
		}
		p := kernel.PropertiesOf(k)
		fmt.Printf("%v: %v, unrefuted %v\n", k, p.Definite, p.Unrefuted)
	}
	a, b := kernel.MustParse("arccos:n=1,layers=3"), kernel.MustParse("arccos:layers=3")
	fmt.Println(kernel.Equal(a, b))
	_, err := kernel.Parse("diffusion:t=0")
	fmt.Println(err)
	// Output:
	// 0.5*diffusion:t=0.5 + 0.5*linear: not proven, unrefuted true
	// exp(2*ngd:shift=0): positive definite, unrefuted false
	// product(ngd-exp:t=1,bhattacharyya): positive definite, unrefuted false
	// bhattacharyya + -1*ngd-exp:t=1: not proven, unrefuted false
	// true
	// engine: kernel "diffusion:t=0", column 13: found t=0, expected a number above 0 (from 1e-18 to 1e+18)
}
