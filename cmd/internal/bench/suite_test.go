package bench

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/docs/machines"
	"github.com/gramengine/gram/internal/host"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

// A report has the index, unknown properties and the noise. Its page has charts. Its JSON is a
// result file.
func TestSuiteReport(t *testing.T) {
	r := musttest.Get(machines.Load(machines.Reference))(t)
	for _, row := range slices.Clone(r.Rows) { // twice the workers, without any speed-up
		more := *row
		more.Workers, more.Short = 2, 1
		r.Rows = append(r.Rows, &more)
	}
	r.Roofs = append(r.Roofs, &instrument.Roof{Workers: 2, Peak: 1e11, Bandwidth: instrument.Bandwidth{Read: 1e10}})
	s := musttest.Get(newSuiteReport(r))(t)
	text := report.Text(s)
	for _, want := range []string{"index: 100.0 with 1 worker", "index: 100.0 with 2 workers",
		"unknown on this system: ", "tiles-text/1", "More workers against one", " 50.0%",
		"waited for CPUs: tiles-text/1, 2 workers, in 1 of 40 passes; "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q isn't in\n%s", want, text)
		}
	}
	machine := s.Machine
	s.Machine = &host.Machine{Unknown: []string{"stepping"}}
	text = report.Text(s)
	for _, want := range []string{"family, model and stepping unknown, microcode unknown", "memory: unknown\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q isn't in\n%s", want, text)
		}
	}
	s.Machine = machine
	var d report.Document
	s.Describe(&d)
	var titles []string
	for _, section := range d.Sections() {
		for _, c := range section.Charts {
			titles = append(titles, c.Title)
		}
	}
	want := []string{"Against xeon-amx-2", "Efficiency per worker"}
	if !slices.Equal(titles, want) || len(d.Figures) != 2 {
		t.Errorf("charts %q and %d figures, expected %q and 2", titles, len(d.Figures), want)
	}
	var file bytes.Buffer
	musttest.Do(t, report.Write(&file, s, true))
	if again, err := instrument.Parse("s.json", file.Bytes()); err != nil || len(again.Rows) != len(r.Rows) {
		t.Errorf("-json isn't a result's file: %v", err)
	}
}

// Lists of workers may double, and end with all.
func TestWorkerList(t *testing.T) {
	for text, want := range map[string]string{"1,2,...,16": "1,2,4,8,16", "1,…,5": "1,2,4,5", "3": "3", "2,1": "2,1"} {
		var l workerList
		if err := l.Set(text); err != nil || l.String() != want {
			t.Errorf("%s: %s, %v, expected %s", text, &l, err, want)
		}
	}
	var all, zero workerList
	if all.Set("1,...,all") != nil || zero.Set("0") != nil || all[len(all)-1] != zero[0] {
		t.Errorf("all are %v and %v", all, zero)
	}
	for _, wrong := range []string{"...", "1,...", "1,1", "x", "-1", ""} {
		var l workerList
		if err := l.Set(wrong); err == nil {
			t.Errorf("%q is %v", wrong, l)
		}
	}
}
