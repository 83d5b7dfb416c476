package cho

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/cmd/grambench/internal/repro"
)

// printed are errors in per cent that are known to stand in the thesis, by set and kernel.
// A figure that isn't known with certainty isn't here.
var printed = map[string]float64{
	// Table 2.2, one against one, C by 50,000 digits, then trained on all 60,000.
	"mnist degree 1":          1.63,
	"mnist degree 1, 1 layer": 1.63,
	// Table 3.1.
	"mnist-rand linear":            17.31,
	"mnist-rand Gaussian":          14.80,
	"mnist-rand degree 0":          17.16,
	"mnist-rand degree 0, 1 layer": 17.16,
}

// newTable is the form of a table.
func newTable(set string) *repro.Table {
	return &repro.Table{Key: set, Title: set + ": error in %", Columns: []repro.Column{
		repro.Left("family", "family"), repro.Left("kernel", "kernel"),
		repro.Right("gamma", "gamma"), repro.Right("c", "C"),
		repro.Right("validation_percent", "validation"), repro.Right("test_percent", "test"),
		repro.Right("printed_percent", "printed"), repro.Right("documents", "of"),
		repro.Right("support_vectors", "support vectors"),
	}}
}

// fill fills the table, the notes and the figures with the rows that are measured.
func (m *measurement) fill(rows []row, chosen []tried, cells []cell) {
	name := m.set.name
	for i, row := range rows {
		c, t := &cells[i], &chosen[i]
		gamma, known := repro.Empty(), repro.Empty()
		if t.scale > 0 {
			gamma = repro.Number(t.scale)
		}
		if v, ok := printed[name+" "+row.shown]; ok && m.p.train == 0 && m.p.test == 0 {
			known = repro.Value(v, 2)
		}
		m.table.Add(repro.Word(row.family), repro.Word(row.shown), gamma, repro.Number(t.c),
			repro.Value(100*t.failed, 2), repro.Value(c.percent(), 2), known, repro.Count(c.Documents),
			repro.Count(c.Support))
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
			panel.Curves[k].Points = append(panel.Curves[k].Points, repro.Point{X: row.x, Y: cells[i].percent()})
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
