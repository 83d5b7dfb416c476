// Package blocks divides the pairs of documents into blocks, one per task. With block size b, block
// (I, J), I >= J, has rows I·b to (I+1)·b - 1 and columns J·b to (J+1)·b - 1. Block (I, J) is task
// I(I+1)/2 + J.
package blocks

import (
	"fmt"
	"math"
)

// LowerTriangle is the lower triangle of a symmetric matrix, divided into square blocks.
type LowerTriangle struct {
	NumRows   int `json:"rows"`
	BlockSize int `json:"block"`
}

// Validate returns an error if a field is out of range, or if a side has more than 2¹⁵ blocks.
func (h LowerTriangle) Validate() error {
	switch {
	case h.NumRows < 1 || h.NumRows > math.MaxInt32:
		return fmt.Errorf("number of documents must be between 1 and %d, got %d", math.MaxInt32, h.NumRows)
	case h.BlockSize < 1 || h.BlockSize > math.MaxInt32:
		return fmt.Errorf("-block must be between 1 and %d, got %d", math.MaxInt32, h.BlockSize)
	case h.BlocksPerSide() > 1<<15:
		return fmt.Errorf("-block %d divides %d documents into %d ranges; the maximum is %d", h.BlockSize, h.NumRows,
			h.BlocksPerSide(), 1<<15)
	}
	return nil
}

// CheckCounts returns an error unless h has the given numbers of tasks and documents.
func (h LowerTriangle) CheckCounts(kind string, tasks, documents int) error {
	switch {
	case tasks != h.NumTasks():
		return fmt.Errorf("%s: job must have %d tasks, got %d", kind, h.NumTasks(), tasks)
	case documents != h.NumRows:
		return fmt.Errorf("%s: found %d documents, but the job has %d", kind, documents, h.NumRows)
	}
	return nil
}

// BlocksPerSide returns the number of blocks per side of the matrix.
func (h LowerTriangle) BlocksPerSide() int {
	if h.BlockSize < 1 {
		return 0
	}
	return (h.NumRows + h.BlockSize - 1) / h.BlockSize
}

// NumTasks returns the number of blocks.
func (h LowerTriangle) NumTasks() int { b := h.BlocksPerSide(); return b * (b + 1) / 2 }

// Span returns the half-open range of documents in the given row or column of blocks.
func (h LowerTriangle) Span(block int) [2]int {
	return [2]int{block * h.BlockSize, min((block+1)*h.BlockSize, h.NumRows)}
}

// TaskOfBlock returns the task of block (i, j).
func TaskOfBlock(i, j int) int { return i*(i+1)/2 + j }

// BlockOfTask returns the block (i, j) of a task. It is the inverse of [TaskOfBlock].
func BlockOfTask(task int) (i, j int) {
	for i = int(math.Sqrt(2 * float64(task))); i*(i+1)/2 > task; i-- {
	}
	return i, task - i*(i+1)/2
}
