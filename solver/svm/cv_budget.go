package svm

import (
	"fmt"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// leastRows is how many rows of the matrix a validation must have room for at least.
const leastRows = 256

// options returns how the solver is to work for a number of cells at a time: of the memory for rows
// it takes what solutions and predictions need beside them.
func (f *folded) options(cells int) (solver.Options, error) {
	p := f.p
	opt := p.solverOptions(f.s)
	if p.opt.MemoryBytes == 0 {
		return opt, nil
	}
	own := f.bytes(int64(cells))
	least := 4 * int64(p.Len()) * leastRows
	if opt.RowBytes-own < least {
		return opt, fmt.Errorf("svm: validating %d folds of %d documents needs %s of memory beside the matrix, expected at most %s", f.folds, p.Len(),
			sparse.FormatBytes(own+least), sparse.FormatBytes(opt.RowBytes))
	}
	opt.RowBytes -= own
	return opt, nil
}

// bytes bounds what solutions and predictions take: a coefficient and its document, 16 bytes, for
// each document in each machine that it could be a support vector of; as many again for two kernels
// before, of one cell; and for a prediction its columns, 80 bytes a document and 4 a coefficient,
// and in each worker a panel of kernel values and the sums of the machines.
func (f *folded) bytes(cells int64) int64 {
	n, classes := int64(f.p.Len()), int64(len(f.p.corpus.classes))
	each, machines := int64(1), int64(1) // machines that a document is in, and in all
	switch {
	case f.targets != nil:
	case f.sets != nil || f.s.Scheme == solver.OneVsRest:
		each, machines = classes, classes
	default:
		each, machines = classes-1, classes*(classes-1)/2
	}
	fits := n * each * int64(f.folds-1) * 16
	panel := int64(f.p.Engine().Panel())
	perWorker := panel*4*n + panel*8*machines*cells
	return fits*(cells+2) + n*each*9 + n*80 + n*each*cells*4 + perWorker*int64(f.p.Engine().Workers())
}
