// Package blocks divides the symmetric half of the pairs of documents into blocks, a task each. Block (I, J),
// I >= J, has the documents I·b to before (I+1)·b as rows and those of J as columns, and is task I(I+1)/2 + J.
package blocks

import (
	"fmt"
	"math"
)

// Half is the half matrix of some documents, in blocks of a side.
type Half struct {
	Rows  int `json:"rows"`
	Block int `json:"block"`
}

// Validate checks what a description says.
func (h Half) Validate() error {
	switch {
	case h.Rows < 1 || h.Rows > math.MaxInt32:
		return fmt.Errorf("%d documents, expected at least one", h.Rows)
	case h.Block < 1 || h.Block > math.MaxInt32:
		return fmt.Errorf("-block %d, expected at least 1", h.Block)
	case h.Blocks() > 1<<15:
		return fmt.Errorf("-block %d divides %d documents into %d ranges, expected at most %d", h.Block, h.Rows,
			h.Blocks(), 1<<15)
	}
	return nil
}

// Check returns an error unless a job of a kind has as many tasks and documents as h.
func (h Half) Check(kind string, tasks, documents int) error {
	switch {
	case tasks != h.Tasks():
		return fmt.Errorf("%s: %d tasks, the job has %d", kind, h.Tasks(), tasks)
	case documents != h.Rows:
		return fmt.Errorf("%s: %d documents, the job has %d", kind, documents, h.Rows)
	}
	return nil
}

// Blocks counts the ranges of documents.
func (h Half) Blocks() int {
	if h.Block < 1 {
		return 0
	}
	return (h.Rows + h.Block - 1) / h.Block
}

// Tasks counts the blocks of the half matrix.
func (h Half) Tasks() int { b := h.Blocks(); return b * (b + 1) / 2 }

// Span returns the first document of a range, and the one after its last.
func (h Half) Span(block int) [2]int {
	return [2]int{block * h.Block, min((block+1)*h.Block, h.Rows)}
}

// Task returns the number of block (i, j).
func Task(i, j int) int { return i*(i+1)/2 + j }

// Place returns the block that a task is.
func Place(task int) (i, j int) {
	for i = int(math.Sqrt(2 * float64(task))); i*(i+1)/2 > task; i-- {
	}
	return i, task - i*(i+1)/2
}
