package report

import (
	"reflect"
	"strings"
	"testing"
)

// A document has text output and an HTML page: its first line is the page's intro, facts and other
// lines are in the summary, and tables are sections.
func TestDocument(t *testing.T) {
	named, headed, plain, brief := NewTable("isa"), NewTable("isa"), NewTable("part"), NewTable("all")
	for _, table := range []*Table{named, headed, plain, brief} {
		table.Add("x")
	}
	d := &Document{Title: "verify"}
	d.AddLinef("a.tsv: %d documents", 3)
	d.AddFact("tf", "%d pairs", 9)
	d.AddLine("by tiles")
	d.AddLine("")
	d.AddTable("Kernels", "", named)
	d.AddLine("")
	d.AddWrapped("Tolerance: ", "an error of c.", 20)
	d.AddTable("Rates", "Rates in bytes/s", headed)
	d.AddTable("Empty", "", NewTable("nothing"))
	d.AddTable("", "", plain)
	d.AddSection(Section{Title: "All", Heading: "In brief", Table: named, TextTable: brief})
	d.AddPageSection(Section{Title: "Code", Code: "gram"})
	d.AddChart("Code", nil, "as above")
	d.AddChart("Plots", nil, "")
	d.AddLine("\nthe last")

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
		{Title: "part", Table: plain}, {Title: "All", Heading: "In brief", Table: named, TextTable: brief},
		{Title: "Code", Code: "gram", Charts: []Chart{{nil, "as above"}}, pageOnly: true},
		{Title: "Plots", Charts: []Chart{{nil, ""}}, pageOnly: true},
	}
	if got := d.Sections(); !reflect.DeepEqual(got, want) || d.Intro != "a.tsv: 3 documents" {
		t.Errorf("sections\n%+v, lead %q", got, d.Intro)
	}
	var b strings.Builder
	empty := new(Document)
	if err := empty.WriteHTML(&b); err != nil || strings.Contains(b.String(), "Summary") {
		t.Errorf("%v, an empty page is\n%s", err, b.String())
	}
}
