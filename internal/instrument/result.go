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

// Schema is the version of the result file. Within a version, fields are only added.
const Schema = 1

// Result is the result of a run of the suite. docs/bench.md describes its file.
type Result struct {
	Schema  int           `json:"schema"`
	Date    string        `json:"date"`
	Program string        `json:"program"` // program version
	Go      string        `json:"go"`
	Machine *host.Machine `json:"machine"`
	GPU     string        `json:"gpu"` // GPU name, or why there is none; the suite measures the CPU
	ISA     asm.ISA       `json:"isa"`
	Caches  asm.Caches    `json:"caches"` // cache sizes that determine the head
	Costs   string        `json:"costs"`  // source of the head's cost constants
	Pinned  bool          `json:"pinned"`
	Bound   float64       `json:"bound_seconds"` // time limit of the rounds
	Partial bool          `json:"incomplete"`    // interrupted: fewer rounds, and no final check of results
	Rounds  int           `json:"rounds"`
	Roofs   []*Roof       `json:"roofs"`
	Rows    []*Row        `json:"rows"`
}

// Row is a workload with a number of workers.
type Row struct {
	Workload string  `json:"workload"`
	Version  int     `json:"version"`
	Workers  int     `json:"workers"`
	Unit     string  `json:"unit"`
	Units    float64 `json:"units"` // per pass
	Digest   string  `json:"digest"`
	Known    bool    `json:"digest_known"` // the digest equals that of other machines with the same instruction set
	Error    Error   `json:"error"`

	Seconds   []float64 `json:"seconds"`           // elapsed time of each pass, in the order of the rounds
	Processor []float64 `json:"processor_seconds"` // CPU time of each pass; nil if unknown
	MHz       []float64 `json:"mhz"`               // mean frequency of the workers' cores in each pass; nil if unknown
	Rate      Median    `json:"rate"`              // units per second
	Precise   bool      `json:"precise"`           // the interval is within 2%
	Short     int       `json:"short_passes"`      // number of passes whose workers waited for CPUs, in both tries
	RunToRun  float64   `json:"run_to_run"`        // SD between runs of the log of the lower quartile

	Others float64 `json:"other_cores"` // cores used by other programs in the meantime; negative if unknown
	Work   *Work   `json:"work,omitempty"`
}

// String returns the name of the row.
func (r *Row) String() string {
	return fmt.Sprintf("%s/%d, %s", r.Workload, r.Version, report.Counted(r.Workers, "worker", "workers"))
}

// maxOthers is the number of cores used by other programs above which -compare uses CPU time.
const maxOthers = 0.1

// Busy reports whether other programs used so many cores that -compare uses CPU time.
func (r *Row) Busy() bool { return r.Others > maxOthers && len(r.Processor) == len(r.Seconds) }

// times returns the time of each round in seconds: elapsed time or, if processor is set, CPU time
// per worker. If cycles is set, it returns millions of cycles.
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

// rates returns units per second, by round.
func (r *Row) rates() []float64 {
	rates := slices.Clone(r.Seconds)
	for k, s := range rates {
		rates[k] = r.Units / s
	}
	return rates
}

// Frequency returns the median frequency of the cores in MHz, or NaN if it is unknown.
func (r *Row) Frequency() float64 { return medianOf(r.MHz).Median }

// Cores returns the median number of CPUs that the process used, or 0 if it is unknown.
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

// Roof is the peak throughput for a number of workers: multiply-adds in registers, and bytes.
type Roof struct {
	Workers int     `json:"workers"`
	Peak    float64 `json:"peak_madd_per_s"`
	Bandwidth
}

// Row returns the row of a workload, or nil.
func (r *Result) Row(workload string, version, workers int) *Row {
	for _, row := range r.Rows {
		if row.Workload == workload && row.Version == version && row.Workers == workers {
			return row
		}
	}
	return nil
}

// Write writes the result file.
func (r *Result) Write(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	return enc.Encode(r)
}

// Load reads a result file.
func Load(path string) (*Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Parse parses a file that [Result.Write] or an earlier version wrote.
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

// check returns an error if the result is invalid.
func (r *Result) check() error {
	switch {
	case r.Schema == 0:
		return errors.New("no result of bench -suite: the schema is missing; reports of bench without -suite can't be " +
			"compared, write results by bench -suite quick -o FILE")
	case r.Schema > Schema:
		return fmt.Errorf("schema %d, expected at most %d: written by a newer version of the program", r.Schema, Schema)
	case r.Schema < 0 || r.Machine == nil || len(r.Rows) == 0:
		return errors.New("no machine or no rows, expected both")
	}
	seen := map[string]bool{}
	for i, row := range r.Rows {
		switch {
		case row == nil || row.Workload == "" || row.Workers < 1 || len(row.Seconds) == 0:
			return fmt.Errorf("row %d has no workload, workers or seconds, expected all three", i+1)
		case seen[row.String()]:
			return fmt.Errorf("row %d: duplicate of %s", i+1, row)
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
