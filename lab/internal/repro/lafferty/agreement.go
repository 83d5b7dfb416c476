package lafferty

import (
	"cmp"
	"math"
	"slices"

	"github.com/gramengine/gram/lab/internal/repro"
)

// compared are the figures of a row by kernel, by the paper's protocol and as the paper prints
// them; NaN where there is none.
type compared struct {
	measured, printed [len(kernels)]float64
	better            float64 // 1 where more of the figure is better, -1 where less is
	digits            int     // of the printed figures
	// whether diffusion differs from the best of the others by more than chance; nothing where there
	// is no test
	clear, printedClear bool
}

// gap is |ln(measured/printed)| of a kernel.
func (c *compared) gap(k int) float64 { return math.Abs(math.Log(c.measured[k] / c.printed[k])) }

// complete reports whether the row has all figures.
func (c *compared) complete() bool {
	for k := range kernels {
		if math.IsNaN(c.measured[k]) || math.IsNaN(c.printed[k]) {
			return false
		}
	}
	return true
}

// order names the kernels by their initials, the best first, such as "DG=L". Figures are equal where
// they are in the printed digits.
func (c *compared) order(figures [len(kernels)]float64) string {
	unit := math.Pow10(c.digits)
	for k, v := range figures {
		if math.IsNaN(v) {
			return ""
		}
		figures[k] = math.Round(v*unit) * -c.better
	}
	by := []int{diffusion, gaussian, linear}
	slices.SortStableFunc(by, func(a, b int) int { return cmp.Compare(figures[a], figures[b]) })
	var out []byte
	for i, k := range by {
		if i > 0 && figures[k] == figures[by[i-1]] {
			out = append(out, '=')
		}
		out = append(out, "LGD"[k])
	}
	return string(out)
}

// comparedColumns are the columns of the printed figures and of what lies between them and ours.
func comparedColumns() (columns []repro.Column) {
	for k, kernel := range kernels {
		columns = append(columns, repro.Right(keyOf(k)+"_printed", "printed "+kernel.name[:3]))
	}
	for k, kernel := range kernels {
		columns = append(columns, repro.Right(keyOf(k)+"_ln", "|ln| "+kernel.name[:3]))
	}
	return append(columns, repro.Left("order", "order"), repro.Left("order_printed", "printed"))
}

// cells are those of comparedColumns, printed figures in the paper's digits.
func (c *compared) cells() (cells []repro.Cell) {
	for _, v := range c.printed {
		cells = append(cells, repro.Value(v, c.digits))
	}
	for k := range kernels {
		cells = append(cells, repro.Value(c.gap(k), 3))
	}
	for _, figures := range [][len(kernels)]float64{c.measured, c.printed} {
		cells = append(cells, repro.Word(c.order(figures)))
	}
	return cells
}

// newAgreement is a table, still empty, of how far measured and printed figures agree.
func newAgreement() *repro.Table {
	t := &repro.Table{
		Key: "agreement",
		Title: "Measured and printed: mean |ln(measured/printed)| of the rows; in how many diffusion is better than " +
			"linear, all\nthree have the printed order, and diffusion differs from the best other with p < 0.05",
		Columns: []repro.Column{
			repro.Left("of_table", "table"), repro.Left("features", "features"), repro.Right("rows", "rows"),
		},
	}
	for k, kernel := range kernels {
		t.Columns = append(t.Columns, repro.Right(keyOf(k)+"_ln", "|ln| "+kernel.name))
	}
	t.Columns = append(t.Columns, repro.Right("better", "better"), repro.Right("better_printed", "printed"),
		repro.Right("same_order", "order"), repro.Right("clear", "p < 0.05"), repro.Right("clear_printed", "printed"))
	return t
}

// newShifts is a table, still empty, of how far figures lie above the printed ones, or below.
func newShifts() *repro.Table {
	t := &repro.Table{
		Key: "shifts", Title: "Mean ln(measured/printed) of the rows of a class: below 0 where errors are less than printed",
		Columns: []repro.Column{
			repro.Left("of_table", "table"), repro.Left("features", "features"), repro.Left("class", "class"),
			repro.Right("rows", "rows"),
		},
	}
	for k, kernel := range kernels {
		t.Columns = append(t.Columns, repro.Right(keyOf(k)+"_ln", "ln "+kernel.name))
	}
	return t
}

// addShift adds the means over the complete rows of a class.
func addShift(t *repro.Table, of, features, class string, rows []compared) {
	var sums [len(kernels)]float64
	n := 0
	for _, r := range rows {
		if r.complete() {
			n++
			for k := range kernels {
				sums[k] += math.Log(r.measured[k] / r.printed[k])
			}
		}
	}
	if n == 0 {
		return
	}
	cells := []repro.Cell{repro.Word(of), repro.Word(features), repro.Word(class), repro.Count(n)}
	for _, sum := range sums {
		cells = append(cells, repro.Value(sum/float64(n), 3))
	}
	t.Add(cells...)
}

// addAgreement adds what the complete rows of a table come to.
func addAgreement(t *repro.Table, of, features string, rows []compared) {
	var gaps [len(kernels)]float64
	var n, measured, printed, order, clear, printedClear int
	for _, r := range rows {
		if !r.complete() {
			continue
		}
		n++
		for k := range kernels {
			gaps[k] += r.gap(k)
		}
		for _, count := range []struct {
			is bool
			n  *int
		}{
			{r.better*(r.measured[diffusion]-r.measured[linear]) > 0, &measured},
			{r.better*(r.printed[diffusion]-r.printed[linear]) > 0, &printed},
			{r.order(r.measured) == r.order(r.printed), &order}, {r.clear, &clear}, {r.printedClear, &printedClear},
		} {
			if count.is {
				*count.n++
			}
		}
	}
	if n == 0 {
		return
	}
	cells := []repro.Cell{repro.Word(of), repro.Word(features), repro.Count(n)}
	for _, sum := range gaps {
		cells = append(cells, repro.Value(sum/float64(n), 3))
	}
	cells = append(cells, repro.Count(measured), repro.Count(printed), repro.Count(order))
	if of >= "5" { // the paper tests nothing there
		cells = append(cells, repro.Empty(), repro.Empty())
	} else {
		cells = append(cells, repro.Count(clear), repro.Count(printedClear))
	}
	t.Add(cells...)
}
