package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Each row holds medians over the rounds. The ratio of a round is computed from the round's sums.
func TestTable(t *testing.T) {
	rounds := []round{
		{stepGram: {2, 1}, stepPlan: {0.25, 0.25}, stepWork: {1, 0.5}, stepGather: {0.5, 0.5}},
		{stepGram: {2, 2}, stepPlan: {0.25, 0}, stepWork: {1, 1}, stepGather: {0.25, 1.5}},
	}
	const want = "| CPU time in s | user | system | both |\n" +
		"| --- | --- | --- | --- |\n" +
		"| `gram matrix` | 2.00 | 1.50 | 3.50 (3.00 to 4.00) |\n" +
		"| `gramcluster plan gram` | 0.25 | 0.12 | 0.38 (0.25 to 0.50) |\n" +
		"| `gramcluster work`, 4 processes | 1.00 | 0.75 | 1.75 (1.50 to 2.00) |\n" +
		"| `gramcluster gather` | 0.38 | 1.00 | 1.38 (1.00 to 1.75) |\n" +
		"| `gramcluster`, total | 1.62 | 1.88 | 3.50 (3.00 to 4.00) |\n" +
		"| ratio | | | 1.00 (1.00 to 1.00) |\n"
	if got := formatTable(rounds, 4); got != want {
		t.Errorf("the table is\n%s, expected\n%s", got, want)
	}
}

func TestSame(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		musttest.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	a := file("a", "matrix")
	texts := map[string]bool{"matrix": true, "matrox": false, "matri": false, "matrix2": false, "": false}
	for text, equal := range texts {
		if err := compareFiles(a, file("b", text)); (err == nil) != equal {
			t.Errorf("%q: error %v", text, err)
		}
	}
	if compareFiles(a, filepath.Join(dir, "none")) == nil {
		t.Error("no file passes")
	}
}
