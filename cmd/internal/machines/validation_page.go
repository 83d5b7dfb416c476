package machines

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/page"
	"github.com/gramengine/gram/internal/report"
)

// CompletePage adds the figures of a cross-validation.
func (r *cvReport) CompletePage(out *page.Page) error {
	out.Title = "Cross-validation on " + filepath.Base(r.Corpus.Source)
	out.Figures = []page.Figure{{Name: "Mean " + r.Measure.String(), Value: r.Measure.Format(float64(r.Mean)),
		Note: "± " + r.Measure.Format(float64(r.SD)) + " over the folds"}}
	if r.Measure == svm.MeanSquaredError {
		return nil
	}
	scoreFigures(out, r.score)
	if r.Curve != nil {
		section := out.Section("Learning curve")
		section.Text = "Each fold is predicted by models of a part of the documents of the others, with the standard " +
			"deviation over the folds: a curve that still rises says that more documents would help."
		p := chart.New("Learning curve", "documents of training", r.Measure.String()+", %")
		var mean, low, high []chart.Point
		var parts []string
		for _, x := range r.Curve {
			n := float64(x.Documents)
			mean = append(mean, chart.Point{X: n, Y: 100 * x.Mean})
			low = append(low, chart.Point{X: n, Y: 100 * (x.Mean - x.SD)})
			high = append(high, chart.Point{X: n, Y: 100 * (x.Mean + x.SD)})
			parts = append(parts, fmt.Sprintf("%s with %s", r.Measure.Format(x.Mean), report.Documents(x.Documents)))
		}
		p.Curve("", chart.Gray, low, false)
		p.Curve("", chart.Gray, high, false)
		p.Curve("", chart.Colors[0], mean, true)
		section.Charts = append(section.Charts, page.NewChart(p, strings.Join(parts, "; ")))
	}
	out.Sections = append(out.Sections, classesSection(r.score))
	if r.score.Confusion != nil {
		out.Sections = append(out.Sections, page.Section{Title: "Confusion", Text: readMatrix, Matrix: newMatrix(r.score)})
	}
	return nil
}

// CompletePage adds the points of a search, and the command.
func (r *gridReport) CompletePage(out *page.Page) error {
	out.Title = "Search on " + filepath.Base(r.Corpus.Source)
	rows, train := r.Rows, r.Train
	if r.Choice != nil {
		rows, train = r.Choice.Rows, cmp.Or(train, r.Choice.Train)
	}
	titles := []string{"what", "scheme", "terms", ">C", ">documents", ">" + r.Measure.String(), ">± over folds", ">s"}
	if r.Choice != nil {
		titles = append(titles, ">round")
	}
	t := report.NewTable(titles...)
	for i := range rows {
		row := &rows[i]
		c, documents := "", r.Corpus.Documents
		if row.C != 0 {
			c = strconv.FormatFloat(row.C, 'g', -1, 64)
		}
		if row.Documents > 0 {
			documents = row.Documents
		}
		cells := []string{describe(row.what(), 0, row.Nu, row.Epsilon), row.Scheme, cmp.Or(row.Terms, row.NGrams), c,
			report.Count(documents), r.Measure.Format(float64(row.Mean)), r.Measure.Format(float64(row.SD)),
			fmt.Sprintf("%.2f", row.Seconds), strconv.Itoa(row.Round)}
		t.Add(cells[:len(titles)]...)
	}
	if b := r.Best; b != nil {
		out.Figures = []page.Figure{{Name: "Best " + r.Measure.String(), Value: r.Measure.Format(float64(b.Mean)),
			Note: describe(b.what(), b.C, b.Nu, b.Epsilon)}}
	}
	if len(rows) > 0 {
		s := page.Section{Title: "Points", Table: t}
		if r.Choice == nil && r.run.learner.Type != "" { // as -plot draws it
			surface := r.surface()
			c, _, _ := surface.Chart()
			c.Title = "Over kernels and C"
			s.Charts = []page.Chart{page.NewChart(c, surface.What)}
		}
		out.Sections = append(out.Sections, s)
	}
	if train != "" {
		out.Sections = append(out.Sections, page.Section{Title: "Train with the best", Code: train})
	}
	return nil
}
