package lebanon

import (
	"fmt"
	"strings"

	"github.com/gramengine/gram/lab/internal/repro"
)

// significant is the p below which a difference counts.
const significant = 0.05

// tables makes a table of each corpus, its notes and its figures, of what is complete.
func (p *protocol) tables(corpora []*dataset, report *repro.Report) {
	for _, c := range corpora {
		t := &repro.Table{Key: c.name, Title: c.name + ": test error, mean ± standard deviation over " +
			fmt.Sprint(p.splits) + " splits, and p of paired t tests against spherical"}
		t.Columns = []repro.Column{repro.Left("class", "class"), repro.Right("training_documents", "L")}
		for _, m := range methods {
			t.Columns = append(t.Columns, repro.Right("error_"+strings.ToLower(m.name), m.name))
		}
		t.Columns = append(t.Columns, repro.Left("lowest", "lowest"))
		for _, m := range methods[1:] {
			t.Columns = append(t.Columns, repro.Right("p_"+strings.ToLower(m.name), "p "+m.name))
		}
		better, worse := make([]int, len(methods)), make([]int, len(methods))
		rows := 0
		for _, task := range c.tasks {
			if len(task.results) < len(methods) {
				continue
			}
			f := &repro.Figure{Key: c.name + "-" + task.name}
			panel := &repro.Panel{Title: task.name + " against the rest", X: "training documents", Y: "test error"}
			for _, m := range methods {
				panel.Curves = append(panel.Curves, repro.Curve{Name: m.name})
			}
			for k, size := range p.sizes {
				errors := make([][]float64, len(methods))
				lowest := 0
				cells := []repro.Cell{repro.Word(task.name), repro.Count(size)}
				var means []float64
				for i, m := range methods {
					errors[i] = task.errors(p, task.results[m.name], k)
					measured := repro.Measure(errors[i])
					cells, means = append(cells, measured.Cell(4)), append(means, measured.Mean)
					if measured.Mean < means[lowest] {
						lowest = i
					}
					panel.Curves[i].Points = append(panel.Curves[i].Points,
						repro.Point{X: float64(size), Y: measured.Mean, SD: measured.SD})
				}
				cells = append(cells, repro.Word(methods[lowest].name))
				for i := range methods[1:] {
					test := repro.PairedT(errors[0], errors[i+1])
					cells = append(cells, repro.Probability(test.P))
					switch {
					case test.P < significant && test.Statistic < 0:
						better[i+1]++
					case test.P < significant:
						worse[i+1]++
					}
				}
				t.Add(cells...)
				rows++
			}
			f.Panels = []*repro.Panel{panel}
			report.Figures = append(report.Figures, f)
		}
		if rows == 0 {
			continue
		}
		report.Tables = append(report.Tables, t)
		for i, m := range methods[1:] {
			note := fmt.Sprintf("%s: with p < %v spherical is better than %s in %d of %d rows, and worse in %d", c.name,
				significant, m.name, better[i+1], rows, worse[i+1])
			report.Notes = append(report.Notes, note)
		}
	}
}

// errors are the shares of wrong decisions on the test set, by split.
func (t *task) errors(p *protocol, r *result, size int) (out []float64) {
	documents := len(t.positive) - p.sizes[len(p.sizes)-1]
	for _, wrong := range r.Wrong {
		out = append(out, float64(wrong[size])/float64(documents))
	}
	return out
}
