package gram_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/gramengine/gram"
)

// A tokenizer of the program's own, here the parts of paths.
func ExampleTerms() {
	cut := func(paths ...string) (documents [][]string) {
		for _, p := range paths {
			documents = append(documents, strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '.' }))
		}
		return documents
	}
	ctx := context.Background()
	c := gram.Must(gram.Terms(cut("src/net/http.go", "src/net/dial.go", "doc/net/http.md", "doc/faq.md"),
		[]string{"code", "code", "text", "text"}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))
	p := gram.Must(m.PredictTerms(ctx, cut("src/os/file.go", "doc/install.md")))
	fmt.Println(p.Label(0), p.Label(1))
	// Output: code text
}
