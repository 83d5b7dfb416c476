package lafferty

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// short are flags that leave little of the protocol but all of its parts.
var short = []string{"-splits", "3", "-sizes", "20,40", "-scales", "1,3", "-c", "1,10", "-folds", "3"}

// From raw text to all six tables, interrupted and gone on with, by one and by two workers: the
// same tables, and nothing is computed twice.
func TestLaffertyLebanon(t *testing.T) {
	data := reprotest.Topics(t)
	ctx := context.Background()
	whole := musttest.Get(reprotest.Do(ctx, t, Experiment, &repro.Run{Data: data, Seed: 1, Workers: 1}, short...))(t)
	// 4 and 3 tasks of WebKB, 5 and 4 of Reuters-21578, with 2 kinds of features and 2
	// sizes; ten topics.
	for key, want := range map[string]int{"1": 16, "2": 12, "3": 20, "4": 16, "5": 10, "6": 10} {
		if rows := reprotest.Rows(t, whole, key); len(rows) != want {
			t.Errorf("table %s has %d rows, expected %d", key, len(rows), want)
		}
	}
	// Of the sizes only 40 is printed: a row of agreement for the printed tasks of each table and kind
	// of features, and one of both tables of a corpus.
	counts := map[string]float64{}
	for _, row := range reprotest.Rows(t, whole, "agreement") {
		counts[row["of_table"].(string)+" "+row["features"].(string)] = row["rows"].(float64)
	}
	for name, want := range map[string]float64{
		"1 tf": 4, "2 tfidf": 3, "1, 2 both": 14, "4 tf": 4, "3, 4 both": 8, "5 tf": 10,
	} {
		if counts[name] != want {
			t.Errorf("agreement of %s: %v rows, expected %v", name, counts[name], want)
		}
	}
	if !slices.ContainsFunc(whole.Settings, func(s repro.Setting) bool {
		return s.Name == "webkb" &&
			strings.HasPrefix(s.Value, "360 documents (course 60, faculty 120, project 60, student 120), ")
	}) {
		t.Errorf("settings are %v", whole.Settings)
	}
	// The machines learn: better than to call everything negative, which errs on a third of the
	// pages.
	for _, row := range reprotest.Rows(t, whole, "1") {
		for _, kernel := range []string{"linear", "gaussian", "diffusion", "diffusion_by_folds"} {
			v := row[kernel].(map[string]any)
			if row["class"] == "student" && row["training_documents"] == 40.0 && row["features"] == "tf" &&
				!(v["mean"].(float64) < 0.3 && v["n"] == 3.0) {
				t.Errorf("student, 40 documents, tf, %s: error %v", kernel, v)
			}
		}
	}
	if len(whole.Figures) != len(paperFigures) || len(whole.Notes) != 4*2*2+2*2 {
		t.Errorf("%d figures and %d notes", len(whole.Figures), len(whole.Notes))
	}

	// n documents have n(n+1)/2 pairs; in each of four embeddings for WebKB (360) and the stories
	// of Reuters-21578 with any topic (2·240 of them), in two for ModApte, where 220 are for training
	// and as many for testing. Panels of at most 64 documents are whole on the diagonal and at the
	// end, too.
	pages, stories, train := int64(360), int64(480), int64(220)
	want := 4*(pages*(pages+1)/2+stories*(stories+1)/2) + 2*(train*(train+1)/2+train*train)
	if more := 64 * (4*(pages+stories) + 4*train); !(whole.DotProducts >= want && whole.DotProducts <= want+more) {
		t.Errorf("%d dot products, expected %d and at most %d more", whole.DotProducts, want, more)
	}

	partial := reprotest.Interrupt(t, Experiment, data, short, "tables 1 to 4", 200)
	if len(partial.Tables) == 0 {
		t.Error("interrupted: no tables")
	}
	later := reprotest.Interrupt(t, Experiment, data, short, "tables 5 and 6", 0)
	if len(later.Tables) != 6 {
		t.Errorf("interrupted later: %d tables, expected 1 to 4, agreement and shifts", len(later.Tables))
	}
	two := musttest.Get(reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: data, Seed: 1, Workers: 2}, short...))(t)
	if got, want := reprotest.Tables(t, two), reprotest.Tables(t, whole); got != want {
		t.Errorf("by two workers:\n%s\nby one:\n%s", got, want)
	}
}

func TestLaffertyLebanonRefuses(t *testing.T) {
	data := reprotest.Topics(t)
	for want, args := range map[string][]string{
		"-splits 0":   {"-splits", "0"},
		"-folds 1":    {"-folds", "1"},
		"-sizes 3":    {"-sizes", "3"},
		"-modapte":    {"-modapte", "half"},
		"-training":   {"-training", "half"},
		"-stories":    {"-stories", "many"},
		"-min-df 0":   {"-min-df", "0"},
		"too large":   {"-tables", "1", "-sizes", "358"},
		"no such":     {"-stop-words", filepath.Join(data, "nowhere")},
		"of memory":   {"-tables", "1"},
		"of memory, ": {"-tables", "5", "-sizes", "20"},
	} {
		r := &repro.Run{Data: data, Seed: 1}
		if strings.HasPrefix(want, "of memory") {
			r.MemoryBytes = 1 << 17
		}
		_, err := reprotest.Do(context.Background(), t, Experiment, r, args...)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, ", ")) {
			t.Errorf("%v: %v, expected an error with %q", args, err, want)
		}
		var usage repro.UsageError
		if errors.As(err, &usage) != strings.HasPrefix(want, "-") {
			t.Errorf("%v: %T", args, err)
		}
	}
	reprotest.WriteText(t, data, repro.WebKB, "all.tsv.gz", []string{"student|cornell\ta b", "dean|cornell\tc d"})
	_, err := reprotest.Do(context.Background(), t, Experiment, &repro.Run{Data: data}, "-tables", "1")
	if err == nil || !strings.Contains(err.Error(), `:2: class "dean", expected one of course`) {
		t.Errorf("a class that isn't known: %v", err)
	}
	var missing *repro.MissingError
	_, err = reprotest.Do(context.Background(), t, Experiment, &repro.Run{Data: t.TempDir()})
	if !errors.As(err, &missing) {
		t.Errorf("no data: %v", err)
	}
}

// Stories with one of the five topics, another, two others, none.
func TestStories(t *testing.T) {
	for stories, want := range map[string]string{"topics": "1110", "five": "1000", "all": "1111"} {
		got := ""
		for _, have := range [][2]int{{1, 1}, {0, 1}, {0, 2}, {0, 0}} {
			if (&protocol{stories: stories}).takes(have[0], have[1]) {
				got += "1"
			} else {
				got += "0"
			}
		}
		if got != want {
			t.Errorf("-stories %s: %s, expected %s", stories, got, want)
		}
	}
}

// The choices by hand: two scales, two C, two splits, ten test documents.
func TestChoices(t *testing.T) {
	p := &protocol{scales: repro.Numbers{1, 2}, c: repro.Numbers{1, 10}, splits: 2}
	results := []result{ // of scale 1: in split 1, 3 and 1 errors at C 1 and 10; in split 2, 3 and 4
		{Test: [][][][]int{{{{3, 1}}, {{3, 4}}}}, Folds: [][][][]int{{{{5, 2}}, {{1, 1}}}}},
		{Test: [][][][]int{{{{2, 2}}, {{4, 2}}}}, Folds: [][][][]int{{{{2, 3}}, {{1, 0}}}}},
	}
	best := p.best(results, gaussian, 0, 0, 10)
	if best.Scale != 2 || best.C != 10 || best.Errors[0] != 0.2 || best.Errors[1] != 0.2 { // means 3, 2.5; 3, 2
		t.Errorf("best on the test sets: %+v", best)
	}
	// Split 1: 2 errors for scale 1 with C 10 and for scale 2 with C 1, of which the latter has
	// less C; split 2: none for scale 2 with C 10.
	if honest := p.byFolds(results, 0, 0, 10); honest.Errors[0] != 0.2 || honest.Errors[1] != 0.2 {
		t.Errorf("by folds: %+v", honest)
	}
	results[1].Folds[0][1][0][1] = 1 // now all are equal: C 1, scale 2
	if honest := p.byFolds(results, 0, 0, 10); honest.Errors[1] != 0.4 {
		t.Errorf("by folds, all equal: %+v", honest)
	}
}

func TestTableRow(t *testing.T) {
	for name, c := range map[string]struct {
		linear, gaussian, diffusion []float64
		lower, clearly              bool
		lowest                      string
	}{
		"clearly lower": {[]float64{0.30, 0.33, 0.31}, []float64{0.29, 0.32, 0.31}, []float64{0.10, 0.12, 0.13},
			true, true, "diffusion *"},
		"lower by chance": {[]float64{0.30, 0.33, 0.31}, []float64{0.1, 0.32, 0.31}, []float64{0.20, 0.12, 0.13},
			true, false, "diffusion"},
		"equal": {[]float64{0.25, 0.5}, []float64{0.75, 0.5}, []float64{0.5, 0.25}, false, false, "linear, diffusion"},
		"above": {[]float64{0.30, 0.33, 0.31}, []float64{0.1, 0.02, 0.11}, []float64{0.20, 0.12, 0.13},
			false, false, "Gaussian"},
	} {
		r := newTableRow(name, [len(kernels)]*choice{{Errors: c.linear}, {Errors: c.gaussian}, {Errors: c.diffusion}})
		if r.lower != c.lower || r.clearly != c.clearly || r.lowest != c.lowest {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := newTableRow("one missing", [len(kernels)]*choice{{Errors: []float64{1, 2}}}); r.lowest != "" || r.lower {
		t.Errorf("%+v", r)
	}
}
