package gram_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gramengine/gram"
)

const (
	trainTSV = "yes\ta good plot and good acting\nyes\tgood fun\nyes\tacting at its best\n" +
		"no\ta dull plot\nno\tdull acting and no fun\nno\tbad and dull\n"
	testTSV = "yes\tbest acting\nyes\ta good plot\nyes\tno dull moment\nno\ta bad and dull plot\n"
)

// How good a model is on documents that it didn't learn from, and what it gets wrong.
func ExampleModel_Evaluate() {
	ctx := context.Background()
	c := gram.Must(gram.ReadFrom(ctx, strings.NewReader(trainTSV), "train.tsv", gram.ReadOptions{MinDF: 1}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))

	test := gram.Must(gram.ReadFrom(ctx, strings.NewReader(testTSV), "test.tsv", m.ReadOptions()))
	v := gram.Must(m.Evaluate(ctx, test, gram.EvaluateOptions{}))
	fmt.Printf("%d of %d right, macro F1 %.2f\n", v.Score.Right, v.Score.Documents, v.Score.MacroF1)
	for _, wrong := range v.Mistakes { // the worst first
		fmt.Printf("document %d isn't %s, in spite of %q\n", wrong.Index, wrong.Why.Label, wrong.Why.Terms[0].Term)
	}
	// Output:
	// 3 of 4 right, macro F1 0.73
	// document 2 isn't no, in spite of "dull"
}

// Which terms speak for the classes, and which for the prediction of a text.
func ExampleModel_Explain() {
	ctx := context.Background()
	c := gram.Must(gram.ReadFrom(ctx, strings.NewReader(trainTSV), "train.tsv", gram.ReadOptions{MinDF: 1}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))

	for _, row := range gram.Must(m.Explain(ctx, 2)).Rows {
		fmt.Println("for", row.Class, row.For[0].Term, row.For[1].Term, "against", row.Not[0].Term, row.Not[1].Term)
	}
	why := gram.Must(m.ExplainText(ctx, "a dull but good plot", 1)) // of any model
	fmt.Println(why.Label, "because of", why.Terms[0].Term)
	// Output:
	// for yes good at against dull no
	// no because of dull
}
