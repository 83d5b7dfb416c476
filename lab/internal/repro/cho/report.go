package cho

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/lab/internal/repro"
)

// table31 is Table 3.1 of the thesis, errors in per cent: the arc-cosine kernel of degree 0, the same
// biased and smoothed, the Gaussian and the linear kernel. Its rows of ISOLET and Gisette have no
// sets here.
var table31 = map[string][5]float64{
	"mnist-rand":       {17.16, 16.49, 17.03, 14.80, 17.31},
	"mnist-image":      {23.81, 23.77, 24.09, 22.80, 25.07},
	"rectangles":       {13.08, 2.48, 11.84, 2.11, 30.30},
	"rectangles-image": {22.66, 23.59, 24.48, 23.42, 49.69},
	"convex":           {20.05, 20.12, 19.60, 18.76, 45.67},
	"20news-random":    {16.28, 16.25, 15.73, 15.75, 15.90},
}

// columns31 are its columns, by the names of the kernels here.
var columns31 = map[string]int{
	"degree 0": 0, "degree 0, 1 layer": 0, bestBias: 1, bestSigma: 2, "Gaussian": 3, "linear": 4,
}

// table22 are degrees 1 and 2 in Table 2.2, of the rows in which Table 3.1 has the other three numbers and so says
// which these are. 24.6 and 19.9 have one digit in our copy. Its row of MNIST has 1.68, 1.7, 4.15, 1.63 and 1.31,
// and nothing says which is whose.
var table22 = map[string][2]float64{
	"mnist-rand": {17.56, 16.87}, "mnist-image": {24.76, 24.36}, "rectangles-image": {24.6, 24.94},
	"convex": {19.9, 19.53}, "20news-random": {15.88, 15.63},
}

// columns22 are its columns, by the names of the kernels here.
var columns22 = map[string]int{"degree 1": 0, "degree 1, 1 layer": 0, "degree 2": 1, "degree 2, 1 layer": 1}

// captions are what the captions of figures say of one layer of degree 0, 1 and 2 and of layers of degree 1 on
// them, and the best that others had; of Figure 4.6 §4.3.1 does.
var captions = map[string]string{
	"mnist-deslanted": "Figure 4.6: the least 1.38 %; before, 1.22 % of polynomial machines of degree 9",
	"rectangles-image": "Figure 4.7: from 22.36 to 25.64 %; before, 24.04 % of Gaussian machines and 22.50 % of deep " +
		"belief nets",
	"convex": "Figure 4.8: from 17.15 to 20.51 %; before, 19.13 % of Gaussian machines and 18.63 % of deep belief nets",
	"mnist-rand": "Figure 4.9: from 16.14 to 21.27 %; before, 14.58 % of Gaussian machines and 6.73 % of deep belief " +
		"nets",
	"mnist-image": "Figure 4.10: from 23.03 to 27.58 %; before, 22.61 % of Gaussian machines and 16.31 % of deep " +
		"belief nets",
}

// support43 are the support vectors of the best machines with arc-cosine kernels, §4.3.1.
var support43 = map[string]int{"rectangles-image": 9600, "convex": 5094}

// printed returns an error in per cent that stands in the thesis; NaN where there is none.
func printed(set, kernel string) float64 {
	if k, ok := columns31[kernel]; ok && table31[set] != [5]float64{} {
		return table31[set][k]
	}
	if k, ok := columns22[kernel]; ok && table22[set] != [2]float64{} {
		return table22[set][k]
	}
	return math.NaN()
}

// newTable is the form of a table.
func newTable(set string) *repro.Table {
	return &repro.Table{Key: set, Title: set + ": error in %", Columns: []repro.Column{
		repro.Left("family", "family"), repro.Left("kernel", "kernel"),
		repro.Right("scale", "scale"), repro.Right("c", "C"),
		repro.Right("validation_percent", "validation"), repro.Right("test_percent", "test"),
		repro.Right("printed_percent", "printed"), repro.Right("ln", "|ln|"), repro.Right("documents", "of"),
		repro.Right("p", "p"), repro.Right("support_vectors", "support vectors"),
	}}
}

// fill fills the table, the notes and the figures with the rows that are measured.
func (m *measurement) fill(rows []row, chosen []tried, outcomes []repro.Outcome) {
	name := m.set.name
	base := max(0, slices.IndexFunc(rows, func(r row) bool { return r.shown == "Gaussian" }))
	if len(rows) > 1 {
		m.table.Title += "; p of a sign test against " + rows[base].shown
	}
	for i, row := range rows {
		c, t := &outcomes[i], &chosen[i]
		scale, p, known := repro.Empty(), repro.Empty(), math.NaN()
		if t.scale > 0 {
			scale = repro.Number(t.scale)
		}
		if i != base {
			p = repro.Probability(against(c.Right, outcomes[base].Right).P)
		}
		if m.p.train == 0 {
			known = printed(name, row.shown)
		}
		ln := math.Abs(math.Log(c.Percent() / known))
		if !math.IsNaN(ln) {
			m.p.gaps = append(m.p.gaps, ln)
		}
		m.table.Add(repro.Word(row.family), repro.Word(row.shown), scale, repro.Number(t.c),
			repro.Value(100*t.failed, 2), repro.Value(c.Percent(), 2), repro.Value(known, 2), repro.Value(ln, 3),
			repro.Count(len(c.Right)), p, repro.Count(c.Support))
	}
	for _, family := range families {
		panel := &repro.Panel{Title: name + ", " + family, X: axes[family], Y: "test error in %"}
		for i, row := range rows {
			if !slices.Contains(row.curveFamilies(), family) {
				continue
			}
			k := slices.IndexFunc(panel.Curves, func(c repro.Curve) bool { return c.Name == row.curve })
			if k < 0 {
				k, panel.Curves = len(panel.Curves), append(panel.Curves, repro.Curve{Name: row.curve})
			}
			panel.Curves[k].Points = append(panel.Curves[k].Points, repro.Point{X: row.x, Y: outcomes[i].Percent()})
		}
		// A point is no curve.
		panel.Curves = slices.DeleteFunc(panel.Curves, func(c repro.Curve) bool { return len(c.Points) < 2 })
		for _, c := range panel.Curves {
			m.report.Notes = append(m.report.Notes, note(name, family, &c))
		}
		if len(panel.Curves) > 0 {
			f := &repro.Figure{Key: name + "-" + family, Panels: []*repro.Panel{panel}}
			m.report.Figures = append(m.report.Figures, f)
		}
	}
	m.noteChosen(rows, chosen, outcomes, composed, mixed)
	m.noteChosen(rows, chosen, outcomes, product, factors)
	m.noteRange(rows, outcomes)
}

// against tests whether one kernel is right where another is wrong more often than the other way
// round.
func against(a, b string) repro.Test {
	only := [2]int{}
	for i := range a {
		if a[i] != b[i] {
			only[a[i]-'0']++
		}
	}
	return repro.SignTest(only[1], only[0])
}

// noteChosen says which kernel of some families did best on the validation set, the first of the
// best, as the figures of the thesis do.
func (m *measurement) noteChosen(rows []row, chosen []tried, outcomes []repro.Outcome, of ...string) {
	best, n := -1, 0
	for i, row := range rows {
		if !slices.Contains(of, row.family) {
			continue
		}
		if n++; best < 0 || chosen[i].failed < chosen[best].failed {
			best = i
		}
	}
	if n > 1 && !math.IsNaN(chosen[best].failed) {
		text := fmt.Sprintf("%s, %s: by the validation set it would be %s, test error %.2f %%", m.set.name,
			strings.Join(of, " and "), rows[best].shown, outcomes[best].Percent())
		if n := support43[m.set.name]; n > 0 && m.p.train == 0 && of[0] == composed {
			text += fmt.Sprintf(", %d support vectors; printed in §4.3.1: %d", outcomes[best].Support, n)
		}
		m.report.Notes = append(m.report.Notes, text)
	}
}

// noteRange says between which errors the kernels of Figures 4.6 to 4.10 are.
func (m *measurement) noteRange(rows []row, outcomes []repro.Outcome) {
	low, high, n := math.Inf(1), 0., 0
	for i, row := range rows {
		if row.family == mixed || row.family == composed && (row.x == 1 || row.curve == "degree 1") {
			low, high, n = min(low, outcomes[i].Percent()), max(high, outcomes[i].Percent()), n+1
		}
	}
	if n < 2 {
		return
	}
	text := fmt.Sprintf("%s: one layer, and layers of degree 1 on it: from %.2f to %.2f %%", m.set.name, low, high)
	if of, ok := captions[m.set.name]; ok && m.p.train == 0 {
		text += "; printed in " + of
	}
	m.report.Notes = append(m.report.Notes, text)
}

// note says where a curve has its least error, and the errors on the way.
func note(set, family string, c *repro.Curve) string {
	var errors []string
	best, first, last := c.Points[0], c.Points[0], c.Points[len(c.Points)-1]
	for _, p := range c.Points {
		errors = append(errors, fmt.Sprintf("%.2f", p.Y))
		if p.Y < best.Y {
			best = p
		}
	}
	name := set + ", " + family
	if c.Name != family { // a family of one curve needs no other name
		name += ", " + c.Name
	}
	return fmt.Sprintf("%s: test error %s %% for %s from %v to %v; the least at %v", name, strings.Join(errors, ", "),
		axes[family], first.X, last.X, best.X)
}
