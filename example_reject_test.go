package gram_test

import (
	"context"
	"fmt"

	"github.com/gramengine/gram"
)

// A model that answers nine of ten documents like those of training, and says so of the others.
func ExampleTrain_reject() {
	ctx := context.Background()
	c := gram.Must(gram.Read(ctx, "synthetic:docs=400,terms=500,classes=2", gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Reject: "coverage=90%"}))
	p := gram.Must(m.PredictTexts(ctx, []string{"words that were never seen"}))
	fmt.Println(p.Label(0), p.Rejected[0], p.Empty[0])
	// Output: ? true true
}
