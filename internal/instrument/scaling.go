package instrument

import (
	"fmt"
	"strings"

	"github.com/gramengine/gram/internal/host"
	"github.com/gramengine/gram/internal/report"
)

// Scaled is what more workers of a workload give.
type Scaled struct {
	Workload   string  `json:"workload"`
	Workers    int     `json:"workers"`
	SpeedUp    float64 `json:"speed_up"`
	Efficiency float64 `json:"efficiency"` // of each worker, against one alone
	Bounds     string  `json:"bounds"`     // what takes the rest, from what can be measured
}

// Scaling compares the rows on several workers with those on one.
func (r *Result) Scaling() (list []Scaled) {
	for _, row := range r.Rows {
		one := r.Row(row.Workload, row.Version, 1)
		if one == nil || row.Workers == 1 {
			continue
		}
		up := row.Rate.Median / one.Rate.Median
		s := Scaled{Workload: row.Workload, Workers: row.Workers, SpeedUp: up, Efficiency: up / float64(row.Workers)}
		s.Bounds = r.bounds(one, row, s.Efficiency)
		list = append(list, s)
	}
	return list
}

// worthwhile is the least part of the time that is named, and what efficiency may miss without a name.
const worthwhile = 0.03

// bounds names what reduces efficiency: lower frequency, threads that share a core, a container's limit, workers that
// waited, other programs, idle processors, and the rest.
func (r *Result) bounds(one, row *Row, efficiency float64) string {
	var named []string
	explained := 1.0
	take := func(part float64, format string, args ...any) {
		if part < 1-worthwhile {
			explained *= part
			named = append(named, fmt.Sprintf(format, args...))
		}
	}
	workers := float64(row.Workers)
	if fast, now := one.Frequency(), row.Frequency(); fast > 0 && now > 0 {
		take(now/fast, "frequency %.0f instead of %.0f MHz", now, fast)
	}
	if cores := r.coresOf(row.Workers); cores < row.Workers {
		take(float64(cores)/workers, "%s on %s", report.Counted(row.Workers, "worker", "workers"), report.Counted(cores,
			"core", "cores"))
	}
	if quota := r.Machine.QuotaCPUs; quota > 0 && quota < workers {
		take(quota/workers, "the container's limit of %.3g processors", quota)
	}
	if row.Short > 0 {
		named = append(named, fmt.Sprintf("workers waited for processors in %d of %s", row.Short,
			report.Counted(len(row.Seconds), "pass", "passes")))
	}
	if row.Others > mostOthers {
		named = append(named, fmt.Sprintf("other processes took %.1f cores", row.Others))
	}
	if busy := row.Cores(); busy > 0 {
		take(busy/workers, "%.2f of %d processors busy", busy, row.Workers)
	}
	if efficiency/explained < 1-2*worthwhile {
		named = append(named, r.left(row))
	}
	return strings.Join(named, "; ")
}

// left names what no counter takes apart.
func (r *Result) left(row *Row) string {
	for _, roof := range r.Roofs {
		if roof.Workers == row.Workers && row.Work != nil && roof.Read > 0 {
			part := float64(row.Work.Bytes) / row.Units * row.Rate.Median / roof.Read
			if part > 0.5 {
				return fmt.Sprintf("bandwidth, %s of what can be read", report.Percent(part))
			}
			return fmt.Sprintf("shared caches or latency (%s of the bandwidth)", report.Percent(part))
		}
	}
	return "what isn't computed in parallel, shared caches or latency"
}

// coresOf is how many cores so many workers run on, as far as is known.
func (r *Result) coresOf(workers int) int {
	most := workers
	for _, known := range []int{len(host.ParseList(r.Machine.Allowed)), r.Machine.Threads} {
		if known > 0 {
			most = min(most, known)
		}
	}
	if r.Machine.Threads <= r.Machine.Cores || r.Machine.Cores == 0 {
		return most
	}
	order := r.Machine.Order()
	if len(order) == 0 { // the result is a file's
		return min(most, r.Machine.Cores)
	}
	cores := map[int]bool{}
	for _, c := range order[:min(workers, len(order))] {
		cores[c.Core] = true
	}
	return len(cores)
}
