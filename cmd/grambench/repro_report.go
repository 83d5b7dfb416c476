package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/repro"
	"github.com/gramengine/gram/solver/svm"
)

// reproReport prints what an experiment found.
type reproReport struct {
	*repro.Report
}

// MarshalJSON implements json.Marshaler: the report's own fields, then the rows of all tables.
func (r *reproReport) MarshalJSON() ([]byte, error) {
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

func (r *reproReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.Paper)
	for _, s := range r.Settings {
		fmt.Fprintf(w, "%s: %s\n", s.Name, s.Value)
	}
	for _, t := range r.Tables {
		fmt.Fprintf(w, "\n%s\n", t.Title)
		writeReproTable(w, t)
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
	fmt.Fprintf(w, "%s dot products, %s machines trained, %.1f s, peak memory %s\n", formatCount(r.DotProducts), formatCount(r.Trainings), r.Seconds, formatBytes(r.PeakBytes))
}

// writeReproTable prints a table without the columns that have nothing in any row, such as figures that a paper doesn't print.
func writeReproTable(w io.Writer, t *repro.Table) {
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
	out := newTable(titles...)
	for _, row := range t.Rows {
		var cells []string
		for _, i := range shown {
			cells = append(cells, row[i].Text)
		}
		out.add(cells...)
	}
	out.write(w)
}

// reproWatch passes progress on to the bar or the log, with the time that is left.
type reproWatch struct {
	p     *progress
	mu    sync.Mutex
	stage string
	begin time.Time
	first int64 // done at the beginning: what an earlier run has kept
}

func newReproWatch(p *progress) *reproWatch {
	w := &reproWatch{p: p}
	p.tell = w.left
	return w
}

// tell is the callback of an experiment.
func (w *reproWatch) tell(stage string, done, total int64) {
	w.mu.Lock()
	if w.stage != stage {
		w.stage, w.begin, w.first = stage, time.Now(), done
	}
	w.mu.Unlock()
	w.p.training(svm.Progress{Stage: stage, Done: done, Total: total, HitRate: math.NaN()})
}

// left says how long the stage will go on.
func (w *reproWatch) left(s svm.Progress) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	gone := time.Since(w.begin)
	if gone < 2*time.Second || s.Done <= w.first || s.Total <= s.Done {
		return nil
	}
	return []string{formatWait(time.Duration(float64(gone)*float64(s.Total-s.Done)/float64(s.Done-w.first))) + " left"}
}
