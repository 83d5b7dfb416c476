package machines

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

var update = flag.Bool("update-book", false, "write docs/machines.md anew")

// The page is what the files say.
func TestPage(t *testing.T) {
	const file = "../machines.md"
	want := musttest.Get(bookPage())(t)
	if *update {
		musttest.Do(t, os.WriteFile(file, []byte(want), 0o644))
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s isn't what go test ./docs/machines -update-book writes, %v", file, err)
	}
}

// Every file of the book is whole: workloads on one worker, checked results, a machine and a date.
func TestBook(t *testing.T) {
	if !slices.Contains(names(), Reference) {
		t.Fatalf("%s isn't among %v", Reference, names())
	}
	for _, name := range names() {
		r, err := Load(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := time.Parse(time.RFC3339, r.Date); err != nil || r.Machine.Model == "" || r.Machine.Cores == 0 {
			t.Errorf("%s: %v, machine %+v", name, err, r.Machine)
		}
		measured := 0 // a workload that came after the file is none of it
		for _, w := range instrument.Workloads {
			row := r.Row(w.Name, w.Version, 1)
			if row == nil {
				continue
			}
			if measured++; !row.Known || !(row.Error.Part <= 1) || len(row.Seconds) < 24 {
				t.Errorf("%s: %s is %+v, expected at least 24 checked rounds", name, w, row)
			}
		}
		if measured < 6 {
			t.Errorf("%s: %d workloads, expected at least 6", name, measured)
		}
	}
	r := musttest.Get(Load(Reference))(t)
	if index, n := instrument.Index(r, r, 1); index != 100 || n != len(r.Rows) {
		t.Errorf("the index of the reference is %v of %d workloads", index, n)
	}
	if _, err := Load("none"); err == nil {
		t.Errorf("a machine that isn't there: %v", err)
	}
}

// names are the names of the files without their ending, in alphabetical order.
func names() (list []string) {
	entries, _ := files.ReadDir(".") // embedded: it's there
	for _, e := range entries {
		list = append(list, strings.TrimSuffix(e.Name(), ".json"))
	}
	return list
}

// bookPage is the page of the book, docs/machines.md: what the files say.
func bookPage() (string, error) {
	var results []*instrument.Result
	for _, name := range names() {
		r, err := Load(name)
		if err != nil {
			return "", err
		}
		results = append(results, r)
	}
	reference, err := Load(Reference)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("# Machines\n\nWhat `grambench bench -suite` measured, made of the files in [machines](machines) by\n" +
		"`go test ./docs/machines -update-book`; [bench.md](bench.md) says how. A machine is added by its file.\n\n" +
		"The index is the geometric mean of the workloads' rates on one worker, 100 for " + Reference + ". Rates with\n" +
		"`*` were measured while other programs kept cores busy, and are less certain.\n\n")
	row(&b, "machine", "processor", "sockets, cores, threads", "hypervisor", "instruction set", "date", "busy", "index")
	row(&b, strings.Fields(strings.Repeat("--- ", 8))...)
	for i, r := range results {
		index, _ := instrument.Index(r, reference, 1)
		busy := 0.0
		for _, row := range r.Rows {
			busy = max(busy, row.Others)
		}
		m := r.Machine
		row(&b, names()[i], m.Model, fmt.Sprintf("%d, %d, %d", m.Sockets, m.Cores, m.Threads), m.Hypervisor, string(r.ISA),
			r.Date[:min(len(r.Date), 10)], fmt.Sprintf("%.1f cores", busy), fmt.Sprintf("%.1f", index))
	}
	b.WriteString("\n## Rates on one worker\n\n" +
		"Units a second; empty where a machine has not run that version of a workload:\n\n")
	row(&b, append([]string{"workload", "unit"}, names()...)...)
	row(&b, strings.Fields(strings.Repeat("--- ", 2+len(results)))...)
	for _, w := range instrument.Workloads {
		cells := []string{w.String(), w.Unit}
		for _, r := range results {
			rate := ""
			if of := r.Row(w.Name, w.Version, 1); of != nil {
				rate = report.Rate(of.Rate.Median) + map[bool]string{true: "*"}[of.Busy()]
			}
			cells = append(cells, rate)
		}
		row(&b, cells...)
	}
	b.WriteString("\n## What each is\n\n")
	row(&b, "workload", "a pass")
	row(&b, "---", "---")
	for _, w := range instrument.Workloads {
		row(&b, w.String(), w.What)
	}
	return b.String(), nil
}

// row writes a row of a table.
func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}
