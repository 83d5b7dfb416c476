package gram_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gramengine/gram"
)

// Which of the texts that come in are nearly the same as one that is there. Those that aren't are added.
func ExampleIndex() {
	ctx := context.Background()
	archive := []string{"the cat sat on the mat", "a dog barked at night"}
	incoming := []string{"The cat sat on the mat!", "a zebra laughed and ran", "A zebra laughed, and ran"}

	index := gram.Must(gram.NewIndex(ctx, archive, gram.IndexOptions{}))
	within := 0.02 // the greatest c = 1 − cosine, some two words of a hundred
	for _, text := range incoming {
		near := gram.Must(index.Query(ctx, []string{text}, gram.IndexQuery{K: 1, Within: &within}))
		if len(near[0]) == 0 {
			archive = append(archive, text)
			gram.Must(index.Add(ctx, text)) // its number is that in archive
			continue
		}
		fmt.Printf("%q is %q\n", text, archive[near[0][0].Document])
	}
	// Output:
	// "The cat sat on the mat!" is "the cat sat on the mat"
	// "A zebra laughed, and ran" is "a zebra laughed and ran"
}

// An index that begins empty, forgets a text, and goes on after the program ends.
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
	fmt.Println(near[0][0].Document) // numbers stay
	// Output: 1
}
