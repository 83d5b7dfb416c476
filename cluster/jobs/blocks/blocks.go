// Package blocks divides the pairs of documents into blocks, one per task. Block (I, J), I >= J,
// has rows I·b to (I+1)·b - 1 and columns J·b to (J+1)·b - 1, and is task I(I+1)/2 + J.
package blocks

import (
	"fmt"
	"math"
)

// Half is the lower triangle of a symmetric matrix, divided into square blocks.
type Half struct {
	Rows  int `json:"rows"`
	Block int `json:"block"`
}

// Validate returns an error if a field is out of range.
func (h Half) Validate() error {
	switch {
	case h.Rows < 1 || h.Rows > math.MaxInt32:
		return fmt.Errorf("number of documents must be between 1 and %d, got %d", math.MaxInt32, h.Rows)
	case h.Block < 1 || h.Block > math.MaxInt32:
		return fmt.Errorf("-block must be between 1 and %d, got %d", math.MaxInt32, h.Block)
	case h.Blocks() > 1<<15:
		return fmt.Errorf("-block %d divides %d documents into %d ranges; the maximum is %d", h.Block, h.Rows,
			h.Blocks(), 1<<15)
	}
	return nil
}

// Check returns an error unless h has the given numbers of tasks and documents.
func (h Half) Check(kind string, tasks, documents int) error {
	switch {
	case tasks != h.Tasks():
		return fmt.Errorf("%s: found %d tasks, but the job has %d", kind, h.Tasks(), tasks)
	case documents != h.Rows:
		return fmt.Errorf("%s: found %d documents, but the job has %d", kind, documents, h.Rows)
	}
	return nil
}

// Blocks returns the number of blocks per side of the matrix.
func (h Half) Blocks() int {
	if h.Block < 1 {
		return 0
	}
	return (h.Rows + h.Block - 1) / h.Block
}

// Tasks returns the number of blocks.
func (h Half) Tasks() int { b := h.Blocks(); return b * (b + 1) / 2 }

// Span returns the half-open range of documents in the given row or column of blocks.
func (h Half) Span(block int) [2]int {
	return [2]int{block * h.Block, min((block+1)*h.Block, h.Rows)}
}

// Task returns the task of block (i, j).
func Task(i, j int) int { return i*(i+1)/2 + j }

// Place returns the block (i, j) of a task. It is the inverse of Task.
func Place(task int) (i, j int) {
	for i = int(math.Sqrt(2 * float64(task))); i*(i+1)/2 > task; i-- {
	}
	return i, task - i*(i+1)/2
}
