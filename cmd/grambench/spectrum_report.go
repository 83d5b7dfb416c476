package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gramengine/gram/engine/spectrum"
)

// spectrumReport is the report of the command spectrum.
type spectrumReport struct {
	Corpus      corpusLine     `json:"corpus"`
	Sets        int            `json:"sets,omitempty"` // of points, which are the rows of the matrices then, in a space of so many coordinates
	Coordinates int            `json:"coordinates,omitempty"`
	Centred     bool           `json:"centred"`
	Seed        uint64         `json:"seed"`
	Rows        []*spectrumRow `json:"rows"`
	k           int
}

// What was computed.
const (
	methodAll     = "all"
	methodLanczos = "lanczos"
)

// What the smallest eigenvalue says.
const (
	verdictPSD       = "psd to rounding"
	verdictUndecided = "undecided"
	verdictNot       = "not psd"
	verdictUnknown   = "not converged" // the smallest eigenvalue may be further down than the value that Lanczos has
)

// spectrumRow is one matrix.
type spectrumRow struct {
	Kernel    string          `json:"kernel"`
	T         float64         `json:"t,omitempty"`         // the kernel's, 0 where it has none
	Embedding string          `json:"embedding,omitempty"` // sets of points have none
	ISA       string          `json:"isa"`
	Why       string          `json:"backend_reason,omitempty"` // why -backend auto took it
	Documents int             `json:"documents"`
	Definite  string          `json:"definite"` // what is known of the kernel
	Condition string          `json:"condition,omitempty"`
	Method    string          `json:"method"`
	Steps     int             `json:"steps,omitempty"` // of Lanczos
	Max       number          `json:"max"`
	Min       number          `json:"min"`
	Rounding  number          `json:"rounding"`        // n·2⁻²⁴·|λ|max
	Likely    number          `json:"rounding_likely"` // 2⁻²⁴·‖K‖
	Verdict   string          `json:"verdict"`
	Largest   []spectrumValue `json:"largest"`
	Smallest  []spectrumValue `json:"smallest"`
	Trace     number          `json:"trace"`
	Sums      []spectrumSum   `json:"sums"`
	Values    []number        `json:"eigenvalues,omitempty"` // all of them, the largest first
	Seconds   float64         `json:"seconds"`
	PeakBytes int64           `json:"peak_bytes"`

	family string // the kernel without t
}

// spectrumValue is an eigenvalue; one of all eigenvalues has no residual.
type spectrumValue struct {
	Value     number  `json:"value"`
	Residual  *number `json:"residual,omitempty"`
	Converged bool    `json:"converged"`
}

// spectrumSum is Σ min(r, λ_j) over the eigenvalues of K/n and its root: known to be between two bounds, which agree where all eigenvalues are known.
type spectrumSum struct {
	R         number `json:"r"`
	Least     number `json:"sum_least"`
	Most      number `json:"sum_most"`
	TermLeast number `json:"term_least"`
	TermMost  number `json:"term_most"`
}

func newSpectrumSum(r, least, most float64) spectrumSum {
	return spectrumSum{number(r), number(least), number(most), number(math.Sqrt(least)), number(math.Sqrt(most))}
}

// take fills the row from all eigenvalues, the largest first.
func (row *spectrumRow) take(values []float64, k int, radii []float64) {
	n := len(values)
	row.Method = methodAll
	squares := 0.0
	for i, v := range values {
		row.Values = append(row.Values, number(v))
		row.Trace += number(v)
		squares += v * v
		if i < k {
			row.Largest = append(row.Largest, spectrumValue{Value: number(v), Converged: true})
			row.Smallest = append(row.Smallest, spectrumValue{Value: number(values[n-1-i]), Converged: true})
		}
	}
	row.judge(squares)
	for _, r := range radii {
		sum := spectrum.RademacherSum(scaled(values), r)
		row.Sums = append(row.Sums, newSpectrumSum(r, sum, sum))
	}
}

// scaled returns the eigenvalues of K/n from those of K, n of them.
func scaled(values []float64) []float64 { return dividedBy(values, float64(len(values))) }

func dividedBy(values []float64, n float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / n
	}
	return out
}

// takeExtremes fills the row from what Lanczos found, the trace and the sum of the squared values.
func (row *spectrumRow) takeExtremes(found *spectrum.Extremes, trace, squares float64, radii []float64) {
	row.Method, row.Steps, row.Trace = methodLanczos, found.Steps, number(trace)
	of := func(v spectrum.Value) spectrumValue {
		residual := number(v.Residual)
		return spectrumValue{number(v.Value), &residual, v.Converged}
	}
	var largest []float64
	for i, v := range found.Largest {
		row.Largest = append(row.Largest, of(v))
		row.Smallest = append(row.Smallest, of(found.Smallest[i]))
		largest = append(largest, v.Value) // never above the eigenvalue, converged or not
	}
	row.judge(squares)
	n := float64(row.Documents)
	smallest := math.Inf(-1)
	if v := found.Smallest[0]; v.Converged {
		smallest = v.Value - v.Residual
	} else if row.Verdict != verdictNot {
		row.Verdict = verdictUnknown
	}
	for _, r := range radii {
		known := dividedBy(largest, n)
		row.Sums = append(row.Sums, newSpectrumSum(r, spectrum.RademacherSum(known, r), spectrum.RademacherBound(known, row.Documents, trace/n, squares/(n*n), smallest/n, r)))
	}
}

// judge says whether the matrix is positive semidefinite beyond rounding; squares is the sum of its squared values.
func (row *spectrumRow) judge(squares float64) {
	row.Max, row.Min = row.Largest[0].Value, row.Smallest[0].Value
	largest := math.Max(math.Abs(float64(row.Max)), math.Abs(float64(row.Min)))
	row.Rounding, row.Likely = number(spectrum.Rounding(row.Documents, largest)), number(0x1p-24*math.Sqrt(squares))
	switch {
	case !(row.Min >= -row.Rounding): // NaN, too
		row.Verdict = verdictNot
	case row.Min < -row.Likely:
		row.Verdict = verdictUndecided
	default:
		row.Verdict = verdictPSD
	}
}

func (r *spectrumReport) writeText(w io.Writer) {
	if r.Sets > 0 {
		fmt.Fprintln(w, setsLine(r.Corpus, r.Sets, r.Coordinates))
	} else {
		fmt.Fprintln(w, r.Corpus)
	}
	if r.Centred {
		fmt.Fprintln(w, "centred: means are taken off rows and columns, so one eigenvalue is 0")
	}
	fmt.Fprintln(w)
	t := newTable("kernel", "known", ">largest", ">smallest", ">rounding", ">likely", "verdict", "eigenvalues", ">seconds")
	for _, row := range r.Rows {
		method := "all"
		if row.Method == methodLanczos {
			method = "extremes, " + counted(row.Steps, "step", "steps")
		}
		t.add(row.Kernel, row.Definite, formatEigen(row.Max), formatEigen(row.Min), formatErr(float64(row.Rounding)), formatErr(float64(row.Likely)), row.Verdict, method,
			fmt.Sprintf("%.2f", row.Seconds))
	}
	t.write(w)
	fmt.Fprintln(w, "\nrounding: n·2⁻²⁴·|λ|max, below which a sign may be that of rounding; likely: 2⁻²⁴·√Σ k², the likely size of that")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "\n%s\n", row.Kernel)
		row.writeValues(w)
	}
	fmt.Fprintln(w, "\n√Σ min(r, λ) over the eigenvalues λ of K/n:")
	titles := []string{"kernel"}
	for _, s := range r.Rows[0].Sums {
		titles = append(titles, ">r="+strconv.FormatFloat(float64(s.R), 'g', -1, 64))
	}
	t = newTable(titles...)
	for _, row := range r.Rows {
		cells := []string{row.Kernel}
		for _, s := range row.Sums {
			cell := fmt.Sprintf("%.4g", float64(s.TermLeast))
			if most := fmt.Sprintf("%.4g", float64(s.TermMost)); most != cell {
				cell += "…" + most
			}
			cells = append(cells, cell)
		}
		t.add(cells...)
	}
	t.write(w)
}

// subjects counts the rows of a matrix.
func (r *spectrumReport) subjects() string {
	if r.Sets > 0 {
		return counted(r.Sets, "set", "sets")
	}
	return counted(r.Corpus.Documents, "document", "documents")
}

// writeValues prints both ends of the spectrum.
func (row *spectrumRow) writeValues(w io.Writer) {
	lanczos := row.Method == methodLanczos
	titles := []string{">", ">largest", ">smallest"}
	if lanczos {
		titles = []string{">", ">largest", ">residual", "", ">smallest", ">residual", ""}
	}
	t := newTable(titles...)
	for i := range row.Largest {
		cells := []string{strconv.Itoa(i + 1)}
		for _, v := range []spectrumValue{row.Largest[i], row.Smallest[i]} {
			cells = append(cells, formatEigen(v.Value))
			if lanczos {
				cells = append(cells, formatErr(float64(*v.Residual)), map[bool]string{false: "not converged"}[v.Converged])
			}
		}
		t.add(cells...)
	}
	t.write(w)
}

func formatEigen(v number) string { return strconv.FormatFloat(float64(v), 'g', 7, 64) }
