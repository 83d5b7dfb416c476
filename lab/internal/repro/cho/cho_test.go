package cho

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// short are flags that leave little of the protocol but all of its parts.
var short = []string{
	"-sets", "20news-bydate,convex", "-train", "60", "-test", "40", "-c", "1,100", "-layers", "3", "-factors", "2",
	"-fractions", "0.5,1", "-biases", "0.5", "-sigmas", "0.5", "-gammas", "0.5,2",
}

// Each set from its files, or its generator, to a table whose errors are below chance.
func TestChoSets(t *testing.T) {
	folder := standIns(t)
	report := musttest.Get(reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: folder, Seed: 1}, "-train", "240",
		"-test", "100", "-c", "100", "-kernels", "composed", "-degrees", "1", "-layers", "2", "-min-df", "1"))(t)
	for _, s := range sets {
		name := (&protocol{families: repro.Words{Chosen: []string{composed}}}).parts(&s)[0].name
		rows, classes := reprotest.Rows(t, report, name), 2.
		switch {
		case s.text:
			classes = 3
		case s.source != nil:
			classes = 10
		}
		chance := 1 - 1/classes // of 100 documents, in the mean, with the deviation of as many throws
		if most := 100 * (chance - 2*math.Sqrt(chance*(1-chance)/100)); len(rows) != 2 ||
			!(rows[1]["test_percent"].(float64) < most) {
			t.Errorf("%s: %v, expected two rows and an error below %v %%", s.name, rows, most)
		}
	}
	if sets := len(sets); len(report.Figures) != sets || len(report.Notes) != 2*sets { // a curve and a range
		t.Errorf("%d figures and %d notes", len(report.Figures), len(report.Notes))
	}
}

// All families, by one and by two workers: the same tables, and nothing is trained twice. An interrupted run returns
// the tables that it has.
func TestCho(t *testing.T) {
	folder := standIns(t)
	whole, err := reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: folder, Seed: 1, Workers: 1}, short...)
	if err != nil {
		t.Fatal(err)
	}
	// 2 plain; 3·3 composed, 2·2 mixed, 3 square; 3·1 products, 2·1 by degree 0, 5 averages; 4 degrees; a
	// bias, a σ and the best of each.
	const rows = 2 + 9 + 4 + 3 + 3 + 2 + 5 + 4 + 2 + 2
	for _, set := range []string{"20news-bydate", "convex"} {
		got := reprotest.Rows(t, whole, set)
		if len(got) != rows {
			t.Fatalf("%s: %d rows, expected %d", set, len(got), rows)
		}
		for i, row := range got {
			if row["documents"] != 40. || row["validation_percent"] == nil || row["printed_percent"] != nil ||
				(row["kernel"] == "Gaussian" || row["kernel"] == bestBias || row["kernel"] == bestSigma) !=
					(row["scale"] != nil) || (row["kernel"] == "Gaussian") != (row["p"] == nil) {
				t.Errorf("%s: %v", set, row)
			}
			for _, other := range got[:i] {
				if other["family"] == row["family"] && other["kernel"] == row["kernel"] {
					t.Errorf("%s: %v twice", set, row["kernel"])
				}
			}
		}
	}
	// A bias and a σ alone are no curve; two notes of what was chosen and one of a range.
	if len(whole.Figures) != 2*6 || len(whole.Notes) != 2*(3+2+1+3+2+1+3) {
		t.Errorf("%d figures and %d notes", len(whole.Figures), len(whole.Notes))
	}
	// Degrees 0, 1 and 2 of one layer are in several families, so they are trained once: 31 kernels with
	// 2 C, the Gaussian with 4, then as many once more, but where two rows share a kernel. 3 and 1 pairs
	// of classes.
	if want := int64((30*2 + 4 + 31) * (3 + 1)); whole.Trainings != want {
		t.Errorf("%d machines, expected %d", whole.Trainings, want)
	}

	for k, stopAt := range []string{"20news-bydate: test", "convex: validation"} {
		if report := reprotest.Interrupt(t, Experiment, folder, short, stopAt, 0); len(report.Tables) != k+1 {
			t.Errorf("interrupted at %s: %d tables", stopAt, len(report.Tables))
		}
	}
	two := musttest.Get(reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: folder, Seed: 1, Workers: 2},
		short...))(t)
	if got, want := reprotest.Tables(t, two), reprotest.Tables(t, whole); got != want {
		t.Errorf("by two workers:\n%s\nby one:\n%s", got, want)
	}
}

// One C and no width: no validation; another scheme has other machines.
func TestChoSchemes(t *testing.T) {
	folder := standIns(t)
	for scheme, machines := range map[string]int64{"one-vs-one": 45, "one-vs-rest": 10} {
		args := []string{
			"-sets", "mnist", "-kernels", "composed", "-degrees", "1", "-layers", "1", "-c", "100", "-scheme", scheme,
			"-slanted", "-train", "0", "-test", "0",
		}
		report := musttest.Get(reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: folder, Seed: 1}, args...))(t)
		rows := reprotest.Rows(t, report, "mnist")
		if len(rows) != 1 || rows[0]["documents"] != 120. || rows[0]["validation_percent"] != nil ||
			rows[0]["printed_percent"] != nil || report.Trainings != machines {
			t.Errorf("%s: %v, %d machines", scheme, rows, report.Trainings)
		}
	}
}

func TestChoRefuses(t *testing.T) {
	folder := standIns(t)
	for want, args := range map[string][]string{
		"-layers 0":     {"-layers", "0"},
		"-factors 33":   {"-factors", "33"},
		"-train -1":     {"-train", "-1"},
		"-embed":        {"-embed", "words"},
		"-fractions 29": {"-fractions", "29"},
		"-scheme":       {"-scheme", "one-vs-one,one-vs-rest"},
		"-min-letters":  {"-min-letters", "0"},
		"too few":       {"-sets", "rectangles", "-train", "3"},
		"no such":       {"-sets", "20news-bydate", "-stop-words", filepath.Join(folder, "nowhere")},
		"of memory,":    {"-sets", "rectangles", "-test", "10"},
	} {
		r := &repro.Run{Data: folder, Seed: 1}
		if want == "of memory," {
			r.MemoryBytes = 1 << 20
		}
		if _, err := reprotest.Do(t.Context(), t, Experiment, r, args...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
	musttest.Do(t, os.Remove(filepath.Join(folder, repro.MNIST.Name, repro.MNIST.Files[1])))
	var missing *repro.MissingError
	_, err := reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: folder}, "-sets", "mnist")
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "train-labels") {
		t.Errorf("%v, expected labels to be missing", err)
	}
}
