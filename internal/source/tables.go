package source

import (
	"iter"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/table"
)

// NeighbourPair is a document and one of its neighbours, with the kernel value or cosine distance
// of the pair.
type NeighbourPair struct {
	Document, Neighbour int
	Value               float64
}

// NeighbourColumns returns the columns of a table of neighbours: the names of both documents, the
// value and, if texts is true, the beginnings of both texts.
func NeighbourColumns(rows, columns *corpus.Corpus, value string, texts bool) []table.Column[NeighbourPair] {
	all := []table.Column[NeighbourPair]{
		table.TextColumn("document", func(r *NeighbourPair) string { return DisplayName(rows, r.Document) }),
		table.TextColumn("neighbour", func(r *NeighbourPair) string { return DisplayName(columns, r.Neighbour) }),
		table.FloatColumn(value, func(r *NeighbourPair) float64 { return r.Value }),
	}
	if texts {
		all = append(all, table.TextColumn("text", func(r *NeighbourPair) string { return Snippet(rows, r.Document) }),
			table.TextColumn("neighbour_text", func(r *NeighbourPair) string { return Snippet(columns, r.Neighbour) }))
	}
	return all
}

// NeighbourPairs iterates over the neighbours of each document in order of distance. first is the
// index of the first document of near.
func NeighbourPairs(near *engine.Neighbours, first int) iter.Seq[NeighbourPair] {
	return func(yield func(NeighbourPair) bool) {
		for i := range near.Len() {
			for _, n := range near.List(i) {
				if !yield(NeighbourPair{first + i, int(n.Document), table.ShortestFloat64(n.Value)}) {
					return
				}
			}
		}
	}
}

// GroupMember is a document in a group of duplicates.
type GroupMember struct {
	Group, Document int
	Keep            bool
}

// GroupMemberColumns returns the columns of a table of groups: group number, document, keep or drop
// and, if texts is true, the beginning of the text.
func GroupMemberColumns(c *corpus.Corpus, texts bool) []table.Column[GroupMember] {
	all := []table.Column[GroupMember]{
		table.IntColumn("group", func(r *GroupMember) int { return r.Group }),
		table.TextColumn("document", func(r *GroupMember) string { return DisplayName(c, r.Document) }),
		table.TextColumn("action", func(r *GroupMember) string {
			return map[bool]string{true: "keep",
				false: "drop"}[r.Keep]
		}),
	}
	if texts {
		all = append(all, table.TextColumn("text", func(r *GroupMember) string { return Snippet(c, r.Document) }))
	}
	return all
}

// GroupMembers returns the documents of all groups. The first document of each group is kept.
func GroupMembers(groups [][]int32) iter.Seq[GroupMember] {
	return func(yield func(GroupMember) bool) {
		for g, group := range groups {
			for k, i := range group {
				if !yield(GroupMember{g + 1, int(i), k == 0}) {
					return
				}
			}
		}
	}
}

// Snippet returns the start of a document's text on one line.
func Snippet(c *corpus.Corpus, i int) string { return report.Excerpt(c.Text(i), 200) }
