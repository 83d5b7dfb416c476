package machines

import (
	"fmt"
	"strings"

	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/report"
)

// Page is the page of the book, docs/machines.md: what the files say.
func Page() (string, error) {
	var results []*instrument.Result
	for _, name := range Names() {
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
		"The index is the geometric mean of the workloads' rates on one worker, 100 for " + Reference + ". Where other\n" +
		"programs kept cores busy, rates are by the process's own processor time, with `*`, and less certain.\n\n")
	row(&b, "machine", "processor", "sockets, cores, threads", "hypervisor", "instruction set", "date", "busy", "index")
	row(&b, strings.Fields(strings.Repeat("--- ", 8))...)
	for i, r := range results {
		index, _ := instrument.Index(r, reference, 1)
		busy := 0.0
		for _, row := range r.Rows {
			busy = max(busy, row.Others)
		}
		m := r.Machine
		row(&b, Names()[i], m.Model, fmt.Sprintf("%d, %d, %d", m.Sockets, m.Cores, m.Threads), m.Hypervisor, string(r.ISA),
			r.Date[:min(len(r.Date), 10)], fmt.Sprintf("%.1f cores", busy), fmt.Sprintf("%.1f", index))
	}
	b.WriteString("\n## Rates on one worker\n\nUnits a second:\n\n")
	row(&b, append([]string{"workload", "unit"}, Names()...)...)
	row(&b, strings.Fields(strings.Repeat("--- ", 2+len(results)))...)
	for _, w := range instrument.Workloads {
		cells := []string{w.String(), w.Unit}
		for _, r := range results {
			rate := ""
			if of := r.Row(w.Name, w.Version, 1); of != nil {
				rate = report.Rate(of.Undisturbed()) + map[bool]string{true: "*"}[of.Busy()]
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
