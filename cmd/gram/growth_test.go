package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/cli/clitest"
	"github.com/gramengine/gram/internal/musttest"
)

// times concatenates n copies of a format. A verb gets the copy's number from 0, %s as a word.
func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		switch {
		case strings.Contains(format, "%s"):
			word := strings.Map(func(r rune) rune { return r + 'a' - '0' }, fmt.Sprint(1_000_000+i))
			fmt.Fprintf(&b, format, word)
		case strings.Contains(format, "%d"):
			fmt.Fprintf(&b, format, i)
		default:
			b.WriteString(format)
		}
	}
	return b.String()
}

// npyOnes returns a matrix of ones in NumPy's format.
func npyOnes(rows, cols int) string {
	header := fmt.Sprintf("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols)
	return fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-118s", header) + strings.Repeat("\x01", rows*cols)
}

// dimensions lists the dimensions of an input that may be large, with a file of size n. At 16 times
// n, quadratic time takes several tenths of a second or more.
var dimensions = map[string]struct {
	file string
	n    int
	data func(n int) string
}{
	"documents":     {"a.tsv", 1500, func(n int) string { return times(n, "c0\ta b\nc1\ta c\n") }},
	"terms":         {"a.tsv", 2500, func(n int) string { return "c0\ta b\n" + times(n, "c1\ta b %s\n") }},
	"terms of one":  {"a.tsv", 5000, func(n int) string { return "c0\ta b\nc1\ta b" + times(n, " %s") + "\n" }},
	"words of one":  {"a.tsv", 50000, func(n int) string { return "c0\ta b\nc1\ta b" + times(n, " a b c") + "\n" }},
	"one word":      {"a.tsv", 50000, func(n int) string { return "c0\ta b\nc1\ta b " + times(n, "a") + "\n" }},
	"blank lines":   {"a.tsv", 50000, func(n int) string { return "c0\ta b\n" + times(n, "\n") + "c1\ta b\n" }},
	"labels of one": {"a.tsv", 8000, func(n int) string { return "c0\ta b\nc1" + times(n, ",%s") + "\ta b\n" }},
	"same labels":   {"a.tsv", 2500, func(n int) string { return "c0\ta b\n" + times(n, "c1,a,b,c,d,e\ta b\nc1,f\ta\n") }},
	"classes":       {"a.tsv", 2500, func(n int) string { return "c0\ta b\n" + times(n, "%s\ta b\n") }},
	"one label":     {"a.tsv", 50000, func(n int) string { return "c0\ta b\n" + times(n, "c") + "\ta b\n" }},
	"labels in JSON": {"a.jsonl", 8000, func(n int) string {
		return `{"text":"a b","label":["x"` + times(n, `,"%s"`) + "]}\n" + `{"text":"a b"}`
	}},
	"numbers as labels": {"a.svm", 8000, func(n int) string { return "-1" + times(n, ",%d") + " 1:1\n1 1:1\n" }},
	"values of one":     {"a.svm", 5000, func(n int) string { return "1" + times(n, " %d1:1") + "\n" }},
	"vectors":           {"a.svm", 5000, func(n int) string { return times(n, "1 2:1 3:%d\n") }},
	"columns":           {"a.svm", 5000, func(n int) string { return times(n, "1 %d001:1\n") }},
	"fields": {"a.csv", 400, func(n int) string {
		return "text,label" + times(n, ",%s") + "\n" + times(9, "a,b"+times(n, ",c")+"\n")
	}},
	"records":          {"a.csv", 3000, func(n int) string { return times(n, "x,\"a\nb\"\n") }},
	"rows":             {"a.npy", 10000, func(n int) string { return npyOnes(n, 4) }},
	"columns in NumPy": {"a.npy", 10000, func(n int) string { return npyOnes(4, n) }},
}

// Time and memory grow with any dimension of the input by a power below 1.5: 16 times the size
// takes at most 64 times as much, while quadratic growth takes 256 times as much. Other processes
// change CPU time by a factor of 2, but the minimum of three runs by less.
func TestGrowth(t *testing.T) {
	if musttest.RaceEnabled {
		t.Skip("the race detector has its own time and memory")
	}
	const more, most = 16, 64.0
	folder := t.TempDir()
	model := filepath.Join(folder, "model")
	commands := map[string][]string{
		"corpus":  {"corpus", "-workers", "1", "-min-df", "1", "-in"},
		"train":   {"train", "-workers", "1", "-type", "linear", "-c", "1", "-min-df", "1", "-o", model, "-in"},
		"predict": {"predict", "-workers", "1", "-model", filepath.Join(folder, "first"), "-in"},
	}
	// runs runs a command on a file and returns its CPU time and allocated memory.
	runs := func(t *testing.T, command, file, content string) (took time.Duration, allocated float64) {
		t.Helper()
		file = filepath.Join(folder, file)
		musttest.NoError(t, os.WriteFile(file, []byte(content), 0o666))
		var before, after runtime.MemStats
		var errs bytes.Buffer
		runtime.ReadMemStats(&before)
		began := clitest.CPUTime(t)
		if run(append(slices.Clip(commands[command]), file), io.Discard, &errs) != 0 {
			t.Fatal(errs.String())
		}
		took = clitest.CPUTime(t) - began
		runtime.ReadMemStats(&after)
		return took, float64(after.TotalAlloc - before.TotalAlloc)
	}
	runs(t, "train", "train.tsv", dimensions["documents"].data(50))
	musttest.NoError(t, os.Rename(model, filepath.Join(folder, "first")))
	for name, of := range dimensions {
		for command := range commands {
			// Each class has its own binary classifier, and training time has other tests.
			learns := name == "classes" || name == "labels of one" || name == "documents"
			if command != "corpus" && filepath.Ext(of.file) != ".tsv" || command == "train" && learns {
				continue
			}
			t.Run(command+"/"+name, func(t *testing.T) {
				took := [2]time.Duration{math.MaxInt64, math.MaxInt64}
				var allocated [2]float64
				ratio, bytes := math.Inf(1), 0.0
				for try := 0; try < 3 && !(ratio <= most); try++ {
					for k, n := range []int{of.n, more * of.n} {
						var d time.Duration
						d, allocated[k] = runs(t, command, of.file, of.data(n))
						took[k] = min(took[k], d)
					}
					ratio = float64(took[1]) / float64(max(took[0], 5*time.Millisecond)) // minimum: time of the start
					bytes = allocated[1] / allocated[0]
				}
				t.Logf("%v, %v, ratio %.1f; %.3g and %.3g bytes, ratio %.1f", took[0], took[1], ratio, allocated[0],
					allocated[1], bytes)
				if !(ratio <= most && bytes <= most) {
					t.Errorf("%d times as many of %s take %.1f times the processor time and %.1f times the memory, expected "+
						"at most %v", more, name, ratio, bytes, most)
				}
			})
		}
	}
}
