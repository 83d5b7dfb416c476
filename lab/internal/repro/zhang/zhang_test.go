package zhang

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// The test runs the experiment from text to tables. The figures are consistent and better than
// chance.
func TestZhangChenLee(t *testing.T) {
	whole := reprotest.CheckSameReport(t, Experiment, reprotest.WriteGroupCorpora(t), "c=10")
	if len(whole.Notes) != 4 || !strings.Contains(whole.Notes[0], "webkb, tf: NGD is better than ") {
		t.Errorf("notes %q", whole.Notes)
	}
	for key, documents := range map[string]float64{"webkb": 160, "20news-bydate": 120} {
		rows := reprotest.TableRows(t, whole, key)
		if len(rows) != 10 {
			t.Fatalf("%s: %d rows, expected 5 kernels with 2 weightings", key, len(rows))
		}
		for i, row := range rows {
			number := func(title string) float64 { return reprotest.ParseNumber(t, row[title]) }
			title := "accuracy"
			if key == "webkb" {
				title = "mean"
				mean := 0.
				for _, u := range universities {
					mean += number(u) / 4
				}
				if !(math.Abs(mean-number("mean")) <= 0.01) { // rounding to two decimals on both sides
					t.Errorf("%s: %v %% is not the mean of the universities", row["kernel"], mean)
				}
			}
			if chance := 100. / 3; !(number(title) > chance+10) {
				t.Errorf("%s, %s: %s %%, no better than chance", key, row["kernel"], row[title])
			}
			if (i%5 == 4) != (row["kernel"] == "NGD") || (i%5 == 4) != (row["z of NGD"] == "") {
				t.Errorf("%s: row %d is %v", key, i, row)
			}
			if i%5 == 4 {
				continue
			}
			a, b := number("only NGD right"), number("only it right")
			ngd := reprotest.ParseNumber(t, rows[i/5*5+4][title])
			if d := (a-b)/documents*100 - (ngd - number(title)); !(math.Abs(d) <= 0.02) {
				t.Errorf("%s, %s: %v and %v documents apart, but %v and %v %%", key, row["kernel"], a, b, ngd, number(title))
			}
			if z := repro.SignTest(int(a), int(b)).Statistic; row["z of NGD"] != repro.FormatFixed(z, 2) {
				t.Errorf("%s, %s: z = %s, expected %v", key, row["kernel"], row["z of NGD"], z)
			}
		}
	}
}

// The pages of one university are the test set. All other pages, including misc, are training
// documents. Both sets number classes alike.
func TestLeaveOneUniversityOut(t *testing.T) {
	r := &repro.Env{DataDir: reprotest.WriteGroupCorpora(t)}
	p := &settings{TermSettings: repro.TermSettings{MinDF: 1}}
	divided, err := p.read(t.Context(), r, repro.WebKB.Name)
	if err != nil || len(divided) != 4 {
		t.Fatalf("%d divisions, %v", len(divided), err)
	}
	seen := map[string]int{}
	for _, d := range divided {
		if d.train.Documents.Rows() != 200 || d.test.Documents.Rows() != 40 || len(d.train.Classes) != 4 ||
			len(d.test.Classes) != 4 {
			t.Errorf("%s: %d and %d pages of %v", d.name, d.train.Documents.Rows(), d.test.Documents.Rows(),
				d.train.Classes)
		}
		in := map[string]bool{}
		for i := range d.train.Documents.Rows() {
			in[rowText(d.train.Documents.Row(i))] = true
		}
		for i := range d.test.Documents.Rows() {
			text := rowText(d.test.Documents.Row(i))
			seen[text]++
			if in[text] {
				t.Errorf("%s: page %d is in both parts", d.name, i)
			}
		}
	}
	if len(seen) != 160 {
		t.Errorf("%d different test pages, expected 160", len(seen))
	}
}

// The accuracy for several splits is the mean of the accuracies, regardless of the sizes of the
// splits.
func TestAccuracyIsTheMeanOfDivisions(t *testing.T) {
	for want, rights := range map[string][]string{
		"75.00":                    {"1110"},
		"100.00 50.00 75.00 60.00": {"1", "1100"},
	} {
		if got := strings.Join(accuracies(rights), " "); got != want {
			t.Errorf("%v: %s, expected %s", rights, got, want)
		}
	}
}

// With Rainbow's stop words, SMART's stop words are removed from 20 Newsgroups but not from WebKB.
// Other settings apply to both corpora.
func TestStopWords(t *testing.T) {
	data, ctx := reprotest.WriteGroupCorpora(t), t.Context()
	reprotest.WriteText(t, data, repro.WebKB, repro.WebKB.Files[0], []string{
		"course|cornell\tthe", "course|texas\tthe", "course|washington\tthe", "course|wisconsin\tthe mole"})
	reprotest.WriteText(t, data, repro.Newsgroups, repro.Newsgroups.Files[0], []string{"a\tthe mole doesn't"})
	r := &repro.Env{DataDir: data}
	for stop, want := range map[repro.StopWords][2]int{repro.RainbowStopWords: {2, 2}, repro.NoStopWords: {2, 4},
		repro.SMARTStopWords: {1, 2}} {
		p := &settings{TermSettings: repro.TermSettings{MinDF: 1, StopWords: stop}}
		pages := musttest.Get(p.read(ctx, r, repro.WebKB.Name))(t)
		posts := musttest.Get(p.read(ctx, r, repro.Newsgroups.Name))(t)
		got := [2]int{len(pages[3].test.Documents.Terms), len(posts[0].train.Documents.Terms)}
		if got != want {
			t.Errorf("%s: %d terms of WebKB and of 20 Newsgroups, expected %d", stop, got, want)
		}
	}
}

func rowText(terms []uint32, values []float32) string { return fmt.Sprint(terms, values) }

func TestZhangChenLeeRefuses(t *testing.T) {
	data := reprotest.WriteGroupCorpora(t)
	reprotest.WriteText(t, data, repro.WebKB, repro.WebKB.Files[0], []string{"student|texas\ta b", "student\ta b"})
	reprotest.CheckErrors(t, Experiment, data, map[string][]string{
		"c must be a number": {"c=0"}, "min-df must be an integer": {"min-df=0"}, "sets=reuters": {"sets=reuters"},
		":2: ":      {"sets=webkb"},
		"of memory": {"sets=20news-bydate"},
	})
	reprotest.WriteText(t, data, repro.WebKB, repro.WebKB.Files[0],
		[]string{"student|texas\ta b", "course|cornell\ta b"})
	reprotest.CheckErrors(t, Experiment, data, map[string][]string{"must have pages of washington": {"sets=webkb"}})
}
