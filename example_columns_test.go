package gram_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

const offers = `title,body,price,class
Red bike,light bike for sale,120,sale
Blue bike,heavy bike for sale,80.5,sale
Old car,car for sale,2500,sale
Room,room wanted near the park,400,wanted
Flat,flat wanted near the river,900,wanted
House,house wanted by the sea,1500,wanted
`

// Columns of a table as views: their texts and numbers make one kernel. A text to predict is a JSON object.
func ExampleReadFrom_columns() {
	ctx := context.Background()
	views := gram.Must(corpus.ParseTokenizer("title=words + body=words:1..2 + price=numbers"))
	o := gram.ReadOptions{Tokenizer: views, MinDF: 1}
	c := gram.Must(gram.ReadFrom(ctx, strings.NewReader(offers), "offers.csv", o))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "diffusion:t=2", C: 1}))
	p := gram.Must(m.PredictTexts(ctx, []string{`{"title":"Red car","body":"for sale","price":2000}`}))
	fmt.Println(p.Label(0), m.Warm(ctx) == nil)
	why := gram.Must(m.ExplainText(ctx, `{"title":"House","body":"wanted","price":1450}`, 2))
	fmt.Println(why.Label, why.Terms[0].Term)
	// Output:
	// sale true
	// wanted title: house
}
