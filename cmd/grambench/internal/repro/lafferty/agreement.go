package lafferty

import (
	"math"

	"github.com/gramengine/gram/cmd/grambench/internal/repro"
)

// compared are the figures of a row by kernel, by the paper's protocol and as the paper prints
// them; NaN where there is none.
type compared struct{ measured, printed [len(kernels)]float64 }

// gap is |ln(measured/printed)| of a kernel.
func (c *compared) gap(k int) float64 { return math.Abs(math.Log(c.measured[k] / c.printed[k])) }

// complete says whether the row has all figures.
func (c *compared) complete() bool {
	for k := range kernels {
		if math.IsNaN(c.measured[k]) || math.IsNaN(c.printed[k]) {
			return false
		}
	}
	return true
}

// comparedColumns are the columns of the printed figures and of what lies between them and ours.
func comparedColumns() (columns []repro.Column) {
	for k, kernel := range kernels {
		columns = append(columns, repro.Right(keyOf(k)+"_printed", "printed "+kernel.name[:3]))
	}
	for k, kernel := range kernels {
		columns = append(columns, repro.Right(keyOf(k)+"_ln", "|ln| "+kernel.name[:3]))
	}
	return columns
}

// cells are those of comparedColumns, printed figures in the paper's digits.
func (c *compared) cells(digits int) (cells []repro.Cell) {
	for _, v := range c.printed {
		cells = append(cells, repro.Value(v, digits))
	}
	for k := range kernels {
		cells = append(cells, repro.Value(c.gap(k), 3))
	}
	return cells
}

// newAgreement is a table, still empty, of how far measured and printed figures agree.
func newAgreement() *repro.Table {
	t := &repro.Table{
		Key: "agreement",
		Title: "Measured and printed: mean |ln(measured/printed)| of the rows, and in how many diffusion is better " +
			"than linear",
		Columns: []repro.Column{
			repro.Left("of_table", "table"), repro.Left("features", "features"), repro.Right("rows", "rows"),
		},
	}
	for k, kernel := range kernels {
		t.Columns = append(t.Columns, repro.Right(keyOf(k)+"_ln", "|ln| "+kernel.name))
	}
	t.Columns = append(t.Columns, repro.Right("better", "better"), repro.Right("better_printed", "printed"))
	return t
}

// addAgreement adds what the complete rows of a table come to. better is 1 where more of the figure
// is better, -1 where less is.
func addAgreement(t *repro.Table, of, features string, better float64, rows []compared) {
	var gaps [len(kernels)]float64
	var n, measured, printed int
	for _, r := range rows {
		if !r.complete() {
			continue
		}
		n++
		for k := range kernels {
			gaps[k] += r.gap(k)
		}
		if better*(r.measured[diffusion]-r.measured[linear]) > 0 {
			measured++
		}
		if better*(r.printed[diffusion]-r.printed[linear]) > 0 {
			printed++
		}
	}
	if n == 0 {
		return
	}
	cells := []repro.Cell{repro.Word(of), repro.Word(features), repro.Count(n)}
	for _, sum := range gaps {
		cells = append(cells, repro.Value(sum/float64(n), 3))
	}
	t.Add(append(cells, repro.Count(measured), repro.Count(printed))...)
}
