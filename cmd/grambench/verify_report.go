package main

import (
	"fmt"
	"io"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// verifyReport is the report of the command verify.
type verifyReport struct {
	Corpus     corpusLine        `json:"corpus"`
	Embeddings []verifyEmbedding `json:"embeddings"`
	Rows       []verifyRow       `json:"rows"`
	Checks     []verifyCheck     `json:"checks"`
	Tolerance  string            `json:"tolerance_reason"`
	Seconds    float64           `json:"seconds"`
	NumPassed  int               `json:"checks_passed"`
	NumFailed  int               `json:"checks_failed"`
	Passed     bool              `json:"passed"`
}

// verifyEmbedding says which pairs were compared in one embedding.
type verifyEmbedding struct {
	Embedding    string `json:"embedding"`
	Digest       string `json:"sha256"`
	Pairs        int64  `json:"pairs"`
	SampledRows  int    `json:"rows_computed"`
	ClosestPairs int    `json:"closest_pairs"`
	Identical    int64  `json:"identical_pairs"` // pairs i < j of identical documents in the corpus
	LeastC       number `json:"least_c_above_0"`
	GreatestC    number `json:"greatest_closest_c"` // the farthest of the closest pairs
}

// verifyRow is one instruction set and kernel.
type verifyRow struct {
	ISA        string `json:"isa"`
	Kernel     string `json:"kernel"`
	Embedding  string `json:"embedding"`
	Pairs      int64  `json:"pairs"`
	MaxAbsErr  number `json:"max_abs_err"`
	AbsAt      place  `json:"max_abs_err_at"`
	Tolerance  number `json:"tolerance"` // at the place of the greatest absolute error
	MaxRelErr  number `json:"max_rel_err"`
	RelAt      place  `json:"max_rel_err_at"`
	MaxULP     number `json:"max_err_ulp"`
	ULPAt      place  `json:"max_err_ulp_at"`
	Failures   int64  `json:"out_of_tolerance"`
	FailedAt   *place `json:"first_out_of_tolerance_at,omitempty"`
	Recomputed int64  `json:"recomputed_pairs"` // while c was compared
	Digest     string `json:"sha256"`
	Passed     bool   `json:"passed"`

	shown string // the kernel as it was asked for
}

// place is a pair of documents and what was found there.
type place struct {
	I     int    `json:"i"`
	J     int    `json:"j"`
	NameI string `json:"name_i"`
	NameJ string `json:"name_j"`
	Got   number `json:"got"`
	Want  number `json:"want"`
}

// verifyCheck is a check other than the comparison with the reference.
type verifyCheck struct {
	ISA       string `json:"isa"`
	Embedding string `json:"embedding"`
	Check     string `json:"check"`
	Found     string `json:"found"`
	Passed    bool   `json:"passed"`
}

func (v *verifier) check(isa asm.ISA, emb sparse.Embedding, what string, passed bool, found string) {
	v.report.Checks = append(v.report.Checks, verifyCheck{string(isa), emb.String(), what, found, passed})
}

// count sums up what passed.
func (r *verifyReport) count() {
	tally := func(passed bool) {
		if passed {
			r.NumPassed++
		} else {
			r.NumFailed++
		}
	}
	for _, row := range r.Rows {
		tally(row.Passed)
	}
	for _, c := range r.Checks {
		tally(c.Passed)
	}
	r.Passed = r.NumFailed == 0 && r.NumPassed > 0
}

func (r *verifyReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	for _, e := range r.Embeddings {
		fmt.Fprintf(w, "%s: %s in %s, %s closest with c up to %.2g, %s\n", e.Embedding, counted(e.Pairs, "pair", "pairs"),
			counted(e.SampledRows, "row", "rows"), formatCount(e.ClosestPairs), float64(e.GreatestC), counted(e.Identical, "identical pair", "identical pairs"))
	}
	fmt.Fprintln(w)
	t := newTable("isa", "kernel", ">max abs err", ">tolerance", "at (i, j)", ">max rel err", ">max ulp", ">exact form", "sha256", "")
	for _, row := range r.Rows {
		t.add(row.ISA, shorten(row.shown, 32), formatErr(float64(row.MaxAbsErr)), formatErr(float64(row.Tolerance)),
			fmt.Sprintf("%d, %d", row.AbsAt.I, row.AbsAt.J), formatErr(float64(row.MaxRelErr)), fmt.Sprintf("%.1f", float64(row.MaxULP)),
			recomputed(row.ISA, row.Recomputed), row.Digest[:8], passedText(row.Passed))
	}
	t.write(w)
	fmt.Fprintln(w)
	r.writeChecks(w)
	fmt.Fprintln(w)
	writeWrapped(w, "Tolerance at (i, j): ", r.Tolerance+".", 110)
	r.writeWorst(w)
	fmt.Fprintf(w, "verify: %s passed, %d failed (%.1f s)\n", counted(r.NumPassed, "check", "checks"), r.NumFailed, r.Seconds)
}

// writeChecks prints each check once, with the instruction sets and embeddings that it held for, and those that failed in full.
func (r *verifyReport) writeChecks(w io.Writer) {
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
	t := newTable("check, for every instruction set and embedding", ">held", "")
	for _, name := range order {
		t.add(name, fmt.Sprintf("%d of %d", passed[name], all[name]), passedText(passed[name] == all[name]))
	}
	t.write(w)
	for _, c := range r.Checks {
		if !c.Passed {
			fmt.Fprintf(w, "FAILED %s %s: %s: %s\n", c.ISA, c.Embedding, c.Check, c.Found)
		}
	}
}

// writeWorst names the documents of the pair that comes nearest to its tolerance, and those of the first value out of tolerance of each row
// that failed.
func (r *verifyReport) writeWorst(w io.Writer) {
	var nearest *verifyRow
	share := -1.0
	for i := range r.Rows {
		row := &r.Rows[i]
		if p := row.FailedAt; p != nil {
			fmt.Fprintf(w, "FAILED %s %s: %s out of tolerance, the first at (%d, %d):\n  got %v, expected %v (%s, %s)\n", row.ISA, row.shown,
				counted(row.Failures, "value", "values"), p.I, p.J, p.Got, p.Want, shorten(p.NameI, 50), shorten(p.NameJ, 50))
		}
		if s := float64(row.MaxAbsErr / row.Tolerance); s > share {
			share, nearest = s, row
		}
	}
	if nearest != nil {
		fmt.Fprintf(w, "Nearest to it: %s %s with %.0f%%, at (%d, %d), %s and %s\n", nearest.ISA, nearest.shown, 100*share, nearest.AbsAt.I,
			nearest.AbsAt.J, shorten(nearest.AbsAt.NameI, 40), shorten(nearest.AbsAt.NameJ, 40))
	}
}

func passedText(ok bool) string { return map[bool]string{true: "passed", false: "FAILED"}[ok] }
