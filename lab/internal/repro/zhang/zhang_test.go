package zhang

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// From text to tables, at once by one worker and in pieces by two: the same figures, which fit each
// other, and nothing computed twice.
func TestZhangChenLee(t *testing.T) {
	data, ctx := reprotest.Groups(t), t.Context()
	whole := musttest.Get(reprotest.Do(ctx, t, Experiment, &repro.Run{Data: data, Workers: 1}, "-c", "10"))(t)
	if len(whole.Notes) != 4 || !strings.Contains(whole.Notes[0], "webkb, tf: NGD is better than ") {
		t.Errorf("notes %q", whole.Notes)
	}
	// four of six universities; the test set
	for key, documents := range map[string]float64{"webkb": 160, "20news-bydate": 120} {
		rows := reprotest.Rows(t, whole, key)
		if len(rows) != 10 {
			t.Fatalf("%s: %d rows, expected 5 kernels with 2 weightings", key, len(rows))
		}
		for i, row := range rows {
			ngd, own := rows[i/5*5+4]["accuracy_percent"].(float64), row["accuracy_percent"].(float64)
			if chance := 100. / 3; !(own > chance+10) {
				t.Errorf("%s, %v: %v %%, no better than chance", key, row["kernel"], own)
			}
			if key == "webkb" { // 40 pages of each
				mean := 0.
				for _, u := range universities {
					mean += row[u+"_percent"].(float64) / 4
				}
				if d := mean - own; !(d < 1e-9 && d > -1e-9) {
					t.Errorf("%v: %v %% is not the mean of the universities, %v %%", row["kernel"], own, mean)
				}
			}
			if i%5 == 4 {
				if row["kernel"] != "NGD" || row["z"] != nil {
					t.Errorf("%s: row %d is %v", key, i, row)
				}
				continue
			}
			a, b := row["ngd_alone"].(float64), row["kernel_alone"].(float64)
			if d := (a-b)/documents*100 - (ngd - own); !(d < 1e-9 && d > -1e-9) {
				t.Errorf("%s, %v: %v and %v documents apart, but %v %% and %v %%", key, row["kernel"], a, b, ngd, own)
			}
			if z := repro.SignTest(int(a), int(b)).Statistic; row["z"] != z {
				t.Errorf("%s, %v: z = %v, expected %v", key, row["kernel"], row["z"], z)
			}
		}
	}

	partial := reprotest.Interrupt(t, Experiment, data, []string{"-c", "10"}, "20news-bydate", 0)
	if len(partial.Tables) != 2 {
		t.Errorf("interrupted: %d tables", len(partial.Tables))
	}
	two := musttest.Get(reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: data, Seed: 1, Workers: 2}, "-c",
		"10"))(t)
	if reprotest.Tables(t, two) != reprotest.Tables(t, whole) {
		t.Errorf("by two workers:\n%s\nby one:\n%s", reprotest.Tables(t, two), reprotest.Tables(t, whole))
	}
}

// One university is the test set, all others and misc are for training, and both parts number
// classes alike.
func TestLeaveOneUniversityOut(t *testing.T) {
	r := &repro.Run{Data: reprotest.Groups(t)}
	z := &protocol{text: repro.Preparation{MinDF: 1, MinLetters: 1}}
	divided, err := z.webkb(t.Context(), r)
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

// The accuracy of several divisions is the mean of theirs, whatever their sizes.
func TestAccuracyIsTheMeanOfDivisions(t *testing.T) {
	for want, rights := range map[string][]string{
		"75.00":                    {"1110"},
		"100.00 50.00 75.00 60.00": {"1", "1100"},
	} {
		var got []string
		for _, cell := range accuracies(rights) {
			got = append(got, cell.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v: %v, expected %s", rights, got, want)
		}
	}
}

// By Rainbow's options SMART's stop words are left out of 20 Newsgroups and not of WebKB; what a
// flag names is for both.
func TestStopWords(t *testing.T) {
	data, ctx := reprotest.Groups(t), t.Context()
	reprotest.WriteText(t, data, repro.WebKB, repro.WebKB.Files[0], []string{
		"course|cornell\tthe", "course|texas\tthe", "course|washington\tthe", "course|wisconsin\tthe mole"})
	reprotest.WriteText(t, data, repro.Newsgroups, repro.Newsgroups.Files[0], []string{"a\tthe mole doesn't"})
	r := &repro.Run{Data: data}
	for stop, want := range map[string][2]int{rainbow: {2, 2}, repro.NoWords: {2, 4}, repro.SMART: {1, 2}} {
		p := &protocol{text: repro.Preparation{MinDF: 1, MinLetters: 1, StopWords: stop}}
		pages, err := p.webkb(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		posts, err := p.newsgroups(ctx, r)
		if err != nil {
			t.Fatal(err)
		}
		got := [2]int{len(pages[3].test.Documents.Terms), len(posts[0].train.Documents.Terms)}
		if got != want {
			t.Errorf("%s: %d terms of WebKB and of 20 Newsgroups, expected %d", stop, got, want)
		}
	}
}

func rowText(terms []uint32, values []float32) string { return fmt.Sprint(terms, values) }

func TestZhangChenLeeRefuses(t *testing.T) {
	data := reprotest.Groups(t)
	reprotest.WriteText(t, data, repro.WebKB, repro.WebKB.Files[0], []string{"student|texas\ta b", "student\ta b"})
	for want, args := range map[string][]string{
		"-c 0":       {"-c", "0"},
		"-min-df 0":  {"-min-df", "0"},
		":2: ":       {"-sets", "webkb"},
		"no such":    {"-sets", "20news-bydate", "-stop-words", filepath.Join(data, "nowhere")},
		"of memory,": {"-sets", "20news-bydate", "-min-df", "1"},
	} {
		r := &repro.Run{Data: data}
		if want == "of memory," {
			r.MemoryBytes = 1 << 20
		}
		if _, err := reprotest.Do(t.Context(), t, Experiment, r, args...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
	reprotest.WriteText(t, data, repro.WebKB, repro.WebKB.Files[0],
		[]string{"student|texas\ta b", "course|cornell\ta b"})
	if _, err := reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: data}, "-sets", "webkb"); err == nil ||
		!strings.Contains(err.Error(), "no pages of washington") {
		t.Errorf("%v, expected washington to be missing", err)
	}
}
