package verify

import (
	"fmt"
	"path/filepath"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

type verifyReport struct {
	Corpus          source.Summary  `json:"corpus"`
	Embeddings      []embeddingLine `json:"embeddings"`
	Rows            []kernelRow     `json:"rows"`
	Checks          []checkResult   `json:"checks"`
	ToleranceReason string          `json:"tolerance_reason"`
	Seconds         float64         `json:"seconds"`
	NumPassed       int             `json:"checks_passed"`
	NumFailed       int             `json:"checks_failed"`
	Passed          bool            `json:"passed"`
}

// embeddingLine describes the compared pairs of an embedding.
type embeddingLine struct {
	Embedding       string  `json:"embedding"`
	Digest          string  `json:"sha256"`
	NumPairs        int64   `json:"pairs"`
	NumRows         int     `json:"rows_computed"`
	NumClosestPairs int     `json:"closest_pairs"`
	NumIdentical    int64   `json:"identical_pairs"` // number of pairs i < j of identical documents in the corpus
	MaxClosestC     float64 `json:"max_closest_c"`   // largest c among the closest pairs
}

// kernelRow is the result for one instruction set and kernel.
type kernelRow struct {
	ISA          string        `json:"isa"`
	Kernel       string        `json:"kernel"`
	Embedding    string        `json:"embedding"`
	NumPairs     int64         `json:"pairs"`
	MaxAbsErr    float64       `json:"max_abs_err"`
	MaxAbsErrAt  comparedPair  `json:"max_abs_err_at"`
	Tolerance    float64       `json:"tolerance"` // tolerance at the position of the largest absolute error
	MaxRelErr    float64       `json:"max_rel_err"`
	MaxULP       float64       `json:"max_err_ulp"`
	NumFailures  int64         `json:"out_of_tolerance"`
	FirstFailure *comparedPair `json:"first_out_of_tolerance_at,omitempty"`
	// number of pairs for which c was recomputed by the exact formula
	NumRecomputed int64  `json:"recomputed_pairs"`
	Digest        string `json:"sha256"`
	Passed        bool   `json:"passed"`

	displayName string // kernel in the user's notation
}

// comparedPair is a pair of documents with its computed and its expected value.
type comparedPair struct {
	I     int     `json:"i"`
	J     int     `json:"j"`
	NameI string  `json:"name_i"`
	NameJ string  `json:"name_j"`
	Got   float64 `json:"got"`
	Want  float64 `json:"want"`
}

// checkResult is the result of a check other than the comparison with the reference.
type checkResult struct {
	ISA       string `json:"isa"`
	Embedding string `json:"embedding"`
	Name      string `json:"check"`
	Outcome   string `json:"found"`
	Passed    bool   `json:"passed"`
}

func (v *verifier) addCheck(isa asm.ISA, emb sparse.Embedding, what string, passed bool, format string, args ...any) {
	found := fmt.Sprintf(format, args...)
	v.report.Checks = append(v.report.Checks, checkResult{string(isa), emb.String(), what, found, passed})
}

func (r *verifyReport) countChecks() {
	all := make([]bool, 0, len(r.Rows)+len(r.Checks))
	for _, row := range r.Rows {
		all = append(all, row.Passed)
	}
	for _, c := range r.Checks {
		all = append(all, c.Passed)
	}
	for _, passed := range all {
		if passed {
			r.NumPassed++
		}
	}
	r.NumFailed = len(all) - r.NumPassed
	r.Passed = r.NumFailed == 0 && r.NumPassed > 0
}

func (r *verifyReport) Describe(d *report.Document) {
	d.Title = "Verification on " + filepath.Base(r.Corpus.Source)
	d.AddMetric("Checks passed", report.FormatCount(r.NumPassed), "")
	d.AddMetric("Failed", report.FormatCount(r.NumFailed), "")
	d.AddLine(r.Corpus)
	for _, e := range r.Embeddings {
		d.AddFact(e.Embedding, "%s in %s, including the %s closest pairs (c <= %.2g) and %s",
			report.FormatCountOf(e.NumPairs, "pair", "pairs"), report.FormatCountOf(e.NumRows, "row", "rows"),
			report.FormatCount(e.NumClosestPairs), e.MaxClosestC,
			report.FormatCountOf(e.NumIdentical, "identical pair", "identical pairs"))
	}
	d.AddLine("")
	t := report.NewTable("isa", "kernel", ">max abs err", ">tolerance", "at (i, j)", ">max rel err", ">max ulp",
		">exact form", "sha256", "")
	for _, row := range r.Rows {
		t.Add(row.ISA, report.TruncateStart(row.displayName, 32), report.FormatError(row.MaxAbsErr),
			report.FormatError(row.Tolerance), fmt.Sprintf("%d, %d", row.MaxAbsErrAt.I, row.MaxAbsErrAt.J),
			report.FormatError(row.MaxRelErr), fmt.Sprintf("%.1f", row.MaxULP),
			backend.FormatRecomputed(row.ISA, row.NumRecomputed), row.Digest[:8], passedText(row.Passed))
	}
	d.AddTable("Kernels", "", t)
	d.AddLine("")
	r.writeChecks(d)
	d.AddLine("")
	d.AddWrapped("Tolerance at (i, j): ", r.ToleranceReason+".", 110)
	r.writeMaxErrors(d)
	d.AddFact("verify", "%s passed, %d failed (%.1f s)", report.FormatCountOf(r.NumPassed, "check", "checks"),
		r.NumFailed, r.Seconds)
}

// writeChecks prints each check once, with the number of (instruction set, embedding) pairs that
// passed. It also prints each failure.
func (r *verifyReport) writeChecks(d *report.Document) {
	var order []string
	passed, all := map[string]int{}, map[string]int{}
	for _, c := range r.Checks {
		if all[c.Name] == 0 {
			order = append(order, c.Name)
		}
		all[c.Name]++
		if c.Passed {
			passed[c.Name]++
		}
	}
	t := report.NewTable("check (per instruction set and embedding)", ">passed", "")
	for _, name := range order {
		t.Add(name, fmt.Sprintf("%d of %d", passed[name], all[name]), passedText(passed[name] == all[name]))
	}
	d.AddTable("Checks", "", t)
	for _, c := range r.Checks {
		if !c.Passed {
			d.AddLinef("FAILED %s %s: %s: %s", c.ISA, c.Embedding, c.Name, c.Outcome)
		}
	}
}

// writeMaxErrors prints the first value out of tolerance of each failed row. From the rows' largest
// absolute errors, it prints the error that is largest relative to its tolerance.
func (r *verifyReport) writeMaxErrors(d *report.Document) {
	var nearest kernelRow
	share := -1.0
	for _, row := range r.Rows {
		if p := row.FirstFailure; p != nil {
			d.AddLinef("FAILED %s %s: %s out of tolerance, first at (%d, %d):\n"+
				"  got %v, expected %v (%s, %s)", row.ISA, row.displayName,
				report.FormatCountOf(row.NumFailures, "value", "values"), p.I, p.J, p.Got, p.Want,
				report.TruncateStart(p.NameI, 50), report.TruncateStart(p.NameJ, 50))
		}
		if s := row.MaxAbsErr / row.Tolerance; s > share {
			share, nearest = s, row
		}
	}
	if at := nearest.MaxAbsErrAt; share >= 0 {
		d.AddFact("Largest share of the tolerance", "%s %s with %.0f%% at (%d, %d), %s and %s", nearest.ISA,
			nearest.displayName,
			100*share, at.I, at.J, report.TruncateStart(at.NameI, 40), report.TruncateStart(at.NameJ, 40))
	}
}

func passedText(ok bool) string { return map[bool]string{true: "passed", false: "FAILED"}[ok] }
