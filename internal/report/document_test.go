package report

import (
	"reflect"
	"strings"
	"testing"
)

// A document has text output and an HTML page: its first line is the page's lead, facts and other
// lines are in the summary, and tables are sections.
func TestDocument(t *testing.T) {
	named, headed, plain, brief := NewTable("isa"), NewTable("isa"), NewTable("part"), NewTable("all")
	for _, table := range []*Table{named, headed, plain, brief} {
		table.Add("x")
	}
	d := &Document{Title: "verify"}
	d.Linef("a.tsv: %d documents", 3)
	d.Fact("tf", "%d pairs", 9)
	d.Line("by tiles")
	d.Line("")
	d.Table("Kernels", "", named)
	d.Line("")
	d.Wrap("Tolerance: ", "an error of c.", 20)
	d.Table("Rates", "Rates in bytes/s", headed)
	d.Table("Empty", "", NewTable("nothing"))
	d.Table("", "", plain)
	d.Add(Section{Title: "All", Heading: "In brief", Table: named, Brief: brief})
	d.Page(Section{Title: "Code", Code: "gram"})
	d.Chart("Code", nil, "as above")
	d.Chart("Plots", nil, "")
	d.Line("\nthe last")

	const text = "a.tsv: 3 documents\ntf: 9 pairs\nby tiles\n\nisa\nx\n\nTolerance: an error\n           of c.\n\n" +
		"Rates in bytes/s\nisa\nx\nnothing\npart\nx\n\nIn brief\nall\nx\n\nthe last\n"
	if got := d.String(); got != text {
		t.Errorf("got\n%s, expected\n%s", got, text)
	}
	want := []*Section{
		{Title: "Summary", Text: "by tiles\nTolerance: an error\n           of c.\nthe last",
			Facts: [][2]string{{"tf", "9 pairs"}}},
		{Title: "Kernels", Table: named},
		{Title: "Rates", Text: "Rates in bytes/s", Heading: "Rates in bytes/s", Table: headed},
		{Title: "part", Table: plain}, {Title: "All", Heading: "In brief", Table: named, Brief: brief},
		{Title: "Code", Code: "gram", Charts: []Chart{{nil, "as above"}}, onPage: true},
		{Title: "Plots", Charts: []Chart{{nil, ""}}, onPage: true},
	}
	if got := d.Sections(); !reflect.DeepEqual(got, want) || d.Lead != "a.tsv: 3 documents" {
		t.Errorf("sections\n%+v, lead %q", got, d.Lead)
	}
	var b strings.Builder
	empty := new(Document)
	if err := empty.WriteHTML(&b); err != nil || strings.Contains(b.String(), "Summary") {
		t.Errorf("%v, an empty page is\n%s", err, b.String())
	}
}
