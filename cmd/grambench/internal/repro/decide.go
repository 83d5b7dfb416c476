package repro

import (
	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/solver"
)

// testBlock is how many documents are decided at a time: their part of the rows of several hundred support vectors stays in the second-level cache.
const testBlock = 512

// decider finds decision values of many documents from rows of a matrix. It belongs to one goroutine.
type decider struct {
	kernels *asm.Kernels
	rows    [][]float32
	sums    [testBlock]float64
}

// each calls do with blocks of documents from first on and their decision values, Σ Coef[s]·row(s)[j] - Rho for document j, 0 <= j < n, where row(s) holds the kernel values of
// support vector s of the machine; do must not keep them.
func (d *decider) each(machine *solver.Machine, n int, row func(s int) []float32, do func(first int, values []float64)) {
	d.rows = d.rows[:0]
	for s := range machine.Support {
		d.rows = append(d.rows, row(s))
	}
	for lo := 0; lo < n; lo += testBlock {
		sums := d.sums[:min(testBlock, n-lo)]
		for i := range sums {
			sums[i] = -machine.Rho
		}
		d.kernels.AddRows(sums, d.rows, lo, machine.Coef)
		do(lo, sums)
	}
}
