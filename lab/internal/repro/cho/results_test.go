package cho

import (
	"math"
	"testing"

	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// The tables in lab/results contain the printed errors of Tables 2.2 and 3.1. Errors on generated
// images differ from the printed errors by up to a factor of two.
func TestResults(t *testing.T) {
	compared := 0
	for _, set := range []string{"rectangles", "rectangles-image", "convex", "mnist-rand", "mnist-image",
		"20news-random"} {
		for _, row := range reprotest.ReadResult(t, "cho", set) {
			percent, ok := printedError(set, row["kernel"])
			if ok != (row["printed"] != "") {
				t.Errorf("%s, %s: %q is printed", set, row["kernel"], row["printed"])
			}
			if !ok {
				continue
			}
			compared++
			ln := math.Abs(math.Log(reprotest.ParseNumber(t, row["test"]) / percent))
			if row["printed"] != repro.FormatFixed(percent, 2) ||
				!(math.Abs(ln-reprotest.ParseNumber(t, row["|ln|"])) <= 0.003) ||
				!(ln < 0.75) {
				t.Errorf("%s, %s: %s %%, printed %s, |ln| %s, expected %v and %v", set, row["kernel"], row["test"], row["printed"],
					row["|ln|"], percent, ln)
			}
		}
	}
	if compared < 27 {
		t.Errorf("%d figures are compared, expected 27 or more", compared)
	}
}
