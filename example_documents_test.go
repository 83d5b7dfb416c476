package gram_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
)

// This example builds documents from counts of events that arrive on a channel.
func ExampleNewCorpusBuilder() {
	const login, search, order, refund, columns = 0, 1, 2, 3, 4
	type visit struct {
		columns []uint32
		counts  []float64
		class   string
	}
	visits := make(chan visit)
	go func() {
		defer close(visits)
		visits <- visit{[]uint32{login, search, order}, []float64{1, 3, 2}, "buyer"}
		visits <- visit{[]uint32{login, order}, []float64{2, 5}, "buyer"}
		visits <- visit{[]uint32{login, search}, []float64{1, 9}, "visitor"}
		visits <- visit{[]uint32{search, refund}, []float64{7, 1}, "visitor"}
	}()
	ctx, rows := context.Background(), gram.NewCorpusBuilder(columns)
	for v := range visits {
		if err := rows.Add(v.columns, v.counts, v.class); err != nil {
			fmt.Println(err) // this document is skipped, the others remain
		}
	}
	m := gram.Must(gram.Train(ctx, rows.Corpus(), gram.TrainOptions{Kernel: "diffusion:t=2", C: 10}))

	rows.Add([]uint32{search, order}, []float64{1, 4}) // Corpus has reset the builder
	fmt.Println(gram.Must(m.Predict(ctx, rows.Corpus())).Label(0))
	// Output: buyer
}

// This example computes a Gram matrix of counts, as a mat.Symmetric, and its eigenvalues.
func ExampleGram() {
	rows := gram.NewCorpusBuilder(4)
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

// This example finds the nearest other document of each document. MinDF 1 keeps rare words.
func ExampleNeighbours() {
	ctx := context.Background()
	texts := []string{"the cat sat on the mat", "a dog barked", "the cat sat on a mat"}
	c, err := gram.FromTexts(ctx, texts, nil, gram.ReadOptions{MinDF: 1})
	if err != nil {
		log.Fatal(err)
	}
	near, err := gram.Neighbours(ctx, c, gram.NeighbourOptions{K: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, n := range near[0] {
		fmt.Printf("%q, cosine %.2f\n", texts[n.Document], n.Value)
	}
	// Output: "the cat sat on a mat", cosine 0.90
}

// This example finds incoming texts that are near copies of indexed texts, and adds the others.
func ExampleIndex() {
	ctx := context.Background()
	archive := []string{"the cat sat on the mat", "a dog barked at night"}
	incoming := []string{"The cat sat on the mat!", "a zebra laughed and ran", "A zebra laughed, and ran"}

	index := gram.Must(gram.NewIndex(ctx, archive, gram.IndexOptions{}))
	within := 0.02 // largest c = 1 − cosine, about two words in a hundred
	for _, text := range incoming {
		near := gram.Must(index.Query(ctx, []string{text}, gram.IndexQuery{K: 1, Within: &within}))
		if len(near[0]) == 0 {
			archive = append(archive, text)
			gram.Must(index.Add(ctx, text)) // numbers continue as in archive
			continue
		}
		fmt.Printf("%q is %q\n", text, archive[near[0][0].Document])
	}
	// Output:
	// "The cat sat on the mat!" is "the cat sat on the mat"
	// "A zebra laughed, and ran" is "a zebra laughed and ran"
}

// This example starts with an empty index, removes a text, and saves and loads the index.
func ExampleIndex_Save() {
	ctx, dir := context.Background(), gram.Must(os.MkdirTemp("", "index"))
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "texts.index")

	index := gram.Must(gram.NewIndex(ctx, nil, gram.IndexOptions{}))
	numbers := gram.Must(index.Add(ctx, "the cat sat on the mat", "a dog barked at night"))
	if err := errors.Join(index.Remove(numbers[0]), index.Save(path)); err != nil {
		log.Fatal(err)
	}
	index = gram.Must(gram.LoadIndex(ctx, path, gram.Options{}))
	near := gram.Must(index.Query(ctx, []string{"the cat and the dog"}, gram.IndexQuery{K: 1}))
	fmt.Println(near[0][0].Document) // document numbers are unchanged
	// Output: 1
}
