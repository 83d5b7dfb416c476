package benchlibsvm

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// Agreement that is asked for.
const (
	objectiveTolerance = 1e-5
	sameShare          = 0.999
)

// write prints the table and what was compared; it returns whether the comparison passed.
func (t *trial) write(w io.Writer) (passed bool) {
	fmt.Fprintf(w, "%s: %s; C = %s, tolerance 0.001\n", t.corpus.name, t.read, number(t.c))
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "what\tprogram\tkernel\tseconds\tleast\tmost\tcores\ttimes as fast\tright")
	for _, l := range t.lines {
		seconds, least, most, cores := l.runs.Median()
		ratio, used, right := "-", "-", "-"
		if l.against != nil {
			of, _, _, _ := l.against.runs.Median()
			ratio = fmt.Sprintf("%.1f", of/seconds)
		}
		if cores > 0 {
			used = fmt.Sprintf("%.1f", cores)
		}
		if !math.IsNaN(l.accuracy) {
			right = fmt.Sprintf("%.2f%%", 100*l.accuracy)
		}
		fmt.Fprintf(tab, "%s\t%s\t%s\t%.3f\t%.3f\t%.3f\t%s\t%s\t%s\n", l.what, l.program, l.kernel, seconds, least,
			most, used, ratio, right)
	}
	tab.Flush()
	passed = true
	verdict := func(fine bool) string {
		if !fine {
			passed = false
			return "FAILED"
		}
		return "passed"
	}
	if t.pairs > 0 {
		fmt.Fprintf(w,
			"the same optimum: %d pairs of classes, dual objectives within %.1e of svm-train's, expected %.0e: %s\n",
			t.pairs, t.worst, objectiveTolerance, verdict(t.worst <= objectiveTolerance))
	}
	if t.tests > 0 {
		fmt.Fprintf(w, "the same predictions: %d of %d are svm-predict's, expected %.1f %%: %s\n", t.same, t.tests,
			100*sameShare, verdict(float64(t.same) >= sameShare*float64(t.tests)))
	}
	return passed
}

// sameLabel reports whether two labels are the same text or the same number: svm-predict writes +1 as
// 1.
func sameLabel(a, b string) bool {
	v, errV := strconv.ParseFloat(a, 64)
	w, errW := strconv.ParseFloat(b, 64)
	return a == b || errV == nil && errW == nil && v == w
}
