package svm

import (
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// budget is how a problem's memory is shared out.
type budget struct {
	tiles int64 // the cache of tiles of c
	rows  int64 // rows of kernel values that the solver keeps
}

// documentBytes is what the solver keeps for each document and worker beside rows: gradients, coefficients, bounds, the lists of working sets.
const documentBytes = 128

// smallRows is what rows get where the whole matrix is cached: enough for the working sets of all problems.
const smallRows = 512 << 20

// garbagePart is the part of the memory that is left for what the collector hasn't given back yet: 900 MiB were passed by 4 without it.
const garbagePart = 50

// modelBytes is what a model takes at most beside the problem: the support vectors as raw values, were they all documents.
func modelBytes(values int64) int64 { return 8 * values }

// plan shares out what is left beside the engine and a model of documents with so many values. A matrix that fits is kept whole; otherwise rows, which become short when documents are left out,
// get more than tiles.
func plan(e *engine.Engine, values int64, opt Options) (budget, error) {
	n := int64(e.Len())
	whole := 4*n*n + n
	left := opt.CacheBytes
	if opt.MemoryBytes > 0 {
		free := opt.MemoryBytes - opt.HeldBytes - e.Bytes() - documentBytes*n*int64(e.Workers()) - modelBytes(values) - opt.MemoryBytes/garbagePart
		if left == 0 || free < left {
			left = free
		}
	} else if left == 0 {
		left = whole + smallRows
	}
	least := 4*n*512 + 1<<20
	if left < least {
		return budget{}, fmt.Errorf("svm: training on %d documents needs %s of memory, expected at most %s", n,
			sparse.FormatBytes(opt.MemoryBytes-left+least), sparse.FormatBytes(opt.MemoryBytes))
	}
	if whole+least <= left {
		return budget{tiles: whole, rows: min(left-whole, smallRows)}, nil
	}
	return budget{tiles: left / 2, rows: left - left/2}, nil
}

// engineBytes is what the engine may take.
func (p *Problem) engineBytes() int64 {
	if p.opt.MemoryBytes == 0 {
		return 0
	}
	return max(p.opt.MemoryBytes-p.opt.HeldBytes, 1)
}
