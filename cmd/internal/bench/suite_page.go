package bench

import (
	"slices"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/report"
)

// against plots the rate of each workload in percent of the reference computer's rate with one
// worker.
func (s *suiteReport) against(d *report.Document) {
	var names, workers []string
	for _, row := range s.Rows {
		if s.reference.Row(row.Workload, row.Version, 1) != nil && !slices.Contains(names, row.Workload) {
			names = append(names, row.Workload)
		}
	}
	for _, row := range s.Index {
		workers = append(workers, report.Counted(row.Workers, "worker", "workers"))
	}
	if len(names) == 0 {
		return
	}
	c := chart.New("Against "+s.Reference, "", "percent of its rate with one worker")
	c.Bars(names, workers, func(i, k int) float64 {
		for _, row := range s.Rows {
			of := s.reference.Row(row.Workload, row.Version, 1)
			if of != nil && row.Workload == names[i] && row.Workers == s.Index[k].Workers {
				return 100 * row.Rate.Median / of.Rate.Median
			}
		}
		return 0
	})
	d.Chart("Workloads", c, "index: geometric mean over the workloads")
}

// scaling plots the efficiency per worker.
func (s *suiteReport) scaling(d *report.Document) {
	if len(s.Scaling) == 0 {
		return
	}
	c := chart.New("Efficiency per worker", "workers", "percent of a single worker")
	for i, w := range instrument.Workloads {
		points := []chart.Point{{X: 1, Y: 100}}
		for _, row := range s.Scaling {
			if row.Workload == w.Name {
				points = append(points, chart.Point{X: float64(row.Workers), Y: 100 * row.Efficiency})
			}
		}
		c.Curve(w.Name, chart.Colors[i%len(chart.Colors)], points, true)
	}
	c.Y.Min, c.X.Step = 0, 1
	d.Chart("Scaling", c, "as in the table")
}
