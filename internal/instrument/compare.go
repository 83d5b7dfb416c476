package instrument

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	"github.com/gramengine/gram/internal/report"
)

// Comparison is the result of [Compare].
type Comparison struct {
	Rows    []ComparedRow `json:"rows"`
	Mean    Ratio         `json:"geometric_mean"`
	Differs bool          `json:"differs"`         // whether the mean or any row differs
	Machine []string      `json:"machine"`         // differences between machines and runs, "name: a, b"
	LeftOut []string      `json:"left_out"`        // rows that are in one file only
	Hints   []string      `json:"hints"`           // possible reasons for different rates
	Below   []string      `json:"below,omitempty"` // rows and mean below the threshold of Fails
	Names   [2]string     `json:"files"`
}

// ComparedRow is a row of both files.
type ComparedRow struct {
	Workload string     `json:"workload"`
	Version  int        `json:"version"`
	Workers  int        `json:"workers"`
	Unit     string     `json:"unit"`
	Rates    [2]float64 `json:"rates"`
	Ratio
	RunToRun  float64 `json:"run_to_run"`        // allowed standard deviation between runs
	Processor bool    `json:"by_processor_time"` // CPU time was compared, because other programs were busy
	Cycles    bool    `json:"by_cycles"`         // cycles were compared, from the frequency measured in each round
	Different bool    `json:"differs"`
}

// Compare compares the rates of b with the rates of a, for rows with the same workload, version and
// workers. The intervals of all ratios hold simultaneously with probability 95%. Consecutive rounds
// are correlated, so batches of rounds are compared, with an allowance for the variation between
// runs. Runs on one machine are compared by cycles, because the frequency changes.
func Compare(a, b *Result) (*Comparison, error) {
	c := &Comparison{Machine: differences(a, b)}
	one := maps.Equal(machineFacts(a), machineFacts(b))
	var as, bs [][]float64
	var vary [][2]float64
	for _, row := range a.Rows {
		other := b.Row(row.Workload, row.Version, row.Workers)
		if other == nil {
			c.LeftOut = append(c.LeftOut, row.String())
			continue
		}
		for k, r := range []*Row{row, other} {
			if n := len(r.Seconds); n < 2*minBatch {
				return nil, fmt.Errorf("%s has %s in the %s file, expected at least %d to compare", row,
					report.Counted(n, "round", "rounds"), [2]string{"first", "second"}[k], 2*minBatch)
			}
		}
		if row.Units != other.Units || row.Unit != other.Unit {
			return nil, fmt.Errorf("%s is of %g %s in the first file and of %g %s in the second, expected the same work", row,
				row.Units, row.Unit, other.Units, other.Unit)
		}
		if one && a.ISA == b.ISA && a.Caches == b.Caches && row.Digest != other.Digest {
			c.Hints = append(c.Hints, fmt.Sprintf("%s: other bits on one machine, digest %s, then %s: soak looks for the core",
				row, row.Digest, other.Digest))
		}
		busy := row.Busy() || other.Busy()
		busy = busy && len(row.Processor) == len(row.Seconds) && len(other.Processor) == len(other.Seconds)
		cycles := one && len(row.MHz) == len(row.Seconds) && len(other.MHz) == len(other.Seconds)
		as, bs = append(as, logBatches(row.times(busy, cycles))), append(bs, logBatches(other.times(busy, cycles)))
		vary = append(vary, [2]float64{row.runToRun(), other.runToRun()})
		c.Rows = append(c.Rows, ComparedRow{Workload: row.Workload, Version: row.Version, Workers: row.Workers,
			Unit: row.Unit, RunToRun: max(row.runToRun(), other.runToRun()),
			Rates: [2]float64{row.Rate.Median, other.Rate.Median}, Processor: busy, Cycles: cycles})
		if f, g := row.Frequency(), other.Frequency(); !(math.Abs(math.Log(g/f)) <= 0.02) && f > 0 &&
			g > 0 {
			c.Hints = append(c.Hints, fmt.Sprintf("%s: %.0f MHz, then %.0f", row, f, g))
		}
		for _, r := range []*Row{row, other} {
			if r.Others > maxOthers {
				c.Hints = append(c.Hints, fmt.Sprintf("%s: other processes took %.1f cores", row, r.Others))
			}
		}
	}
	for _, row := range b.Rows {
		if a.Row(row.Workload, row.Version, row.Workers) == nil {
			c.LeftOut = append(c.LeftOut, row.String())
		}
	}
	if len(c.Rows) == 0 {
		return nil, fmt.Errorf("no workload of one version and number of workers is in both, expected some")
	}
	ratios, mean := compareBatches(as, bs, vary)
	c.Mean, c.Differs = mean, mean.Differs()
	for i, r := range ratios {
		c.Rows[i].Ratio, c.Rows[i].Different = r, r.Differs()
		c.Differs = c.Differs || r.Differs()
	}
	return c, nil
}

// Fails lists what differs with a ratio less than below, and reports whether there is any.
func (c *Comparison) Fails(below float64) bool {
	note := func(name string, r Ratio) {
		if r.Differs() && r.Ratio < below {
			c.Below = append(c.Below, fmt.Sprintf("%s: %.3f of the first, expected at least %.3g", name, r.Ratio, below))
		}
	}
	for _, row := range c.Rows {
		note((&Row{Workload: row.Workload, Version: row.Version, Workers: row.Workers}).String(), row.Ratio)
	}
	note("the geometric mean", c.Mean)
	return len(c.Below) > 0
}

// differences lists the differences of machines, programs and runs, with the names of the files'
// fields. It ignores dates, memory in use and measurements.
func differences(a, b *Result) (list []string) {
	x, y := facts(a), facts(b)
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if x[name] != y[name] {
			list = append(list, fmt.Sprintf("%s: %s, %s", name, x[name], y[name]))
		}
	}
	return list
}

// facts returns a file's description of the machine and the run.
func facts(r *Result) map[string]string {
	out := machineFacts(r)
	maps.Copy(out, map[string]string{"program": r.Program + " " + r.Go, "isa": string(r.ISA), "gpu": r.GPU,
		"pinned": fmt.Sprint(r.Pinned), "incomplete": fmt.Sprint(r.Partial), "head": fmt.Sprint(r.Caches, " ", r.Costs)})
	return out
}

func machineFacts(r *Result) map[string]string {
	out := map[string]string{}
	machine := reflect.ValueOf(*r.Machine)
	for i := range machine.NumField() {
		if name := machine.Type().Field(i).Tag.Get("json"); name != "-" && name != "memory_used_bytes" {
			out[name] = fmt.Sprint(machine.Field(i))
		}
	}
	return out
}

// compareBatches compares batches of rows of two runs, and the geometric means over all rows, whose
// allowances are independent.
func compareBatches(a, b [][]float64, vary [][2]float64) (ratios []Ratio, mean Ratio) {
	var all [2]float64
	for i := range a {
		ratios = append(ratios, ratioOf(a[i], b[i], vary[i], len(a)+1))
		all[0], all[1] = math.Hypot(all[0], vary[i][0]/float64(len(a))), math.Hypot(all[1], vary[i][1]/float64(len(a)))
	}
	return ratios, ratioOf(meanBatches(a), meanBatches(b), all, len(a)+1)
}

// runToRun returns the allowance in the row's file, else the workload's, else the largest of all.
func (r *Row) runToRun() float64 {
	most := 0.0
	for _, w := range Workloads {
		if most = max(most, w.RunToRun); w.Name == r.Workload && r.RunToRun == 0 {
			return w.RunToRun
		}
	}
	return cmp.Or(r.RunToRun, most)
}

// meanBatches returns the mean over rows by batch, up to the smallest number of batches.
func meanBatches(rows [][]float64) (mean []float64) {
	least := slices.MinFunc(rows, func(a, b []float64) int { return len(a) - len(b) })
	mean = make([]float64, len(least))
	for _, row := range rows {
		for k := range mean {
			mean[k] += row[k] / float64(len(rows))
		}
	}
	return mean
}

// Index returns the geometric mean of a run's median rates, in percent of the reference's rates
// with one worker, and the number of workloads that both have.
func Index(r, reference *Result, workers int) (percent float64, workloads int) {
	sum := 0.0
	for _, row := range r.Rows {
		if of := reference.Row(row.Workload, row.Version, 1); of != nil && row.Workers == workers {
			sum += math.Log(row.Rate.Median / of.Rate.Median)
			workloads++
		}
	}
	if workloads == 0 {
		return 0, 0
	}
	return 100 * math.Exp(sum/float64(workloads)), workloads
}
