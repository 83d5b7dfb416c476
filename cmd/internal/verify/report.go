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

type verification struct {
	Corpus     source.Line     `json:"corpus"`
	Embeddings []embeddingLine `json:"embeddings"`
	Rows       []kernelRow     `json:"rows"`
	Checks     []check         `json:"checks"`
	Tolerance  string          `json:"tolerance_reason"`
	Seconds    float64         `json:"seconds"`
	NumPassed  int             `json:"checks_passed"`
	NumFailed  int             `json:"checks_failed"`
	Passed     bool            `json:"passed"`
}

// embeddingLine describes the compared pairs of an embedding.
type embeddingLine struct {
	Embedding    string  `json:"embedding"`
	Digest       string  `json:"sha256"`
	Pairs        int64   `json:"pairs"`
	SampledRows  int     `json:"rows_computed"`
	ClosestPairs int     `json:"closest_pairs"`
	Identical    int64   `json:"identical_pairs"`    // number of pairs i < j of identical documents in the corpus
	GreatestC    float64 `json:"greatest_closest_c"` // largest c among the closest pairs
}

// kernelRow is the result for one instruction set and kernel.
type kernelRow struct {
	ISA        string  `json:"isa"`
	Kernel     string  `json:"kernel"`
	Embedding  string  `json:"embedding"`
	Pairs      int64   `json:"pairs"`
	MaxAbsErr  float64 `json:"max_abs_err"`
	AbsAt      spot    `json:"max_abs_err_at"`
	Tolerance  float64 `json:"tolerance"` // tolerance at the position of the largest absolute error
	MaxRelErr  float64 `json:"max_rel_err"`
	MaxULP     float64 `json:"max_err_ulp"`
	Failures   int64   `json:"out_of_tolerance"`
	FailedAt   *spot   `json:"first_out_of_tolerance_at,omitempty"`
	Recomputed int64   `json:"recomputed_pairs"` // number of pairs for which c was recomputed by the exact formula
	Digest     string  `json:"sha256"`
	Passed     bool    `json:"passed"`

	shown string // kernel in the user's notation
}

// spot is a pair of documents with its computed and its expected value.
type spot struct {
	I     int     `json:"i"`
	J     int     `json:"j"`
	NameI string  `json:"name_i"`
	NameJ string  `json:"name_j"`
	Got   float64 `json:"got"`
	Want  float64 `json:"want"`
}

// check is the result of a check other than the comparison with the reference.
type check struct {
	ISA       string `json:"isa"`
	Embedding string `json:"embedding"`
	Check     string `json:"check"`
	Found     string `json:"found"`
	Passed    bool   `json:"passed"`
}

func (v *verifier) check(isa asm.ISA, emb sparse.Embedding, what string, passed bool, format string, args ...any) {
	found := fmt.Sprintf(format, args...)
	v.report.Checks = append(v.report.Checks, check{string(isa), emb.String(), what, found, passed})
}

func (r *verification) count() {
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

func (r *verification) Describe(d *report.Document) {
	d.Title = "Verification on " + filepath.Base(r.Corpus.Source)
	d.Figure("Checks passed", report.Count(r.NumPassed), "")
	d.Figure("Failed", report.Count(r.NumFailed), "")
	d.Line(r.Corpus)
	for _, e := range r.Embeddings {
		d.Fact(e.Embedding, "%s in %s, including the %s closest (c <= %.2g) and %s",
			report.Counted(e.Pairs, "pair", "pairs"), report.Counted(e.SampledRows, "row", "rows"),
			report.Count(e.ClosestPairs), e.GreatestC,
			report.Counted(e.Identical, "identical pair", "identical pairs"))
	}
	d.Line("")
	t := report.NewTable("isa", "kernel", ">max abs err", ">tolerance", "at (i, j)", ">max rel err", ">max ulp",
		">exact form", "sha256", "")
	for _, row := range r.Rows {
		t.Add(row.ISA, report.Shorten(row.shown, 32), report.Error(row.MaxAbsErr),
			report.Error(row.Tolerance), fmt.Sprintf("%d, %d", row.AbsAt.I, row.AbsAt.J),
			report.Error(row.MaxRelErr), fmt.Sprintf("%.1f", row.MaxULP),
			backend.Recomputed(row.ISA, row.Recomputed), row.Digest[:8], passedText(row.Passed))
	}
	d.Table("Kernels", "", t)
	d.Line("")
	r.writeChecks(d)
	d.Line("")
	d.Wrap("Tolerance at (i, j): ", r.Tolerance+".", 110)
	r.writeWorst(d)
	d.Fact("verify", "%s passed, %d failed (%.1f s)", report.Counted(r.NumPassed, "check", "checks"),
		r.NumFailed, r.Seconds)
}

// writeChecks prints each check once, with the number of instruction sets and embeddings that
// passed. It also prints each failure.
func (r *verification) writeChecks(d *report.Document) {
	var order []string
	passed, all := map[string]int{}, map[string]int{}
	for _, c := range r.Checks {
		if all[c.Check] == 0 {
			order = append(order, c.Check)
		}
		all[c.Check]++
		if c.Passed {
			passed[c.Check]++
		}
	}
	t := report.NewTable("check (per instruction set and embedding)", ">passed", "")
	for _, name := range order {
		t.Add(name, fmt.Sprintf("%d of %d", passed[name], all[name]), passedText(passed[name] == all[name]))
	}
	d.Table("Checks", "", t)
	for _, c := range r.Checks {
		if !c.Passed {
			d.Linef("FAILED %s %s: %s: %s", c.ISA, c.Embedding, c.Check, c.Found)
		}
	}
}

// writeWorst prints the pair with the largest error relative to its tolerance. For each failed row
// it also prints the first value out of tolerance.
func (r *verification) writeWorst(d *report.Document) {
	var nearest kernelRow
	share := -1.0
	for _, row := range r.Rows {
		if p := row.FailedAt; p != nil {
			d.Linef("FAILED %s %s: %s out of tolerance, first at (%d, %d):\n"+
				"  got %v, expected %v (%s, %s)", row.ISA, row.shown,
				report.Counted(row.Failures, "value", "values"), p.I, p.J, p.Got, p.Want,
				report.Shorten(p.NameI, 50), report.Shorten(p.NameJ, 50))
		}
		if s := row.MaxAbsErr / row.Tolerance; s > share {
			share, nearest = s, row
		}
	}
	if at := nearest.AbsAt; share >= 0 {
		d.Fact("Largest share of the tolerance", "%s %s with %.0f%% at (%d, %d), %s and %s", nearest.ISA, nearest.shown,
			100*share, at.I, at.J, report.Shorten(at.NameI, 40), report.Shorten(at.NameJ, 40))
	}
}

func passedText(ok bool) string { return map[bool]string{true: "passed", false: "FAILED"}[ok] }
