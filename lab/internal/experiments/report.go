package experiments

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/repro"
)

// printedReport prints what an experiment found.
type printedReport struct {
	*repro.Report
}

// MarshalJSON implements json.Marshaler: the report's own fields, then the rows of all tables.
func (r *printedReport) MarshalJSON() ([]byte, error) {
	v := struct {
		*repro.Report
		Rows []json.RawMessage `json:"rows"`
	}{Report: r.Report, Rows: []json.RawMessage{}}
	for _, t := range r.Tables {
		rows, err := t.Objects()
		if err != nil {
			return nil, err
		}
		v.Rows = append(v.Rows, rows...)
	}
	return json.Marshal(v)
}

func (r *printedReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.Paper)
	for _, s := range r.Settings {
		fmt.Fprintf(w, "%s: %s\n", s.Name, s.Value)
	}
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\n%s\n", t.Title)
		writeTable(w, t)
	}
	if len(r.Tables) > 0 {
		fmt.Fprintln(w)
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, note)
	}
	if r.Incomplete != "" {
		fmt.Fprintf(w, "incomplete: %s\n", r.Incomplete)
	}
	fmt.Fprintf(w, "%s dot products, %s machines trained, %.1f s, peak memory %s\n", report.Count(r.DotProducts),
		report.Count(r.Trainings), r.Seconds, report.Bytes(r.PeakBytes))
}

// writeTable prints a table without the columns that have nothing in any row, such as figures that
// a paper doesn't print.
func writeTable(w io.Writer, t *repro.Table) {
	var shown []int
	var titles []string
	for i, c := range t.Columns {
		filled := slices.ContainsFunc(t.Rows, func(row []repro.Cell) bool { return row[i].Text != "" })
		if c.Data || !filled {
			continue
		}
		title := c.Title
		if !c.Left {
			title = ">" + title
		}
		shown, titles = append(shown, i), append(titles, title)
	}
	out := report.NewTable(titles...)
	for _, row := range t.Rows {
		var cells []string
		for _, i := range shown {
			cells = append(cells, row[i].Text)
		}
		out.Add(cells...)
	}
	out.Write(w)
}

// watch passes progress on to the bar or the log, with the time that is left.
type watch struct {
	p     *cli.Progress
	mu    sync.Mutex
	stage string
	begin time.Time
	first int64 // done at the beginning: what an earlier run has kept
}

// tell is the callback of an experiment.
func (w *watch) tell(stage string, done, total int64) {
	w.mu.Lock()
	if w.stage != stage {
		w.stage, w.begin, w.first = stage, time.Now(), done
	}
	var details []string
	if gone := time.Since(w.begin); gone >= 2*time.Second && done > w.first && total > done {
		left := float64(gone) * float64(total-done) / float64(done-w.first)
		details = []string{report.Wait(time.Duration(left)) + " left"}
	}
	w.mu.Unlock()
	w.p.Tell(stage, done, total, details)
}
