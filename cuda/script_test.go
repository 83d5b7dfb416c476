package cuda

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// What check.sh verifies on, where nothing is named, can be read.
func TestScriptSource(t *testing.T) {
	script, err := os.ReadFile("check.sh")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^source=\$\{1:-([^}]+)\}`).FindSubmatch(script)
	if m == nil {
		t.Fatal("check.sh has no line with its source")
	}
	corpus, err := sparse.Read(t.Context(), filepath.Join("..", string(m[1])), sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := corpus.Documents.Rows(); n < 100 {
		t.Errorf("%d documents in %s, expected more to verify on", n, m[1])
	}
}
