package gram_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gramengine/gram"
)

// A model of any kind, here of an earlier program, predicts texts. Of one without a known word it says nothing.
func ExampleLoad() {
	ctx := context.Background()
	m, err := gram.Load("cmd/grambench/testdata/models/first-text.model")
	if err != nil {
		log.Fatal(err)
	}
	p, err := m.PredictTexts(ctx, []string{"purr, milk and a bark at noon", "xyzzy"})
	if err != nil {
		log.Fatal(err)
	}
	for i, label := range p.Labels {
		if p.Known[i] == 0 {
			fmt.Println("no word is known")
			continue
		}
		fmt.Println(label[0], p.Known[i], "words are known")
	}
	// Output:
	// cats 3 words are known
	// no word is known
}
