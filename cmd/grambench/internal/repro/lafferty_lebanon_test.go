package repro

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// short are flags that leave little of the protocol but all of its parts.
var short = []string{"-splits", "3", "-sizes", "20,40", "-scales", "1,3", "-c", "1,10", "-folds", "3"}

// rowsOf returns the rows of a table as objects.
func rowsOf(t *testing.T, report *Report, key string) []map[string]any {
	t.Helper()
	for _, table := range report.Tables {
		if table.Key != key {
			continue
		}
		rows, err := table.Objects()
		if err != nil {
			t.Fatal(err)
		}
		var out []map[string]any
		for _, row := range rows {
			var v map[string]any
			if err := json.Unmarshal(row, &v); err != nil {
				t.Fatal(err)
			}
			out = append(out, v)
		}
		return out
	}
	t.Fatalf("no table %s", key)
	return nil
}

// From raw text to all six tables, interrupted and gone on with, by one and by two workers: the same tables, and nothing is computed twice.
func TestLaffertyLebanon(t *testing.T) {
	data := standIns(t)
	ctx := context.Background()
	whole, err := setup(t, laffertyLebanon, short...)(ctx, &Run{Data: data, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	// 4 and 3 tasks of WebKB, 5 and 4 of Reuters-21578, with 2 kinds of features and 2 sizes; ten topics.
	for key, want := range map[string]int{"1": 16, "2": 12, "3": 20, "4": 16, "5": 10, "6": 10} {
		if rows := rowsOf(t, whole, key); len(rows) != want {
			t.Errorf("table %s has %d rows, expected %d", key, len(rows), want)
		}
	}
	if !slices.ContainsFunc(whole.Settings, func(s Setting) bool {
		return s.Name == "webkb" && strings.HasPrefix(s.Value, "360 documents (course 60, faculty 120, project 60, student 120), ")
	}) {
		t.Errorf("settings are %v", whole.Settings)
	}
	// The machines learn: better than to call everything negative, which errs on a third of the pages.
	for _, row := range rowsOf(t, whole, "1") {
		for _, kernel := range []string{"linear", "gaussian", "diffusion", "diffusion_by_folds"} {
			v := row[kernel].(map[string]any)
			if row["class"] == "student" && row["training_documents"] == 40.0 && row["features"] == "tf" && !(v["mean"].(float64) < 0.3 && v["n"] == 3.0) {
				t.Errorf("student, 40 documents, tf, %s: error %v", kernel, v)
			}
		}
	}
	if len(whole.Figures) != len(llFigures) || len(whole.Notes) != 4*2*2+2*2 {
		t.Errorf("%d figures and %d notes", len(whole.Figures), len(whole.Notes))
	}

	// n documents have n(n+1)/2 pairs; in each of four embeddings for WebKB (360) and five topics of Reuters-21578 (2·160 of them), in two for ModApte, where 220 are for
	// training and as many for testing. Panels of at most 64 documents are whole on the diagonal and at the end, too.
	pages, stories, train := int64(360), int64(320), int64(220)
	want := 4*(pages*(pages+1)/2+stories*(stories+1)/2) + 2*(train*(train+1)/2+train*train)
	if more := 64 * (4*(pages+stories) + 4*train); !(whole.DotProducts >= want && whole.DotProducts <= want+more) {
		t.Errorf("%d dot products, expected %d and at most %d more", whole.DotProducts, want, more)
	}

	path := filepath.Join(t.TempDir(), "state.jsonl")
	again := func(stopAt string, after int64) (*Report, error) {
		state, err := OpenState(path)
		if err != nil {
			t.Fatal(err)
		}
		defer state.Close()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var stopped time.Time
		report, err := setup(t, laffertyLebanon, short...)(ctx, &Run{Data: data, Seed: 1, Workers: 2, State: state, Tell: func(stage string, done, _ int64) {
			if stage == stopAt && done >= after && stopped.IsZero() {
				stopped = time.Now()
				cancel()
			}
		}})
		if !stopped.IsZero() && time.Since(stopped) > time.Second {
			t.Errorf("it took %v to stop", time.Since(stopped))
		}
		return report, err
	}
	partial, err := again("tables 1 to 4", 200)
	if !errors.Is(err, context.Canceled) || partial == nil || len(partial.Tables) == 0 {
		t.Fatalf("interrupted: %v, report %v", err, partial)
	}
	second, err := again("tables 5 and 6", 0)
	if !errors.Is(err, context.Canceled) || len(second.Tables) != 4 {
		t.Fatalf("interrupted again: %v", err)
	}
	last, err := again("", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tablesOf(t, last), tablesOf(t, whole); got != want {
		t.Errorf("in three pieces by two workers:\n%s\nat once by one:\n%s", got, want)
	}
	if last.Trainings != whole.Trainings {
		t.Errorf("%d machines, expected %d", last.Trainings, whole.Trainings)
	}
	none, err := again("", 0)
	if err != nil || none.DotProducts != 0 || tablesOf(t, none) != tablesOf(t, whole) {
		t.Errorf("with everything kept: %v, %d dot products", err, none.DotProducts)
	}
}

func tablesOf(t *testing.T, report *Report) string {
	t.Helper()
	var lines []string
	for _, table := range report.Tables {
		rows, err := table.Objects()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			lines = append(lines, string(row))
		}
	}
	return strings.Join(append(lines, report.Notes...), "\n")
}

func TestLaffertyLebanonRefuses(t *testing.T) {
	data := standIns(t)
	for want, args := range map[string][]string{
		"-splits 0":   {"-splits", "0"},
		"-folds 1":    {"-folds", "1"},
		"-sizes 3":    {"-sizes", "3"},
		"-modapte":    {"-modapte", "half"},
		"-min-df 0":   {"-min-df", "0"},
		"too large":   {"-tables", "1", "-sizes", "358"},
		"no such":     {"-stop-words", filepath.Join(data, "nowhere")},
		"of memory":   {"-tables", "1"},
		"of memory, ": {"-tables", "5", "-sizes", "20"},
	} {
		r := &Run{Data: data, Seed: 1}
		if strings.HasPrefix(want, "of memory") {
			r.MemoryBytes = 1 << 18
		}
		_, err := setup(t, laffertyLebanon, args...)(context.Background(), r)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(want, ", ")) {
			t.Errorf("%v: %v, expected an error with %q", args, err, want)
		}
		var usage UsageError
		if errors.As(err, &usage) != strings.HasPrefix(want, "-") {
			t.Errorf("%v: %T", args, err)
		}
	}
	writeText(t, data, WebKB, "all.tsv.gz", []string{"student|cornell\ta b", "dean|cornell\tc d"})
	_, err := setup(t, laffertyLebanon, "-tables", "1")(context.Background(), &Run{Data: data})
	if err == nil || !strings.Contains(err.Error(), `:2: class "dean", expected one of course`) {
		t.Errorf("a class that isn't known: %v", err)
	}
	var missing *MissingError
	if _, err := setup(t, laffertyLebanon)(context.Background(), &Run{Data: t.TempDir()}); !errors.As(err, &missing) {
		t.Errorf("no data: %v", err)
	}
}

// The choices by hand: two scales, two C, two splits, ten test documents.
func TestLLChoices(t *testing.T) {
	c := &llCurves{p: &llProtocol{scales: Numbers{1, 2}, c: Numbers{1, 10}, splits: 2}}
	results := []*CurveResult{
		{Test: [][][][]int{{{{3, 1}}, {{3, 4}}}}, Folds: [][][][]int{{{{5, 2}}, {{1, 1}}}}}, // scale 1: of split 1, 3 and 1 errors at C 1 and 10; of split 2, 3 and 4
		{Test: [][][][]int{{{{2, 2}}, {{4, 2}}}}, Folds: [][][][]int{{{{2, 3}}, {{1, 0}}}}},
	}
	best := c.best(results, llGaussian, 0, 0, 10)
	if best.Scale != 2 || best.C != 10 || best.Errors[0] != 0.2 || best.Errors[1] != 0.2 { // means 3, 2.5; 3, 2
		t.Errorf("best on the test sets: %+v", best)
	}
	// Split 1: 2 errors for scale 1 with C 10 and for scale 2 with C 1, of which the latter has less C; split 2: none for scale 2 with C 10.
	if honest := c.byFolds(results, 0, 0, 10); honest.Errors[0] != 0.2 || honest.Errors[1] != 0.2 {
		t.Errorf("by folds: %+v", honest)
	}
	results[1].Folds[0][1][0][1] = 1 // now all are equal: C 1, scale 2
	if honest := c.byFolds(results, 0, 0, 10); honest.Errors[1] != 0.4 {
		t.Errorf("by folds, all equal: %+v", honest)
	}
}

func TestLLRow(t *testing.T) {
	row := func(linear, gaussian, diffusion []float64) *llRow {
		return &llRow{choices: [3]*llChoice{{Errors: linear}, {Errors: gaussian}, {Errors: diffusion}}}
	}
	clear := row([]float64{0.30, 0.33, 0.31}, []float64{0.29, 0.32, 0.31}, []float64{0.10, 0.12, 0.13})
	if lower, clearly := clear.lower(); !lower || !clearly || clear.lowest() != "diffusion *" {
		t.Errorf("clearly lower: %v, %v, %s", lower, clearly, clear.lowest())
	}
	chance := row([]float64{0.30, 0.33, 0.31}, []float64{0.1, 0.32, 0.31}, []float64{0.20, 0.12, 0.13})
	if lower, clearly := chance.lower(); !lower || clearly || chance.lowest() != "diffusion" {
		t.Errorf("lower by chance: %v, %v, %s", lower, clearly, chance.lowest())
	}
	same := row([]float64{0.25, 0.5}, []float64{0.75, 0.5}, []float64{0.5, 0.25})
	if lower, _ := same.lower(); lower || same.lowest() != "linear, diffusion" {
		t.Errorf("equal: %v, %s", lower, same.lowest())
	}
	above := row([]float64{0.30, 0.33, 0.31}, []float64{0.1, 0.02, 0.11}, []float64{0.20, 0.12, 0.13})
	if lower, _ := above.lower(); lower || above.lowest() != "Gaussian" {
		t.Errorf("above: %v, %s", lower, above.lowest())
	}
}
