package experiments

import (
	"encoding/json"
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

func (r *printedReport) Describe(d *report.Document) {
	d.Line(r.Paper)
	for _, s := range r.Settings {
		d.Linef("%s: %s", s.Name, s.Value)
	}
	for _, t := range r.Tables {
		d.Table(t.Title, t.Title, textTable(t))
	}
	if len(r.Tables) > 0 {
		d.Line("")
	}
	for _, note := range r.Notes {
		d.Line(note)
	}
	if r.Incomplete != "" {
		d.Linef("incomplete: %s", r.Incomplete)
	}
	d.Linef("%s dot products, %s machines trained, %.1f s, peak memory %s", report.Count(r.DotProducts),
		report.Count(r.Trainings), r.Seconds, report.Bytes(r.PeakBytes))
}

// textTable returns a table without the columns that have nothing in any row, such as figures that
// a paper doesn't print.
func textTable(t *repro.Table) *report.Table {
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
	return out
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
