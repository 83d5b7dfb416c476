package gram_test

import (
	"context"
	"fmt"

	"github.com/gramengine/gram"
)

// Counts that the program has, such as those of events.
func ExampleNewRows() {
	const login, search, order, refund, columns = 0, 1, 2, 3, 4
	ctx, rows := context.Background(), gram.NewRows(columns)
	add := func(columns []uint32, counts []float64, class ...string) {
		if err := rows.Add(columns, counts, class...); err != nil {
			fmt.Println(err) // the document is left out, the others stay
		}
	}
	add([]uint32{login, search, order}, []float64{1, 3, 2}, "buyer")
	add([]uint32{login, order}, []float64{2, 5}, "buyer")
	add([]uint32{login, search}, []float64{1, 9}, "visitor")
	add([]uint32{search, refund}, []float64{7, 1}, "visitor")
	m := gram.Must(gram.Train(ctx, rows.Corpus(), gram.TrainOptions{Kernel: "diffusion:t=2", C: 10}))

	add([]uint32{search, order}, []float64{1, 4}) // Corpus has taken the others
	fmt.Println(gram.Must(m.Predict(ctx, rows.Corpus())).Label(0))
	// Output: buyer
}
