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
	maxShown = 100 // number of documents or groups
	maxRows  = 20  // number of rows per table
	maxOpen  = 3   // number of groups with expanded tables
)

// shown returns d with a table of up to maxRows rows.
func shown(d report.Marked, all int, row func(i int) []string, titles ...string) report.Marked {
	t := report.NewTable(titles...)
	for i := range min(all, maxRows) {
		t.Add(row(i)...)
	}
	if d.Tables = []report.Details{{Title: report.Documents(all), Open: true, Table: t}}; all > maxRows {
		d.Tables[0].Title += fmt.Sprintf(", the first %d", maxRows)
	}
	return d
}

// describePage adds the sections of a page: the distribution and, with -texts, the neighbours of
// the first documents.
func (r *neighboursReport) describePage(d *report.Document) {
	d.Title = "Neighbours in " + filepath.Base(r.Corpus.Source)
	if r.Neighbours > 0 {
		n := r.Nearest
		d.Figure("Nearest value, median", fmt.Sprintf("%.4g", n.Median), r.Kernel)
		all := fmt.Sprintf("all from %.4g to %.4g", n.Min, n.Max)
		d.Figure("Four fifths", fmt.Sprintf("%.4g to %.4g", n.P10, n.P90), all)
		d.Figure("Without neighbours", report.Count(r.Lonely), "of "+report.Documents(r.Corpus.Documents))
		d.Chart("Distribution", newPlot(r.Kernel, r.nearest), all)
	}
	if !r.texts {
		return
	}
	s := report.Section{Title: "Documents",
		Text: fmt.Sprintf("Up to %d documents and their nearest neighbours.", maxShown)}
	for i := range min(r.near.Len(), maxShown) {
		near := r.near.Of(i)
		own := report.Marked{Name: source.ShortName(r.rows, i), Text: source.Beginning(r.rows, i)}
		s.Documents = append(s.Documents, shown(own, len(near), func(k int) []string {
			j := int(near[k].Document)
			return []string{source.ShortName(r.columns, j), fmt.Sprintf("%.4f", near[k].Value), source.Beginning(r.columns, j)}
		}, "neighbour", ">value", "text"))
	}
	d.Page(s)
}

// groupSizes is the title of the chart and the table of groups.
const groupSizes = "Groups by size"

// describePage adds the sections of a page: a chart of group sizes, and the groups or pairs.
func (r *duplicatesReport) describePage(d *report.Document) {
	d.Title = "Duplicates in " + filepath.Base(r.Corpus.Source)
	of := "of " + report.Documents(r.Corpus.Documents)
	if r.Of != nil {
		d.Figure("Near to others", report.Count(r.Leaks), of)
	} else {
		d.Figure("To drop", report.Count(r.Dropped), of)
		d.Figure("Groups", report.Count(r.Groups), "of "+report.Documents(r.Grouped))
	}
	d.Figure("Pairs", report.Count(r.Pairs), report.Count(r.Same)+" at c = 0")
	if len(r.sizes) > 0 {
		c := chart.New("Sizes of groups", "documents in a group", "groups")
		var names []string
		for _, s := range r.sizes {
			names = append(names, s.String())
		}
		c.Bars(names, []string{""}, func(g, _ int) float64 { return float64(r.sizes[g].Groups) })
		d.Chart(groupSizes, c, "as in the table")
	}
	if r.groups.Documents != nil || r.groups.Table != nil {
		d.Page(r.groups)
	}
}

// first returns a section with the first groups. Without -texts the section has no groups.
func (d *duplicates) first(c *corpus.Corpus, groups [][]int32) report.Section {
	s := report.Section{Title: "Groups",
		Text: fmt.Sprintf("Up to %d groups. The document to keep is listed first.", maxShown)}
	for k, g := range groups[:min(len(groups), maxShown)] {
		if d.f.Page != "" && d.texts {
			group := shown(report.Marked{Name: fmt.Sprintf("Group %d", k+1)}, len(g),
				func(i int) []string { return []string{source.ShortName(c, int(g[i])), source.Beginning(c, int(g[i]))} },
				"document", "text")
			group.Tables[0].Open = k < maxOpen
			s.Documents = append(s.Documents, group)
		}
	}
	return s
}

// nearPairs returns a section with a table of the first pairs.
func (d *duplicates) nearPairs(c, others *corpus.Corpus, found []source.Near) report.Section {
	titles := []string{"document", "near to", ">c", "text", "text near to it"}
	if !d.texts {
		titles = titles[:3]
	}
	t := report.NewTable(titles...)
	for _, l := range found[:min(len(found), maxRows*maxShown)] {
		cells := []string{source.ShortName(c, l.I), source.ShortName(others, l.Of), fmt.Sprintf("%.4f", l.Value)}
		if d.texts {
			cells = append(cells, source.Beginning(c, l.I), source.Beginning(others, l.Of))
		}
		t.Add(cells...)
	}
	text := fmt.Sprintf("Up to %s pairs of documents.", report.Count(maxRows*maxShown))
	return report.Section{Title: "Near pairs", Text: text, Table: t}
}
