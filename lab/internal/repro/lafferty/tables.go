package lafferty

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/lab/internal/repro"
)

// significant is the paper's level.
const significant = 0.05

// titles are the titles of Tables 1 to 4.
var titles = map[string]string{
	"1": "Table 1: WebKB, one class against the rest, test error",
	"2": "Table 2: WebKB, a class against student, test error",
	"3": "Table 3: Reuters-21578, one topic against the rest, test error",
	"4": "Table 4: Reuters-21578, a topic against earn, test error",
}

// paperFigures are the tasks whose learning curves the paper draws (Figures 5 to 8).
var paperFigures = []struct{ key, table, class string }{
	{"webkb-course", "1", "course"}, {"webkb-course-student", "2", "course"},
	{"reuters-acq", "3", "acq"}, {"reuters-moneyfx", "3", "moneyFx"},
	{"reuters-moneyfx-earn", "4", "moneyFx"}, {"reuters-grain-earn", "4", "grain"},
}

// nan is a figure that isn't known here.
var nan = math.NaN()

// keyOf is the name of a kernel in JSON.
func keyOf(k int) string { return strings.ToLower(kernels[k].name) }

// comparison are the columns of a protocol: the figures of the kernels, which is best, and p. Keys
// end with suffix. titleOf titles a figure.
func comparison(best, suffix string, titleOf func(kernel string) string) (columns []repro.Column) {
	for k, kernel := range kernels {
		columns = append(columns, repro.Right(keyOf(k)+suffix, titleOf(kernel.name)))
	}
	return append(columns, repro.Left(best+suffix, best),
		repro.Right("p_linear"+suffix, "p lin"),
		repro.Right("p_gaussian"+suffix, "p Gau"))
}

// bestOf names the kernels with the least figure.
func bestOf(figures []float64) (names []string) {
	least := math.Inf(1)
	for k, v := range figures {
		if v < least {
			least, names = v, nil
		}
		if v == least {
			names = append(names, kernels[k].name)
		}
	}
	return names
}

// columns are the columns of Tables 1 to 4.
func (p *protocol) columns() []repro.Column {
	columns := []repro.Column{
		repro.Left("class", "class"), repro.Data("against"),
		repro.Left("features", "features"), repro.Right("training_documents", "L"),
	}
	columns = append(columns, comparison("lowest", "", func(name string) string { return name })...)
	columns = append(columns, comparedColumns()...)
	for k, kernel := range kernels {
		if kernel.scaled {
			columns = append(columns, repro.Data(keyOf(k)+"_scale"))
		}
		columns = append(columns, repro.Data(keyOf(k)+"_c"))
	}
	if p.folds > 0 {
		title := func(name string) string { return "by folds: " + name[:3] }
		columns = append(columns, comparison("lowest", "_by_folds", title)...)
	}
	return columns
}

// choice is what one kernel gives for a task, features and a size under one protocol: the test
// errors by split.
type choice struct {
	Errors   []float64
	Scale, C float64 // of the paper's protocol, which chooses the same for all splits
}

// best is the paper's protocol: the scale and C with the least mean error on the test sets; of
// equal ones the first. results are those of a kernel by scale.
func (p *protocol) best(results []result, kernel, task, size, testDocs int) *choice {
	var best *choice
	least := 0.0
	for i, scale := range p.scalesOf(kernel) {
		for j, price := range p.c {
			tried := &choice{Scale: scale, C: price}
			for s := range p.splits {
				tried.Errors = append(tried.Errors, float64(results[i].Test[task][s][size][j])/float64(testDocs))
			}
			if mean := repro.Measure(tried.Errors).Mean; best == nil || mean < least {
				best, least = tried, mean
			}
		}
	}
	return best
}

// byFolds is the honest protocol: for each split the scale and C with the fewest errors in the
// cross-validation on its training documents. Small training sets have many equal ones, of which
// the one with the least C, then with the greatest scale is taken: the smoothest machine.
func (p *protocol) byFolds(results []result, task, size, testDocs int) *choice {
	chosen := &choice{}
	for s := range p.splits {
		least, wrong := -1, 0
		for j := range p.c {
			for _, r := range slices.Backward(results) {
				if n := r.Folds[task][s][size][j]; least < 0 || n < least {
					least, wrong = n, r.Test[task][s][size][j]
				}
			}
		}
		chosen.Errors = append(chosen.Errors, float64(wrong)/float64(testDocs))
	}
	return chosen
}

// choices returns what a kernel gives under both protocols; nil where a scale is missing.
func (c *curves) choices(t *classTask, features string, k, size int) (paper, honest *choice) {
	results := t.corpus.results[series{features, k}]
	if len(results) < len(c.p.scalesOf(k)) {
		return nil, nil
	}
	own, others := t.classes().test(t.Sizes[size])
	testDocs := len(own) + len(others)
	return c.p.best(results, k, t.place, size, testDocs), c.p.byFolds(results, t.place, size, testDocs)
}

// tableRow is a row of a table under one protocol: the errors of diffusion beside the others.
type tableRow struct {
	name           string // for notes, such as "course, L = 40"
	cells          []repro.Cell
	lowest         string // which kernels have the least mean; empty unless all are complete
	lower, clearly bool   // whether diffusion is below both others, and whether significantly
	differs        bool   // whether it differs significantly from the better of the others
	compared       compared
}

// newTableRow compares the choices by kernel, nil where one isn't complete. lowest has a star where
// it is diffusion alone by a clear margin.
func newTableRow(name string, choices [len(kernels)]*choice) *tableRow {
	r := &tableRow{name: name}
	var means []float64
	for _, c := range choices {
		cell := repro.Empty()
		if c != nil {
			m := repro.Measure(c.Errors)
			cell, means = m.Cell(4), append(means, m.Mean)
		}
		r.cells = append(r.cells, cell)
	}
	tests := [2]repro.Test{{Statistic: nan, P: nan}, {Statistic: nan, P: nan}}
	for i, k := range []int{linear, gaussian} {
		if choices[k] != nil && choices[diffusion] != nil {
			tests[i] = repro.PairedT(choices[diffusion].Errors, choices[k].Errors)
		}
	}
	r.lower = tests[0].Statistic < 0 && tests[1].Statistic < 0
	r.clearly = r.lower && tests[0].P < significant && tests[1].P < significant
	cell := repro.Empty()
	if len(means) == len(choices) {
		r.differs = r.clearly
		if other := linear; !r.lower {
			if means[gaussian] < means[linear] {
				other = gaussian
			}
			r.differs = tests[other].P < significant
		}
		r.lowest = strings.Join(bestOf(means), ", ")
		if r.clearly {
			r.lowest += " *"
		}
		cell = repro.Word(r.lowest)
	}
	r.cells = append(r.cells, cell, repro.Probability(tests[0].P), repro.Probability(tests[1].P))
	return r
}

// report makes the tables, the notes and the figures of what is complete, and the rows of agreement and
// of shifts.
func (c *curves) report(report *repro.Report, agreement, shifts *repro.Table) {
	var both []compared // rows of the two tables of a corpus, with all features
	for _, number := range []string{"1", "2", "3", "4"} {
		table := &repro.Table{Key: number, Title: titles[number], Columns: c.p.columns()}
		for _, features := range c.p.features.Chosen {
			var paper, honest []*tableRow
			var rows []compared
			for _, t := range c.tasks(number) {
				first := len(rows)
				for size := range t.Sizes {
					if a, b := c.row(table, t, features, size); a != nil {
						paper, honest, rows = append(paper, a), append(honest, b), append(rows, a.compared)
					}
				}
				addShift(shifts, number, features, t.class, rows[first:])
			}
			addAgreement(agreement, number, features, rows)
			both = append(both, rows...)
			begin := fmt.Sprintf("Table %s, %s, ", number, features)
			notes(report, begin+"best scale", paper)
			if c.p.folds > 0 {
				notes(report, begin+"by folds", honest)
			}
		}
		if len(table.Rows) > 0 {
			report.Tables = append(report.Tables, table)
		}
		switch number {
		case "2":
			addAgreement(agreement, "1, 2", "both", both)
			both = nil
		case "4":
			addAgreement(agreement, "3, 4", "both", both)
		}
	}
	for _, f := range paperFigures {
		for _, t := range c.tasks(f.table) {
			if t.class == f.class {
				c.figure(report, f.key, t)
			}
		}
	}
}

// tasks lists the tasks of a table.
func (c *curves) tasks(table string) (tasks []*classTask) {
	for _, corpus := range c.corpora {
		for _, t := range corpus.tasks {
			if t.table == table {
				tasks = append(tasks, t)
			}
		}
	}
	return tasks
}

// row adds a row to a table and returns it under both protocols; nil where no kernel is complete.
func (c *curves) row(table *repro.Table, t *classTask, features string, size int) (paper, honest *tableRow) {
	var chosen, byFolds [len(kernels)]*choice
	complete := false
	for k := range kernels {
		chosen[k], byFolds[k] = c.choices(t, features, k, size)
		complete = complete || chosen[k] != nil
	}
	if !complete {
		return nil, nil
	}
	documents := t.Sizes[size]
	name := fmt.Sprintf("%s, L = %d", t.class, documents)
	paper, honest = newTableRow(name, chosen), newTableRow(name, byFolds)
	cells := []repro.Cell{repro.Word(t.class), repro.Word(t.against), repro.Word(features), repro.Count(documents)}
	cells = append(cells, paper.cells...)
	paper.compared = compared{
		measured: [...]float64{nan, nan, nan}, printed: printedErrors(t.table, t.class, features, documents),
		better: -1, digits: 4, clear: paper.differs, printedClear: printedClear(t.table, t.class, features, documents),
	}
	for k, choice := range chosen {
		if choice != nil {
			paper.compared.measured[k] = repro.Measure(choice.Errors).Mean
		}
	}
	cells = append(cells, paper.compared.cells()...)
	for k, choice := range chosen {
		scale, price := nan, nan
		if choice != nil {
			scale, price = choice.Scale, choice.C
		}
		if kernels[k].scaled {
			cells = append(cells, repro.Value(scale, 2))
		}
		cells = append(cells, repro.Value(price, 2))
	}
	if c.p.folds > 0 {
		cells = append(cells, honest.cells...)
	}
	table.Add(cells...)
	return paper, honest
}

// notes says in words in which complete rows diffusion is below both other kernels, which is what
// the paper finds.
func notes(report *repro.Report, begin string, rows []*tableRow) {
	var complete, clearly int
	var not, unclear []string
	for _, r := range rows {
		if r.lowest == "" {
			continue
		}
		complete++
		switch {
		case r.clearly:
			clearly++
		case r.lower:
			unclear = append(unclear, r.name)
		default:
			not = append(not, r.name)
		}
	}
	if complete == 0 {
		return
	}
	note := fmt.Sprintf("%s: diffusion is below both others in %d of %d rows, in %d with p < %v against both.", begin,
		clearly+len(unclear), complete, clearly, significant)
	if len(not) > 0 {
		note += " Not below: " + strings.Join(not, "; ") + "."
	}
	if len(unclear) > 0 {
		note += " Below, but not clearly: " + strings.Join(unclear, "; ") + "."
	}
	report.Notes = append(report.Notes, note)
}

// printedCurves are the points that the paper prints, by kernel.
func printedCurves(t *classTask, features string) (curves []repro.Curve) {
	for k := range kernels {
		curve := repro.Curve{Apart: true}
		if k == 0 {
			curve.Name = "printed"
		}
		for _, documents := range t.Sizes {
			if v := printedErrors(t.table, t.class, features, documents)[k]; !math.IsNaN(v) {
				curve.Points = append(curve.Points, repro.Point{X: float64(documents), Y: v, SD: nan})
			}
		}
		if len(curve.Points) > 0 {
			curves = append(curves, curve)
		}
	}
	return curves
}

// figure draws the learning curves of a task as the paper does: tf on the left, tfidf on the right,
// bars of one standard deviation; crosses are the printed figures.
func (c *curves) figure(report *repro.Report, key string, t *classTask) {
	f := &repro.Figure{Key: key}
	for _, features := range c.p.features.Chosen {
		title := fmt.Sprintf("%s against %s, %s", t.class, t.against, features)
		panel := &repro.Panel{Title: title, X: "training documents", Y: "test error"}
		for k, kernel := range kernels {
			curve := repro.Curve{Name: kernel.name}
			for size, documents := range t.Sizes {
				if best, _ := c.choices(t, features, k, size); best != nil {
					m := repro.Measure(best.Errors)
					curve.Points = append(curve.Points, repro.Point{X: float64(documents), Y: m.Mean, SD: m.SD})
				}
			}
			if len(curve.Points) > 0 {
				panel.Curves = append(panel.Curves, curve)
			}
		}
		if len(panel.Curves) > 0 {
			panel.Curves = append(panel.Curves, printedCurves(t, features)...)
			f.Panels = append(f.Panels, panel)
		}
	}
	if len(f.Panels) > 0 {
		report.Figures = append(report.Figures, f)
	}
}
