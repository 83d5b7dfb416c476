package gram_test

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram"
)

// Which of the documents that come in are nearly the same as one that is there.
func ExampleNeighbours_incoming() {
	ctx := context.Background()
	archive := []string{"the cat sat on the mat", "a dog barked at night"}
	incoming := []string{"The cat sat on the mat!", "the cat sat on the mat and a zebra laughed"}

	// Both are counted together: words of the incoming texts alone count against a match, too.
	all := gram.Must(gram.Texts(ctx, slices.Concat(archive, incoming), nil, gram.ReadOptions{MinDF: 1}))
	words := gram.ReadOptions{Vocabulary: all.Vocabulary}
	least := 0.98 // 1 − c, with c as for Duplicates
	near := gram.Must(gram.Neighbours(ctx, gram.Must(gram.Texts(ctx, incoming, nil, words)), gram.NeighbourOptions{
		K: 1, Min: &least, Of: gram.Must(gram.Texts(ctx, archive, nil, words)),
	}))
	for i, found := range near {
		if len(found) > 0 {
			fmt.Printf("%q is %q\n", incoming[i], archive[found[0].Document])
		}
	}
	// Output: "The cat sat on the mat!" is "the cat sat on the mat"
}
