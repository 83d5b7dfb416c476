package page

import (
	"fmt"
	"io"
	"reflect"
	"testing"

	"github.com/gramengine/gram/internal/report"
)

type lines func(w io.Writer)

func (f lines) WriteText(w io.Writer) { f(w) }

// Lines become the lead, facts and text, tables sections, whatever pieces they come in; no line is lost.
func TestOf(t *testing.T) {
	named, headed, plain := report.NewTable("isa").Named("Kernels"), report.NewTable("isa"), report.NewTable("part")
	for _, table := range []*report.Table{named, headed, plain} {
		table.Add("x")
	}
	p := Of("verify", lines(func(w io.Writer) {
		fmt.Fprint(w, "a.tsv: 3 docu", "ments\n", "tf: 9 pairs\nby tiles; since: few\n\n")
		named.Write(w)
		fmt.Fprint(w, "\nTolerance: an error\n  of c.\nNearest: 5%,\n  at 1, 2\n\nRates: in bytes/s\n")
		headed.Write(w)
		fmt.Fprint(w, "after it\n\n")
		report.NewTable("nothing").Write(w)
		plain.Write(w)
		fmt.Fprint(w, "\nthe last")
	}))
	want := &Page{Title: "verify", Lead: "a.tsv: 3 documents", Sections: []Section{
		{Title: "Summary", Text: "by tiles; since: few\nafter it\nthe last",
			Facts: [][2]string{{"tf", "9 pairs"}, {"Tolerance", "an error of c."}, {"Nearest", "5%, at 1, 2"}}},
		{Title: "Kernels", Table: named}, {Title: "Rates", Text: "in bytes/s", Table: headed}, {Title: "part", Table: plain},
	}}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("got\n%+v, expected\n%+v", p, want)
	}
	if p.Section("Rates").Table != headed || p.Section("none").Title != "none" || len(p.Sections) != 5 {
		t.Errorf("sections %+v", p.Sections)
	}
}
