package repro

import (
	"fmt"
	"slices"
	"strings"
)

// choPrinted are errors in per cent that are known to stand in the thesis, by set and specification; a figure that isn't known with certainty isn't here.
var choPrinted = map[string]float64{
	"mnist arccos:n=1,layers=1": 1.63, // one against one, trained on 50,000 digits with the validation set put back
}

// choTable is the form of a table.
func choTable(set string) *Table {
	return &Table{Key: set, Title: set + ": error in %", Columns: []Column{
		{Key: "family", Title: "family", Left: true}, {Key: "kernel", Title: "kernel", Left: true}, {Key: "gamma", Title: "gamma"}, {Key: "c", Title: "C"},
		{Key: "validation_percent", Title: "validation"}, {Key: "test_percent", Title: "test"}, {Key: "printed_percent", Title: "printed"},
		{Key: "documents", Title: "of"}, {Key: "support_vectors", Title: "support vectors"},
	}}
}

// percent is the error.
func (c *choCell) percent() float64 { return 100 * float64(c.Wrong) / float64(c.Documents) }

// tell fills the table, the notes and the figures with the rows that are measured.
func (b *choBase) tell(rows []choKernel, cells []choCell, t *Table) {
	for i, row := range rows {
		c := &cells[i]
		gamma, printed := Empty(), Empty()
		if c.scale > 0 {
			gamma = Cell{fmt.Sprint(c.scale), c.scale}
		}
		if v, ok := choPrinted[b.set.name+" "+row.specs[0]]; ok && b.p.train == 0 && b.p.test == 0 {
			printed = Value(v, 2)
		}
		t.Add(Word(row.family), Word(row.shown), gamma, Cell{fmt.Sprint(c.c), c.c}, Value(100*c.failed, 2), Value(c.percent(), 2), printed, Count(c.Documents), Count(c.Support))
	}
	for _, family := range choFamilies {
		panel := &Panel{Title: b.set.name + ", " + family, X: choFamilyTitles[family], Y: "test error in %"}
		for i, row := range rows {
			if row.family != family || row.curve == "" {
				continue
			}
			k := slices.IndexFunc(panel.Curves, func(c Curve) bool { return c.Name == row.curve })
			if k < 0 {
				k, panel.Curves = len(panel.Curves), append(panel.Curves, Curve{Name: row.curve})
				if first := b.first(rows, cells, family, row.curve); first != nil {
					panel.Curves[k].Points = append(panel.Curves[k].Points, *first)
				}
			}
			panel.Curves[k].Points = append(panel.Curves[k].Points, Point{X: row.x, Y: cells[i].percent()})
		}
		panel.Curves = slices.DeleteFunc(panel.Curves, func(c Curve) bool { return len(c.Points) < 2 }) // a point is no curve
		for _, c := range panel.Curves {
			b.report.Notes = append(b.report.Notes, choNote(t.Key, family, &c))
		}
		if len(panel.Curves) > 0 {
			b.report.Figures = append(b.report.Figures, &Figure{Key: b.set.name + "-" + family, Panels: []*Panel{panel}})
		}
	}
}

// first is the begin of a curve whose own rows begin with two layers or factors: the single layer, where it was measured among the composed ones.
func (b *choBase) first(rows []choKernel, cells []choCell, family, curve string) *Point {
	if family != choMixed && family != choProduct {
		return nil
	}
	for i, row := range rows {
		if row.family == choComposed && row.curve == curve && row.x == 1 {
			return &Point{X: 1, Y: cells[i].percent()}
		}
	}
	return nil
}

// choNote says where a curve has its least error, and the errors on the way.
func choNote(set, family string, c *Curve) string {
	var errors []string
	best := c.Points[0]
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
	return fmt.Sprintf("%s: test error %s %% for %s from %v to %v; the least at %v", name, strings.Join(errors, ", "), choFamilyTitles[family], c.Points[0].X, c.Points[len(c.Points)-1].X, best.X)
}
