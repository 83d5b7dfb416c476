package source

import (
	"iter"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/table"
)

// Near is a pair of documents, I and its neighbour Of, with the kernel value or c.
type Near struct {
	I, Of int
	Value float64
}

// NearColumns returns the columns of a table of neighbours: the names of both documents, the value
// and, if texts is set, the starts of both texts.
func NearColumns(rows, columns *corpus.Corpus, value string, texts bool) []table.Column[Near] {
	all := []table.Column[Near]{
		table.Text("document", func(r *Near) string { return ShortName(rows, r.I) }),
		table.Text("neighbour", func(r *Near) string { return ShortName(columns, r.Of) }),
		table.Real(value, func(r *Near) float64 { return r.Value }),
	}
	if texts {
		all = append(all, table.Text("text", func(r *Near) string { return Beginning(rows, r.I) }),
			table.Text("neighbour_text", func(r *Near) string { return Beginning(columns, r.Of) }))
	}
	return all
}

// Pairs iterates over the neighbours of each document in order of distance. The first document of
// near has the number first.
func Pairs(near *engine.Neighbours, first int) iter.Seq[Near] {
	return func(yield func(Near) bool) {
		for i := range near.Len() {
			for _, n := range near.Of(i) {
				if !yield(Near{first + i, int(n.Document), table.Short(n.Value)}) {
					return
				}
			}
		}
	}
}

// Member is a document in a group of duplicates.
type Member struct {
	Group, I int
	Keep     bool
}

// MemberColumns returns the columns of a table of groups: group number, document, keep or drop and,
// if texts is set, the start of the text.
func MemberColumns(c *corpus.Corpus, texts bool) []table.Column[Member] {
	all := []table.Column[Member]{
		table.Whole("group", func(r *Member) int { return r.Group }),
		table.Text("document", func(r *Member) string { return ShortName(c, r.I) }),
		table.Text("action", func(r *Member) string { return map[bool]string{true: "keep", false: "drop"}[r.Keep] }),
	}
	if texts {
		all = append(all, table.Text("text", func(r *Member) string { return Beginning(c, r.I) }))
	}
	return all
}

// Members returns the documents of groups. The first document of each group is kept.
func Members(groups [][]int32) iter.Seq[Member] {
	return func(yield func(Member) bool) {
		for g, group := range groups {
			for k, i := range group {
				if !yield(Member{g + 1, int(i), k == 0}) {
					return
				}
			}
		}
	}
}

// Beginning returns the start of a document's text on one line.
func Beginning(c *corpus.Corpus, i int) string { return report.Excerpt(c.Text(i), 200) }
