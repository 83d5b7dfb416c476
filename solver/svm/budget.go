package svm

import (
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// budget is how a problem's memory is shared out.
type budget struct {
	tiles int64 // the cache of tiles of c
	rows  int64 // rows of kernel values that the solver keeps
}

// What is counted beside documents, tiles and rows, in bytes.
const (
	// documentBytes is what the solver keeps for each document and worker beside rows: 46 for a
	// variable, with its bounds and gradient, two of them in regression, as many again where
	// documents are left out, and 60 for working sets and the places of rows.
	documentBytes = 256

	// gatherRows and gatherLeast bound the rows that a worker reads to leave out columns of theirs.
	gatherRows, gatherLeast = 16, 4 << 20

	// smallRows is what rows get where the whole matrix is cached: enough for the working sets of
	// all problems.
	smallRows = 512 << 20

	// setRows is how many rows a working set has at most: the solver can't do with less and be
	// quick.
	setRows = 256

	// garbagePart is the part of the memory that is left for what the collector hasn't given back
	// yet: 900 MiB were passed by 4 without it.
	garbagePart = 50
)

// modelBytes is what a model takes at most beside the problem: the support vectors as raw values,
// were they all documents.
func modelBytes(documents, values int64) int64 { return 8*values + 24*documents }

// machineBytes is what the problems of a scheme take for each document and machine that it is in:
// its place and its sign, and, were it a support vector, its coefficient and number in lists that
// have grown to up to twice their size, and its number in the model once more.
const machineBytes = 9 + 2*16 + 8

// machinesBytes bounds what the lists of documents and the machines take for the settings, over all
// problems of two classes.
func (p *Problem) machinesBytes(s *Settings) int64 {
	each := int64(1) // machines that a document is in
	if classes := int64(len(p.corpus.classes)); s.Type.Classifies() {
		each = max(classes, 1)
		if s.Scheme == solver.OneVsOne {
			each = max(classes-1, 1)
		}
	}
	return each * machineBytes * int64(p.Len())
}

// corpusBytes is what a problem keeps of its corpus beside the embedded documents: order, labels,
// the vocabulary, and what the embedding has learnt.
func (p *Problem) corpusBytes() int64 {
	bytes := 8*int64(len(p.corpus.order)+len(p.corpus.labels.Offsets)) + 4*int64(len(p.corpus.labels.IDs))
	for _, texts := range [][]string{p.corpus.vocabulary, p.corpus.classes} {
		for _, s := range texts {
			bytes += 16 + int64(len(s))
		}
	}
	f := p.x.Embedder
	return bytes + int64(len(f.Terms))*(4+4+8) + 4*int64(p.corpus.cols)
}

// fixedBytes is what the process holds while machines are trained, beside tiles, rows and what
// there is for each machine.
func (p *Problem) fixedBytes(e *engine.Engine) int64 {
	n := int64(e.Len())
	worker := documentBytes*n + max(gatherLeast, 4*gatherRows*n)
	return p.opt.HeldBytes + p.corpusBytes() + e.Bytes() + worker*int64(e.Workers()) + p.opt.MemoryBytes/garbagePart
}

// plan shares out what is left beside the rest. A matrix that fits is kept whole; otherwise rows,
// which become short when documents are left out, get as much as tiles, which all problems share.
func (p *Problem) plan(e *engine.Engine) (budget, error) {
	n := int64(e.Len())
	whole := 4*n*n + n
	left := p.opt.CacheBytes
	if p.opt.MemoryBytes > 0 {
		free := p.opt.MemoryBytes - p.fixedBytes(e) - modelBytes(n, p.x.NNZ())
		if left == 0 || free < left {
			left = free
		}
	} else if left == 0 {
		left = whole + smallRows
	}
	set := 4 * n * min(setRows, n)
	least := 2*set + int64(e.Workers())<<18 // a working set, as much for tiles, and their scratch space
	if left < least {
		return budget{}, p.tooLarge(least - left)
	}
	if whole+2*set+1<<20 <= left { // a validation keeps solutions beside its rows
		return budget{tiles: whole, rows: min(left-whole, max(smallRows, set))}, nil
	}
	return budget{tiles: left / 2, rows: left - left/2}, nil
}

// tooLarge says what would be enough where so much is missing; the part for garbage grows with it.
func (p *Problem) tooLarge(missing int64) error {
	limit, name := p.opt.MemoryBytes, "of memory"
	if limit > 0 {
		missing += missing/(garbagePart-1) + 1
	} else {
		limit, name = p.opt.CacheBytes, "for tiles and rows"
	}
	return fmt.Errorf("svm: training on %d documents needs %s %s, expected at most %s", p.x.Rows(), sparse.FormatBytes(limit+missing), name, sparse.FormatBytes(limit))
}

// rowsFor is what rows may take while machines of the given settings are trained.
func (p *Problem) rowsFor(s *Settings) (int64, error) {
	if p.opt.MemoryBytes == 0 {
		return p.budget.rows, nil
	}
	n := int64(p.Len())
	own := p.machinesBytes(s)
	if spare := p.opt.MemoryBytes - p.fixedBytes(p.Engine()) - modelBytes(n, p.x.NNZ()) - p.budget.tiles - p.budget.rows; own > spare {
		left := p.budget.rows - (own - max(spare, 0))
		if least := 4 * n * min(setRows, n); left < least {
			return 0, p.tooLarge(least - left)
		}
		return left, nil
	}
	return p.budget.rows, nil
}

// engineBytes is what the engine may take.
func (p *Problem) engineBytes() int64 {
	if p.opt.MemoryBytes == 0 {
		return 0
	}
	return max(p.opt.MemoryBytes-p.opt.HeldBytes, 1)
}

// prepares says beforehand if the documents can't be made ready within the memory that is allowed:
// the corpus, their embedded form, and the engine in the making.
func (p *Problem) prepares(c *sparse.Corpus) error {
	if p.opt.MemoryBytes == 0 {
		return nil
	}
	terms, _ := c.Documents.TermFrequencies()
	values := c.Documents.NNZ() + int64(c.Documents.EmptyRows()) // a document without terms gets one of its own
	need := p.opt.HeldBytes + c.Documents.Bytes() + engine.NewBytes(c.Documents.Rows(), len(terms)+1, values)
	if need <= p.opt.MemoryBytes {
		return nil
	}
	return fmt.Errorf("svm: preparing %d documents needs %s of memory, expected at most %s", c.Documents.Rows(), sparse.FormatBytes(need), sparse.FormatBytes(p.opt.MemoryBytes))
}
