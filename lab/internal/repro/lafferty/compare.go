package lafferty

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/lab/internal/repro"
)

// comparison holds the figures of a table row, indexed by kernel. measured holds the measured
// figures, selected as in the paper. printed holds the paper's figures. Missing figures are NaN.
type comparison struct {
	measured, printed [len(kernels)]float64
	direction         float64 // 1 if larger figures are better, otherwise -1
	decimals          int     // decimals of the paper's values
	// true if diffusion differs significantly from the better of the other kernels
	isSignificant, isPrintedSignificant bool
}

func (c *comparison) logRatio(k int) float64 { return math.Abs(math.Log(c.measured[k] / c.printed[k])) }

// order returns the initials of the kernels, best first, such as "DG=L". Figures are tied if they
// are equal after rounding to the paper's decimals.
func (c *comparison) order(figures [len(kernels)]float64) string {
	if math.IsNaN(figures[0]) {
		return ""
	}
	unit := math.Pow10(c.decimals)
	for k, v := range figures {
		figures[k] = math.Round(v*unit) * -c.direction
	}
	by := []int{diffusion, gaussian, linear}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(figures[a], figures[b]) })
	out := ""
	for i, k := range by {
		if i > 0 && figures[k] == figures[by[i-1]] {
			out += "="
		}
		out += "LGD"[k : k+1]
	}
	return out
}

var comparisonColumns = []string{">printed lin", ">printed Gau", ">printed dif", ">|ln| lin", ">|ln| Gau", ">|ln| dif",
	"order", "printed order"}

// cells returns printed figures, |ln(measured/printed)|, and the measured and the printed order.
func (c *comparison) cells() (cells []string) {
	for _, v := range c.printed {
		cells = append(cells, repro.FormatFixed(v, c.decimals))
	}
	for k := range kernels {
		cells = append(cells, repro.FormatFixed(c.logRatio(k), 3))
	}
	return append(cells, c.order(c.measured), c.order(c.printed))
}

func newAgreementTable() *repro.Table {
	return &repro.Table{
		Key: "agreement",
		Title: "Measured and printed: mean |ln(measured/printed)| over the rows; number of rows with diffusion better " +
			"than linear,\nthe printed order of all three, and diffusion different from the best other with p < 0.05",
		Columns: []string{"table", "features", ">rows", ">|ln| linear", ">|ln| Gaussian", ">|ln| diffusion", ">better",
			">printed better", ">order", ">p < 0.05", ">printed p < 0.05"},
	}
}

// addAgreementRow adds a row that summarises how well the rows of a table agree with the paper.
func addAgreementRow(t *repro.Table, of, features string, rows []comparison) {
	rows = slices.DeleteFunc(slices.Clone(rows), func(r comparison) bool { return math.IsNaN(r.printed[0]) })
	if len(rows) == 0 {
		return
	}
	count := func(is func(r *comparison) bool) string {
		n := 0
		for _, r := range rows {
			if is(&r) {
				n++
			}
		}
		return fmt.Sprint(n)
	}
	cells := []string{of, features, fmt.Sprint(len(rows))}
	for k := range kernels {
		sum := 0.
		for _, r := range rows {
			sum += r.logRatio(k)
		}
		cells = append(cells, repro.FormatFixed(sum/float64(len(rows)), 3))
	}
	cells = append(cells,
		count(func(r *comparison) bool { return r.direction*(r.measured[diffusion]-r.measured[linear]) > 0 }),
		count(func(r *comparison) bool { return r.direction*(r.printed[diffusion]-r.printed[linear]) > 0 }),
		count(func(r *comparison) bool { return r.order(r.measured) == r.order(r.printed) }))
	if of >= "5" { // Tables 5 and 6 have no significance tests
		t.AddRow(append(cells, "", "")...)
		return
	}
	t.AddRow(append(cells, count(func(r *comparison) bool { return r.isSignificant }),
		count(func(r *comparison) bool { return r.isPrintedSignificant }))...)
}
