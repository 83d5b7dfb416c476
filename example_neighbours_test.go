package gram_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gramengine/gram"
)

// The nearest other document of each, exactly; with MinDF 1 rare words count.
func ExampleNeighbours() {
	ctx := context.Background()
	texts := []string{"the cat sat on the mat", "a dog barked", "the cat sat on a mat"}
	c, err := gram.Texts(ctx, texts, nil, gram.ReadOptions{MinDF: 1})
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
