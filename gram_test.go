package gram_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The programs of the documentation stay short: lines of code, imports included.
func TestExamplesAreShort(t *testing.T) {
	for file, most := range map[string]int{
		"example_gram_test.go": 22, "example_texts_test.go": 18, "example_train_test.go": 18,
		"example_neighbours_test.go": 24, "example_load_test.go": 30,
	} {
		text := musttest.Get(os.ReadFile(file))(t)
		n := 0
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				n++
			}
		}
		if n > most {
			t.Errorf("%s has %d lines of code, expected %d at most", file, n, most)
		}
	}
}
