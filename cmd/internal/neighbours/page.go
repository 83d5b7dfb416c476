package neighbours

import (
	"fmt"
	"path/filepath"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// Limits for the sections of a page.
const (
	maxShown    = 100 // number of documents or groups
	maxRows     = 20  // number of rows per table
	maxExpanded = 3   // number of groups with expanded tables
)

// withTable returns d with a table that shows the first min(all, maxRows) rows.
func withTable(d report.HighlightedText, all int, row func(i int) []string, titles ...string) report.HighlightedText {
	t := report.NewTable(titles...)
	for i := range min(all, maxRows) {
		t.Add(row(i)...)
	}
	if d.Tables = []report.CollapsibleTable{{Title: report.FormatDocuments(all), Open: true, Table: t}}; all > maxRows {
		d.Tables[0].Title += fmt.Sprintf(", the first %d", maxRows)
	}
	return d
}

// describePage adds the sections of a page: the distribution of nearest values and, if -texts is
// set, the neighbours of the first documents.
func (r *neighboursReport) describePage(d *report.Document) {
	d.Title = "Neighbours in " + filepath.Base(r.Corpus.Source)
	if r.NumNeighbours > 0 {
		n := r.NearestValues
		d.AddMetric("Nearest value, median", fmt.Sprintf("%.4g", n.Median), r.Kernel)
		all := fmt.Sprintf("all from %.4g to %.4g", n.Min, n.Max)
		d.AddMetric("Four fifths", fmt.Sprintf("%.4g to %.4g", n.P10, n.P90), all)
		d.AddMetric("Without neighbours", report.FormatCount(r.NumWithoutNeighbours),
			"of "+report.FormatDocuments(r.Corpus.DocumentCount))
		d.AddChart("Distribution", newPlot(r.Kernel, r.nearest), all)
	}
	if !r.texts {
		return
	}
	s := report.Section{Title: "Documents",
		Text: fmt.Sprintf("Up to %d documents and their nearest neighbours.", maxShown)}
	for i := range min(r.result.Len(), maxShown) {
		near := r.result.List(i)
		own := report.HighlightedText{Name: source.DisplayName(r.rows, i), Text: source.Snippet(r.rows, i)}
		s.Documents = append(s.Documents, withTable(own, len(near), func(k int) []string {
			j := int(near[k].Document)
			return []string{source.DisplayName(r.columns, j), fmt.Sprintf("%.4f", near[k].Value), source.Snippet(r.columns, j)}
		}, "neighbour", ">value", "text"))
	}
	d.AddPageSection(s)
}

// groupSizesTitle is the title of the chart and the table of groups.
const groupSizesTitle = "Groups by size"

// describePage adds the sections of a page: a chart of group sizes, and the groups or pairs.
func (r *duplicatesReport) describePage(d *report.Document) {
	d.Title = "Duplicates in " + filepath.Base(r.Corpus.Source)
	of := "of " + report.FormatDocuments(r.Corpus.DocumentCount)
	if r.OtherCorpus != nil {
		d.AddMetric("Near to others", report.FormatCount(r.NumLeaks), of)
	} else {
		d.AddMetric("To drop", report.FormatCount(r.NumDropped), of)
		d.AddMetric("Groups", report.FormatCount(r.NumGroups), "of "+report.FormatDocuments(r.NumGrouped))
	}
	d.AddMetric("Pairs", report.FormatCount(r.NumPairs), report.FormatCount(r.NumIdenticalPairs)+" at c = 0")
	if len(r.sizes) > 0 {
		c := chart.New("Sizes of groups", "documents in a group", "groups")
		var names []string
		for _, s := range r.sizes {
			names = append(names, s.String())
		}
		c.AddBars(names, []string{""}, func(g, _ int) float64 { return float64(r.sizes[g].NumGroups) })
		d.AddChart(groupSizesTitle, c, "as in the table")
	}
	if r.section.Documents != nil || r.section.Table != nil {
		d.AddPageSection(r.section)
	}
}

// firstGroups returns a section that shows the first groups if -report and -texts are set.
func (d *duplicates) firstGroups(c *corpus.Corpus, groups [][]int32) report.Section {
	s := report.Section{Title: "Groups",
		Text: fmt.Sprintf("This section shows up to %d groups. Each group starts with the document to keep.", maxShown)}
	for k, g := range groups[:min(len(groups), maxShown)] {
		if d.f.ReportPath != "" && d.texts {
			group := withTable(report.HighlightedText{Name: fmt.Sprintf("Group %d", k+1)}, len(g),
				func(i int) []string { return []string{source.DisplayName(c, int(g[i])), source.Snippet(c, int(g[i]))} },
				"document", "text")
			group.Tables[0].Open = k < maxExpanded
			s.Documents = append(s.Documents, group)
		}
	}
	return s
}

func (d *duplicates) nearPairs(c, others *corpus.Corpus, found []source.NeighbourPair) report.Section {
	titles := []string{"document", "near to", ">c", "text", "text near to it"}
	if !d.texts {
		titles = titles[:3]
	}
	t := report.NewTable(titles...)
	for _, l := range found[:min(len(found), maxRows*maxShown)] {
		cells := []string{source.DisplayName(c, l.Document), source.DisplayName(others, l.Neighbour),
			fmt.Sprintf("%.4f", l.Value)}
		if d.texts {
			cells = append(cells, source.Snippet(c, l.Document), source.Snippet(others, l.Neighbour))
		}
		t.Add(cells...)
	}
	text := fmt.Sprintf("Up to %s pairs of documents.", report.FormatCount(maxRows*maxShown))
	return report.Section{Title: "Near pairs", Text: text, Table: t}
}
