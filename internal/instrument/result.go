package instrument

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/host"
	"github.com/gramengine/gram/internal/report"
)

// Schema is the version of a result's file. Version 1 is the first; fields are only ever added within a version.
const Schema = 1

// Result is what a run of the suite found. docs/bench.md describes its file.
type Result struct {
	Schema  int           `json:"schema"`
	Date    string        `json:"date"`
	Program string        `json:"program"` // its version
	Go      string        `json:"go"`
	Machine *host.Machine `json:"machine"`
	GPU     string        `json:"gpu"` // its name, or why there is none; the suite measures the processor
	ISA     asm.ISA       `json:"isa"`
	Caches  asm.Caches    `json:"caches"` // that the head goes by
	Costs   string        `json:"costs"`  // where the head's cost constants come from
	Pinned  bool          `json:"pinned"`
	Bound   float64       `json:"bound_seconds"` // most that rounds were to take
	Partial bool          `json:"incomplete"`    // interrupted: fewer rounds, and no check of results after them
	Rounds  int           `json:"rounds"`
	Roofs   []*Roof       `json:"roofs"`
	Rows    []*Row        `json:"rows"`
}

// Row is a workload on some workers.
type Row struct {
	Workload string  `json:"workload"`
	Version  int     `json:"version"`
	Workers  int     `json:"workers"`
	Unit     string  `json:"unit"`
	Units    float64 `json:"units"` // of a pass
	Digest   string  `json:"digest"`
	Known    bool    `json:"digest_known"` // the same as on other machines with that instruction set
	Error    Error   `json:"error"`

	Seconds   []float64 `json:"seconds"`           // of the passes, in the order of the rounds
	Processor []float64 `json:"processor_seconds"` // that the process took in each; nil where the system doesn't tell
	MHz       []float64 `json:"mhz"`               // beside each, mean of the workers; nil if unknown
	Rate      Median    `json:"rate"`              // units per second
	Precise   bool      `json:"precise"`           // the interval is within 2 %
	Short     int       `json:"short_passes"`      // passes whose workers waited for processors, in two tries
	RunToRun  float64   `json:"run_to_run"`        // standard deviation between runs of the log of the lower quartile

	Others float64 `json:"other_cores"` // that other programs kept busy meanwhile; below 0 if unknown
	Work   *Work   `json:"work,omitempty"`
}

// String names the row.
func (r *Row) String() string {
	return fmt.Sprintf("%s/%d, %s", r.Workload, r.Version, report.Counted(r.Workers, "worker", "workers"))
}

// mostOthers is the number of cores kept busy by other programs above which -compare uses processor time.
const mostOthers = 0.1

// Busy reports whether other programs took so much that -compare uses processor time.
func (r *Row) Busy() bool { return r.Others > mostOthers && len(r.Processor) == len(r.Seconds) }

// times are the seconds of the rounds, of the clock or, divided by the workers, of the process; or millions of cycles
// in them.
func (r *Row) times(processor, cycles bool) []float64 {
	out := slices.Clone(r.Seconds)
	for i := range out {
		if processor {
			out[i] = max(r.Processor[i], 1e-9) / float64(r.Workers)
		}
		if cycles {
			out[i] *= max(r.MHz[i], 1)
		}
	}
	return out
}

// rates are units per second, by round.
func (r *Row) rates() []float64 {
	rates := slices.Clone(r.Seconds)
	for k, s := range rates {
		rates[k] = r.Units / s
	}
	return rates
}

// Frequency is the median of the cores' frequency in MHz, NaN where it isn't known.
func (r *Row) Frequency() float64 { return medianOf(r.MHz).Median }

// Cores returns the median number of processors that the process kept busy, 0 if unknown.
func (r *Row) Cores() float64 {
	if len(r.Processor) != len(r.Seconds) || len(r.Seconds) == 0 {
		return 0
	}
	busy := slices.Clone(r.Processor)
	for k := range busy {
		busy[k] /= r.Seconds[k]
	}
	return report.Median(busy)
}

// Roof is what some workers could do at most: multiply-adds in registers, and bytes.
type Roof struct {
	Workers int     `json:"workers"`
	Peak    float64 `json:"peak_madd_per_s"`
	Bandwidth
}

// Row returns the row of a workload, nil where there is none.
func (r *Result) Row(workload string, version, workers int) *Row {
	for _, row := range r.Rows {
		if row.Workload == workload && row.Version == version && row.Workers == workers {
			return row
		}
	}
	return nil
}

// Write writes the result's file.
func (r *Result) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}

// Load reads a file of a result.
func Load(path string) (*Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Parse reads what [Result.Write] wrote, or what earlier programs did.
func Parse(name string, text []byte) (*Result, error) {
	var r Result
	if err := json.Unmarshal(text, &r); err != nil {
		at := (*json.SyntaxError)(nil)
		if errors.As(err, &at) {
			return nil, fmt.Errorf("%s:%d: %w, expected a result of bench -suite", name,
				1+bytes.Count(text[:min(at.Offset, int64(len(text)))], []byte("\n")), err)
		}
		return nil, fmt.Errorf("%s: %w, expected a result of bench -suite", name, err)
	}
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &r, nil
}

// check finds what no program wrote.
func (r *Result) check() error {
	switch {
	case r.Schema == 0:
		return errors.New("no result of bench -suite: the schema is missing; reports of bench without -suite can't be " +
			"compared, write results by bench -suite quick -o FILE")
	case r.Schema > Schema:
		return fmt.Errorf("schema %d, expected at most %d: a newer program wrote it", r.Schema, Schema)
	case r.Schema < 0 || r.Machine == nil || len(r.Rows) == 0:
		return errors.New("no machine or no rows, expected both")
	}
	seen := map[string]bool{}
	for i, row := range r.Rows {
		switch {
		case row == nil || row.Workload == "" || row.Workers < 1 || len(row.Seconds) == 0:
			return fmt.Errorf("row %d has no workload, workers or seconds, expected all three", i+1)
		case seen[row.String()]:
			return fmt.Errorf("row %d: %s is there twice", i+1, row)
		case !(row.RunToRun >= 0 && row.RunToRun < 1):
			return fmt.Errorf("row %d: %s: runs vary by %g, expected a part from 0 to 1", i+1, row, row.RunToRun)
		case !(row.Units > 0 && row.Units < 1e300) || !(row.Rate.Median > 0):
			return fmt.Errorf("row %d: %s: %g units at %g a second, expected positive numbers", i+1, row, row.Units,
				row.Rate.Median)
		}
		seen[row.String()] = true
		for k, mhz := range row.MHz {
			if !(mhz > 0 && mhz < 1e6) {
				return fmt.Errorf("row %d: %s: %g MHz in round %d, expected a frequency", i+1, row, mhz, k+1)
			}
		}
		for k, s := range slices.Concat(row.Seconds, row.Processor) {
			if !(s >= 0 && s < 1e9) || k < len(row.Seconds) && s == 0 {
				return fmt.Errorf("row %d: %s: round %d took %g s, expected a positive number", i+1, row, k%len(row.Seconds)+1, s)
			}
		}
	}
	return nil
}
