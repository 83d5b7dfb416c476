package repro

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// significant is the paper's level.
const significant = 0.05

// llTitles are the titles of Tables 1 to 4.
var llTitles = map[string]string{
	"1": "Table 1: WebKB, one class against the rest, test error",
	"2": "Table 2: WebKB, a class against student, test error",
	"3": "Table 3: Reuters-21578, one topic against the rest, test error",
	"4": "Table 4: Reuters-21578, a topic against earn, test error",
}

// llFigures are the tasks whose learning curves the paper draws (Figures 3 to 6), by the key of the figure.
var llFigures = []struct{ key, table, class string }{
	{"webkb-course", "1", "course"}, {"webkb-course-student", "2", "course"}, {"reuters-acq", "3", "acq"}, {"reuters-moneyfx", "3", "moneyFx"},
	{"reuters-moneyfx-earn", "4", "moneyFx"}, {"reuters-grain-earn", "4", "grain"},
}

// llLower is the name of a kernel in JSON.
func llLower(k int) string { return strings.ToLower(llKernels[k].name) }

// llColumns are the columns of Tables 1 to 4; folds says whether the honest protocol is there.
func llColumns(folds bool) []Column {
	columns := []Column{{Key: "class", Title: "class", Left: true}, {Key: "against", Data: true}, {Key: "features", Title: "features", Left: true}, {Key: "training_documents", Title: "L"}}
	for k := range llKernels {
		columns = append(columns, Column{Key: llLower(k), Title: llKernels[k].name})
	}
	columns = append(columns, Column{Key: "lowest", Title: "lowest", Left: true}, Column{Key: "p_linear", Title: "p lin"}, Column{Key: "p_gaussian", Title: "p Gau"})
	for k := range llKernels {
		columns = append(columns, Column{Key: llLower(k) + "_printed", Title: "printed " + llKernels[k].name[:3]})
	}
	for k := range llKernels {
		if llKernels[k].scaled {
			columns = append(columns, Column{Key: llLower(k) + "_scale", Data: true})
		}
		columns = append(columns, Column{Key: llLower(k) + "_c", Data: true})
	}
	if folds {
		for k := range llKernels {
			columns = append(columns, Column{Key: llLower(k) + "_by_folds", Title: "by folds: " + llKernels[k].name[:3]})
		}
		columns = append(columns, Column{Key: "lowest_by_folds", Title: "lowest", Left: true}, Column{Key: "p_linear_by_folds", Title: "p lin"}, Column{Key: "p_gaussian_by_folds", Title: "p Gau"})
	}
	return columns
}

// llRow is a row of a table under one protocol: the choices by kernel, nil where one isn't complete.
type llRow struct {
	name    string // for notes, such as "course, L = 40"
	size    int
	choices [3]*llChoice
}

// tests returns the paired t tests of diffusion against linear and Gaussian; NaN where one isn't complete.
func (r *llRow) tests() (out [2]Test) {
	for i, k := range []int{llLinear, llGaussian} {
		out[i] = Test{math.NaN(), math.NaN()}
		if r.choices[k] != nil && r.choices[llDiffusion] != nil {
			out[i] = PairedT(r.choices[llDiffusion].Errors, r.choices[k].Errors)
		}
	}
	return out
}

// lower says whether diffusion is below both others, and whether it is so significantly.
func (r *llRow) lower() (lower, clearly bool) {
	tests := r.tests()
	lower = tests[0].Statistic < 0 && tests[1].Statistic < 0
	return lower, lower && tests[0].P < significant && tests[1].P < significant
}

// lowest names the kernels with the least mean, with a star where it is diffusion alone by a clear margin; empty unless all are complete.
func (r *llRow) lowest() string {
	var names []string
	least := math.Inf(1)
	for k, choice := range r.choices {
		if choice == nil {
			return ""
		}
		mean := Measure(choice.Errors).Mean
		if mean < least {
			names, least = nil, mean
		}
		if mean == least {
			names = append(names, llKernels[k].name)
		}
	}
	if _, clearly := r.lower(); clearly {
		names[0] += " *"
	}
	return strings.Join(names, ", ")
}

// cells are the figures of a row, which kernel is lowest, and p.
func (r *llRow) cells() (figures, comparison []Cell) {
	for _, choice := range r.choices {
		if choice == nil {
			figures = append(figures, Empty())
			continue
		}
		figures = append(figures, Measure(choice.Errors).Cell(4))
	}
	tests := r.tests()
	if lowest := r.lowest(); lowest != "" {
		comparison = append(comparison, Word(lowest))
	} else {
		comparison = append(comparison, Empty())
	}
	return figures, append(comparison, Probability(tests[0].P), Probability(tests[1].P))
}

// report makes the tables, the notes and the figures of what is complete.
func (c *llCurves) report(report *Report) {
	for _, number := range []string{"1", "2", "3", "4"} {
		if !c.p.tables.Has(number) {
			continue
		}
		table := &Table{Key: number, Title: llTitles[number], Columns: llColumns(c.p.folds > 0)}
		for _, features := range c.p.features.Chosen {
			var paper, honest []*llRow
			c.each(number, func(corpus, task int, t *llTask) {
				for size, documents := range c.p.sizes {
					a, b := c.row(table, corpus, task, t, features, size, documents)
					if a != nil {
						paper, honest = append(paper, a), append(honest, b)
					}
				}
			})
			c.notes(report, number, features, "best scale", paper)
			if c.p.folds > 0 {
				c.notes(report, number, features, "by folds", honest)
			}
		}
		if len(table.Rows) > 0 {
			report.Tables = append(report.Tables, table)
		}
	}
	for _, f := range llFigures {
		c.each(f.table, func(corpus, task int, t *llTask) {
			if t.class == f.class {
				c.figure(report, f.key, corpus, task, t)
			}
		})
	}
}

// each calls do for the tasks of a table.
func (c *llCurves) each(table string, do func(corpus, task int, t *llTask)) {
	for i, corpus := range c.corpora {
		for j, t := range corpus.tasks {
			if t.table == table {
				do(i, j, t)
			}
		}
	}
}

// row adds a row to a table and returns it under both protocols; nil where no kernel is complete.
func (c *llCurves) row(table *Table, corpus, task int, t *llTask, features string, size, documents int) (paper, honest *llRow) {
	name := fmt.Sprintf("%s, L = %d", t.class, documents)
	paper, honest = &llRow{name: name, size: documents}, &llRow{name: name, size: documents}
	any := false
	for k := range llKernels {
		if results := c.resultsOf(corpus, features, k); results != nil {
			any = true
			paper.choices[k] = c.best(results, k, task, size, len(t.Docs)-documents)
			honest.choices[k] = c.byFolds(results, task, size, len(t.Docs)-documents)
		}
	}
	if !any {
		return nil, nil
	}
	cells := []Cell{Word(t.class), Word(t.against), Word(features), Count(documents)}
	figures, comparison := paper.cells()
	cells = append(append(cells, figures...), comparison...)
	for k := range llKernels {
		cells = append(cells, Value(llPrintedError(t.table, t.class, features, documents, k), 4))
	}
	for k := range llKernels {
		choice := paper.choices[k]
		if choice == nil {
			choice = &llChoice{Scale: math.NaN(), C: math.NaN()}
		}
		if llKernels[k].scaled {
			cells = append(cells, Value(choice.Scale, 2))
		}
		cells = append(cells, Value(choice.C, 2))
	}
	if c.p.folds > 0 {
		figures, comparison = honest.cells()
		cells = append(append(cells, figures...), comparison...)
	}
	table.Add(cells...)
	return paper, honest
}

// notes says in words in which rows diffusion is below both other kernels, which is what the paper finds.
func (c *llCurves) notes(report *Report, table, features, protocol string, rows []*llRow) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r *llRow) bool { return r.lowest() == "" })
	if len(rows) == 0 {
		return
	}
	var lower, clearly int
	var not, unclear []string
	for _, r := range rows {
		switch below, well := r.lower(); {
		case well:
			lower, clearly = lower+1, clearly+1
		case below:
			lower++
			unclear = append(unclear, r.name)
		default:
			not = append(not, r.name)
		}
	}
	note := fmt.Sprintf("Table %s, %s, %s: diffusion is below both others in %d of %d rows, in %d with p < %v against both.", table, features, protocol, lower, len(rows), clearly, significant)
	if len(not) > 0 {
		note += " Not below: " + strings.Join(not, "; ") + "."
	}
	if len(unclear) > 0 {
		note += " Below, but not clearly: " + strings.Join(unclear, "; ") + "."
	}
	report.Notes = append(report.Notes, note)
}

// figure draws the learning curves of a task as the paper does: tf on the left, tfidf on the right, bars of one standard deviation.
func (c *llCurves) figure(report *Report, key string, corpus, task int, t *llTask) {
	f := &Figure{Key: key}
	for _, features := range c.p.features.Chosen {
		panel := &Panel{Title: fmt.Sprintf("%s against %s, %s", t.class, t.against, features), X: "training documents", Y: "test error"}
		for k := range llKernels {
			results := c.resultsOf(corpus, features, k)
			if results == nil {
				continue
			}
			curve := Curve{Name: llKernels[k].name}
			for size, documents := range c.p.sizes {
				m := Measure(c.best(results, k, task, size, len(t.Docs)-documents).Errors)
				curve.Points = append(curve.Points, Point{float64(documents), m.Mean, m.SD})
			}
			panel.Curves = append(panel.Curves, curve)
		}
		if len(panel.Curves) > 0 {
			f.Panels = append(f.Panels, panel)
		}
	}
	if len(f.Panels) > 0 {
		report.Figures = append(report.Figures, f)
	}
}
