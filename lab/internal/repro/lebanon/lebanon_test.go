package lebanon

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
)

// From text to tables and figures, by one worker and by two: the same figures, no worse than chance.
func TestLebanonLafferty(t *testing.T) {
	args := []string{"-sets", "webkb", "-sizes", "12,24", "-splits", "3", "-c", "1,10", "-folds", "2"}
	data := reprotest.Topics(t)
	run := func(workers int, more ...string) *repro.Report {
		report := musttest.Get(reprotest.Do(t.Context(), t, Experiment, &repro.Run{Data: data, Workers: workers, Plot: true},
			append(more, args...)...))(t)
		return report
	}
	whole := run(1)
	rows := reprotest.Rows(t, whole, "webkb")
	if len(rows) != 8 {
		t.Fatalf("%d rows, expected 4 classes with 2 sizes", len(rows))
	}
	for _, row := range rows {
		for _, m := range methods {
			mean := row["error_"+strings.ToLower(m.name)].(map[string]any)["mean"].(float64)
			if !(mean < 0.4) {
				t.Errorf("%v, %s: error %v, no better than chance", row["class"], m.name, mean)
			}
		}
	}
	if got := reprotest.Tables(t, run(2)); got != reprotest.Tables(t, whole) {
		t.Errorf("two workers give other figures:\n%s", got)
	}
	if len(whole.Figures) != 5 || len(whole.Notes) != 4 {
		t.Errorf("%d figures, notes %q, expected one of each class, the toys, and four notes", len(whole.Figures),
			whole.Notes)
	}
	for _, f := range whole.Figures {
		if err := f.Save(filepath.Join(t.TempDir(), f.Key+".svg")); err != nil {
			t.Error(err)
		}
	}
}

// Training and test sets of a split are half of the class, and don't meet.
func TestSplit(t *testing.T) {
	k := &task{name: "k", positive: make([]bool, 40)}
	for i := range 15 {
		k.positive[2*i] = true
	}
	s := k.split(1, 0)
	seen := map[int]bool{}
	for i, doc := range s.train(9) {
		if seen[doc] = true; k.positive[doc] != (i < 5) {
			t.Errorf("document %d at place %d", doc, i)
		}
	}
	test := s.test(9)
	if len(test) != 31 {
		t.Errorf("%d documents for testing, expected 31", len(test))
	}
	for _, doc := range test {
		if seen[doc] {
			t.Errorf("document %d is trained and tested on", doc)
		}
	}
}

// The boundary of a plane through the origin lies where its function is 0.
func TestToys(t *testing.T) {
	f := musttest.Get(toyFigure(t.Context(), 1))(t)
	for _, p := range f.Panels {
		for _, c := range p.Curves {
			for _, at := range c.Points {
				if !(at.X >= -1e-9 && at.X <= 1+1e-9 && at.Y >= -1e-9 && at.Y <= math.Sqrt(3)/2+1e-9) {
					t.Fatalf("%s, %s: a point at %v, %v, outside of the triangle", p.Title, c.Name, at.X, at.Y)
				}
			}
		}
		if len(p.Curves[3].Points) == 0 {
			t.Errorf("%s: no spherical boundary", p.Title)
		}
	}
}
