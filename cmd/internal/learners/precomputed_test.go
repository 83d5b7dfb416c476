package learners

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// toKernelRows removes serial numbers and keeps values, for any bytes.
func FuzzKernelRows(f *testing.F) {
	f.Add("1 0:1 1:0.5 2:0\n-1 0:2 1:-1 2:1\n")
	f.Add("1 0:0 3:1\n2 1:1\n")
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		read := func() *corpus.Corpus {
			c, err := corpus.ReadFrom(ctx, strings.NewReader(text), "K",
				corpus.Options{FormatOptions: corpus.FormatOptions{Format: corpus.FormatSVMLight, ZeroBased: "true"}, Signed: true})
			if err != nil {
				t.Skip()
			}
			return c
		}
		whole := read().Documents
		c := read()
		if toKernelRows(c) != nil {
			return
		}
		m := c.Documents
		musttest.NoError(t, m.Validate())
		for i := range whole.Rows() {
			terms, values := whole.Row(i)
			rest, kept := m.Row(i)
			if terms[0] != 0 || !slices.Equal(values[1:], kept) {
				t.Fatalf("row %d: values %v, expected those after the first of %v", i, kept, values)
			}
			for k, term := range terms[1:] {
				if rest[k] != term-1 {
					t.Fatalf("row %d: column %d, expected %d", i, rest[k], term-1)
				}
			}
		}
	})
}
