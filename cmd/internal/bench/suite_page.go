package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/report"
)

// against plots the rate of each workload in percent of the reference machine's rate with one
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
	d.Chart("Workloads", c, "the index is their geometric mean")
}

// shortRow returns the name of a row in a chart.
func shortRow(row *instrument.Row) string {
	if row.Workers == 1 {
		return row.Workload
	}
	return fmt.Sprintf("%s x%d", row.Workload, row.Workers)
}

// roofline plots the machine's peak rate by multiply-adds per byte, and the rows with counted work.
func (s *suiteReport) roofline(d *report.Document) {
	c := chart.New("Roofline", "multiply-adds per byte", "G multiply-adds/s")
	for i, roof := range s.Roofs {
		var points []chart.Point
		for e := -8.0; e <= 32; e++ {
			x := math.Pow(2, e/4)
			points = append(points, chart.Point{X: x, Y: min(roof.Peak, roof.Read*x) / 1e9})
		}
		name := report.Counted(roof.Workers, "worker", "workers")
		c.Curve(name, chart.Colors[i%len(chart.Colors)], points, false)
		var names []string
		var ats []chart.Point // positions of labels; close points share one
		for _, row := range s.Rows {
			if row.Workers == roof.Workers && row.Work != nil && row.Work.Bytes > 0 {
				madds := float64(row.Work.Madds())
				at := chart.Point{X: madds / float64(row.Work.Bytes), Y: madds / row.Units * row.Rate.Median / 1e9}
				c.Curve("", chart.Colors[i%len(chart.Colors)], []chart.Point{at}, true)
				near := slices.IndexFunc(ats, func(o chart.Point) bool {
					return math.Abs(math.Log(o.X/at.X)) < 0.5 && math.Abs(math.Log(o.Y/at.Y)) < 0.3
				})
				if near >= 0 {
					names[near] += ", " + shortRow(row)
				} else {
					names, ats = append(names, shortRow(row)), append(ats, at)
				}
			}
		}
		for k, at := range ats {
			c.Text(names[k], at)
		}
	}
	if len(s.Roofs) == 0 {
		return
	}
	for _, axis := range []*chart.Axis{&c.X, &c.Y} {
		axis.Log, axis.Write = true, report.Float
	}
	d.Chart("Workloads", c, "lines: limits of registers and memory; points: measured tiles")
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
