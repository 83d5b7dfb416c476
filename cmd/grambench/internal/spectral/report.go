package spectral

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// spectra is the report of the command.
type spectra struct {
	Corpus  source.Line `json:"corpus"`
	Centred bool        `json:"centred"`
	Seed    uint64      `json:"seed"`
	Rows    []*row      `json:"rows"`
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
	verdictUnknown   = "not converged" // it may be further down than the value that Lanczos has
)

// row is one matrix.
type row struct {
	Kernel    string          `json:"kernel"`
	T         float64         `json:"t,omitempty"` // the kernel's, 0 where it has none
	Embedding string          `json:"embedding"`
	ISA       string          `json:"isa"`
	Why       string          `json:"backend_reason,omitempty"` // why -backend auto took it
	Documents int             `json:"documents"`
	Definite  string          `json:"definite"` // what is known of the kernel
	Condition string          `json:"condition,omitempty"`
	Method    string          `json:"method"`
	Steps     int             `json:"steps,omitempty"` // of Lanczos
	Max       report.Number   `json:"max"`
	Min       report.Number   `json:"min"`
	Rounding  report.Number   `json:"rounding"`        // n·2⁻²⁴·|λ|max
	Likely    report.Number   `json:"rounding_likely"` // 2⁻²⁴·‖K‖
	Verdict   string          `json:"verdict"`
	Largest   []eigenvalue    `json:"largest"`
	Smallest  []eigenvalue    `json:"smallest"`
	Trace     report.Number   `json:"trace"`
	Sums      []sum           `json:"sums"`
	Values    []report.Number `json:"eigenvalues,omitempty"` // all of them, the largest first
	Bounds    *bounds         `json:"bounds,omitempty"`      // if asked for
	Seconds   float64         `json:"seconds"`
	PeakBytes int64           `json:"peak_bytes"`

	family string // the kernel without t
}

// eigenvalue is one of the extremes; one of all eigenvalues has no residual.
type eigenvalue struct {
	Value     report.Number  `json:"value"`
	Residual  *report.Number `json:"residual,omitempty"`
	Converged bool           `json:"converged"`
}

// sum is Σ min(r, λ) over the eigenvalues λ of K/n and its root: between two bounds, which agree
// where all eigenvalues are known.
type sum struct {
	R         report.Number `json:"r"`
	Least     report.Number `json:"sum_least"`
	Most      report.Number `json:"sum_most"`
	TermLeast report.Number `json:"term_least"`
	TermMost  report.Number `json:"term_most"`
}

func (row *row) addSum(r, least, most float64) {
	number := func(v float64) report.Number { return report.Number(v) }
	row.Sums = append(row.Sums,
		sum{number(r), number(least), number(most), number(math.Sqrt(least)), number(math.Sqrt(most))})
}

// newRow begins the row of a kernel and what is known of it.
func newRow(k fmt.Stringer, known kernel.Properties, documents int) *row {
	r := &row{Kernel: k.String(), Documents: documents, Definite: known.Definite.String(), Condition: known.Condition}
	r.T, r.family = parameterT(r.Kernel)
	return r
}

// parameterT returns the t of a kernel's specification, if it has one, and the specification
// without it.
func parameterT(spec string) (t float64, family string) {
	name, parameters, _ := strings.Cut(spec, ":")
	var rest []string
	for part := range strings.SplitSeq(parameters, ",") {
		if v, ok := strings.CutPrefix(part, "t="); ok && t == 0 {
			if x, err := strconv.ParseFloat(v, 64); err == nil {
				t = x
				continue
			}
		}
		if part != "" {
			rest = append(rest, part)
		}
	}
	if t == 0 || strings.ContainsAny(name, "(+*") {
		return 0, spec
	}
	return t, strings.Join(append([]string{name}, rest...), " ")
}

// take fills the row from all eigenvalues, the largest first.
func (row *row) take(values []float64, k int, radii []float64) {
	n := len(values)
	row.Method = methodAll
	squares := 0.0
	for i, v := range values {
		row.Values = append(row.Values, report.Number(v))
		row.Trace += report.Number(v)
		squares += v * v
		if i < k {
			row.Largest = append(row.Largest, eigenvalue{Value: report.Number(v), Converged: true})
			row.Smallest = append(row.Smallest, eigenvalue{Value: report.Number(values[n-1-i]), Converged: true})
		}
	}
	row.judge(squares)
	for _, r := range radii {
		s := spectrum.RademacherSum(divided(values, n), r)
		row.addSum(r, s, s)
	}
}

// divided returns the eigenvalues of K/n from those of K.
func divided(values []float64, n int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / float64(n)
	}
	return out
}

// takeExtremes fills the row from what Lanczos found, the trace and the sum of the squared values.
func (row *row) takeExtremes(found *spectrum.Extremes, trace, squares float64, radii []float64) {
	row.Method, row.Steps, row.Trace = methodLanczos, found.Steps, report.Number(trace)
	of := func(v spectrum.Value) eigenvalue {
		residual := report.Number(v.Residual)
		return eigenvalue{report.Number(v.Value), &residual, v.Converged}
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
	known := divided(largest, row.Documents)
	for _, r := range radii {
		most := spectrum.RademacherBound(known, row.Documents, trace/n, squares/(n*n), smallest/n, r)
		row.addSum(r, spectrum.RademacherSum(known, r), most)
	}
}

// judge says whether the matrix is positive semidefinite beyond rounding; squares is the sum of its
// squared values.
func (row *row) judge(squares float64) {
	row.Max, row.Min = row.Largest[0].Value, row.Smallest[0].Value
	largest := math.Max(math.Abs(float64(row.Max)), math.Abs(float64(row.Min)))
	row.Rounding = report.Number(spectrum.Rounding(row.Documents, largest))
	row.Likely = report.Number(0x1p-24 * math.Sqrt(squares))
	switch {
	case !(row.Min >= -row.Rounding): // NaN, too
		row.Verdict = verdictNot
	case row.Min < -row.Likely:
		row.Verdict = verdictUndecided
	default:
		row.Verdict = verdictPSD
	}
}

func (r *spectra) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	if r.Centred {
		fmt.Fprintln(w, "centred: means are taken off rows and columns, so one eigenvalue is 0")
	}
	fmt.Fprintln(w)
	ends := report.NewTable(
		"kernel", "known", ">largest", ">smallest", ">rounding", ">likely", "verdict", "eigenvalues", ">seconds")
	titles := []string{"kernel"}
	for _, s := range r.Rows[0].Sums {
		titles = append(titles, ">r="+report.Float(float64(s.R)))
	}
	sums := report.NewTable(titles...)
	for _, row := range r.Rows {
		method := "all"
		if row.Method == methodLanczos {
			method = "extremes, " + report.Counted(row.Steps, "step", "steps")
		}
		ends.Add(row.Kernel, row.Definite, digits(row.Max, 7), digits(row.Min, 7), report.Error(float64(row.Rounding)),
			report.Error(float64(row.Likely)), row.Verdict, method, fmt.Sprintf("%.2f", row.Seconds))
		cells := []string{row.Kernel}
		for _, s := range row.Sums {
			cell := digits(s.TermLeast, 4)
			if most := digits(s.TermMost, 4); most != cell {
				cell += "…" + most
			}
			cells = append(cells, cell)
		}
		sums.Add(cells...)
	}
	ends.Write(w)
	fmt.Fprintln(w, "\nrounding: n·2⁻²⁴·|λ|max, below which a sign may be that of rounding; likely: 2⁻²⁴·√Σ k², "+
		"the likely size of that")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "\n%s\n", row.Kernel)
		row.writeValues(w)
	}
	fmt.Fprintln(w, "\n√Σ min(r, λ) over the eigenvalues λ of K/n:")
	sums.Write(w)
	if r.Rows[0].Bounds != nil {
		r.writeBounds(w)
	}
}

// writeValues prints both ends of the spectrum.
func (row *row) writeValues(w io.Writer) {
	lanczos := row.Method == methodLanczos
	t := report.NewTable(">", ">largest", ">smallest")
	if lanczos {
		t = report.NewTable(">", ">largest", ">residual", "", ">smallest", ">residual", "")
	}
	for i := range row.Largest {
		cells := []string{strconv.Itoa(i + 1)}
		for _, v := range []eigenvalue{row.Largest[i], row.Smallest[i]} {
			cells = append(cells, digits(v.Value, 7))
			if lanczos {
				state := map[bool]string{false: "not converged"}[v.Converged]
				cells = append(cells, report.Error(float64(*v.Residual)), state)
			}
		}
		t.Add(cells...)
	}
	t.Write(w)
}

// digits writes a number with so many digits.
func digits(v report.Number, n int) string { return fmt.Sprintf("%.*g", n, float64(v)) }
