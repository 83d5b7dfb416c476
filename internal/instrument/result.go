package instrument

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/klauspost/cpuid/v2"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/report"
)

// Result is the result of [Run].
type Result struct {
	ISA        asm.ISA `json:"isa"`
	Incomplete bool    `json:"incomplete"` // true if an interruption skipped rounds and the final check of results
	Rounds     int     `json:"rounds"`
	Rows       []*Row  `json:"rows"`
}

// Row is the result for a workload and a number of workers.
type Row struct {
	Workload       string      `json:"workload"`
	Version        int         `json:"version"`
	Workers        int         `json:"workers"`
	Unit           string      `json:"unit"`
	UnitCount      float64     `json:"units"` // number of units of work per pass
	Digest         string      `json:"digest"`
	HasKnownDigest bool        `json:"digest_known"` // true if the digest with ReferenceCaches equals the known digest
	Error          SampleError `json:"error"`

	Seconds   []float64 `json:"seconds"` // time of each pass, in the order of the rounds
	Rate      Median    `json:"rate"`    // units per second
	IsPrecise bool      `json:"precise"` // true if the median's confidence interval is within 2% of the median
}

// String returns a label for the row: the workload, its version and the number of workers.
func (r *Row) String() string {
	return fmt.Sprintf("%s/%d, %s", r.Workload, r.Version, report.FormatCountOf(r.Workers, "worker", "workers"))
}

func (r *Row) rates() []float64 {
	rates := slices.Clone(r.Seconds)
	for k, s := range rates {
		rates[k] = r.UnitCount / s
	}
	return rates
}

// Write writes a line per pass in Go's benchmark format (golang.org/design/14313-benchmark-format),
// which benchstat compares.
func (r *Result) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\ncpu: %s\nisa: %s\n", runtime.GOOS, runtime.GOARCH,
		strings.TrimSpace(cpuid.CPU.BrandName), r.ISA)
	for _, row := range r.Rows {
		for _, s := range row.Seconds {
			fmt.Fprintf(&b, "BenchmarkSuite/%s/version=%d/workers=%d 1 %.0f ns/op %.6g %s/s\n", row.Workload, row.Version,
				row.Workers, 1e9*s, row.UnitCount/s, row.Unit)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const confidenceLevel = 0.95

// Median is a sample median with its confidence interval, which contains the true median with a
// probability of at least 95% if there are at least 6 values.
type Median struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// medianOf computes the confidence interval from order statistics. The number of values below the
// true median is binomial. So the true median is between the k-th smallest and k-th largest value
// with probability 1 - 2 P(B(n, ½) < k). For fewer than 6 values, the interval is from minimum to
// maximum and has a lower confidence level (David and Nagaraja, Order Statistics, 2003, §7.1).
func medianOf(values []float64) Median {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	if n == 0 {
		return Median{math.NaN(), math.NaN(), math.NaN()}
	}
	rank, below := 0, distuv.Binomial{N: float64(n), P: 0.5}
	for rank+1 < (n+1)/2 && 2*below.CDF(float64(rank+1)) <= 1-confidenceLevel {
		rank++
	}
	return Median{report.Median(values), sorted[rank], sorted[n-1-rank]}
}

// isWithin reports whether n is at least 6, and the interval is within (1 ± part)·median.
func (m Median) isWithin(part float64, n int) bool {
	return n >= 6 && m.High-m.Median <= part*m.Median && m.Median-m.Low <= part*m.Median
}
