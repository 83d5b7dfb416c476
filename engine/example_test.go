package engine_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// This example computes the Gram matrix of three documents for the multinomial diffusion kernel.
// (The values exp(-2 arccos²(Σ √θθ′)), by hand, are 0.7938, 0.0709 and 0.1612.)
func Example() {
	// Documents: "wolf wolf moon", "wolf moon moon", "moon river". Terms: 0 moon, 1 river, 2 wolf.
	counts := &sparse.CSR{
		Cols:    3,
		Offsets: []int64{0, 2, 4, 6},
		Terms:   []uint32{0, 2, 0, 2, 0, 1},
		Values:  []float32{1, 2, 2, 1, 1, 1},
	}
	k, err := kernel.Parse("diffusion:t=0.5")
	if err != nil {
		log.Fatal(err)
	}
	documents, err := k.Embedding().Fit(counts).Transform(counts)
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(documents, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	gram, err := e.Gram(context.Background(), k, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.4f\n", mat.Formatted(gram))

	var cholesky mat.Cholesky // gonum's routines accept the matrix
	fmt.Println("positive definite:", cholesky.Factorize(gram))
	// Output:
	// ⎡1.0000  0.7938  0.0709⎤
	// ⎢0.7938  1.0000  0.1612⎥
	// ⎣0.0709  0.1612  1.0000⎦
	// positive definite: true
}

// This example computes the matrix of test documents (rows) and training documents (columns). Both
// use the terms and idf weights of one embedder, which is fitted to the training documents.
func ExampleEngine_Rows() {
	ctx := context.Background()
	train, err := corpus.FromTexts(ctx, []string{"wolf wolf moon", "moon river", "river fish"}, nil,
		corpus.Options{MinDF: 1})
	if err != nil {
		log.Fatal(err)
	}
	test, err := corpus.FromTexts(ctx, []string{"moon moon wolf", "a fish"}, nil,
		corpus.Options{Vocabulary: train.Vocabulary})
	if err != nil {
		log.Fatal(err)
	}
	k := kernel.MustParse("linear:embed=tfidf-l2")
	embedder := k.Embedding().Fit(train.Documents)
	documents, err := embedder.Transform(train.Documents)
	if err != nil {
		log.Fatal(err)
	}
	others, err := embedder.Transform(test.Documents)
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(documents, engine.Options{})
	if err != nil {
		log.Fatal(err)
	}
	cross, err := e.Rows(ctx, k, engine.Request{TestDocuments: others}, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range cross.Rows {
		fmt.Printf("%.4f\n", cross.Row(i))
	}
	// Output:
	// [0.8990 0.4199 0.0000]
	// [0.0000 0.0000 0.9381]
}
