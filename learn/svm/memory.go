package svm

import (
	"cmp"
	"fmt"
	"math"
	"runtime"

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

	// setRows is how many rows a working set has at most: with less the solver is slow.
	setRows = 256

	// garbagePart is the part of the memory that is left for what the collector hasn't freed yet:
	// without it 900 MiB were exceeded by 4.
	garbagePart = 50

	// machineBytes is what the problems of a scheme take for each document and machine that it is
	// in: its place and its sign; for a support vector its coefficient and number, in lists that
	// have grown to up to twice their size; its number in the model.
	machineBytes = 9 + 2*16 + 8
)

// modelBytes is what a model takes at most beside the problem: all documents as support vectors
// with raw values.
func (p *Problem) modelBytes() int64 { return 8*p.x.NNZ() + 24*int64(p.Len()) }

// machines returns how many machines of the settings a document is in at most, and how many there
// are.
func (p *Problem) machines(s *Settings) (each, all int64) {
	classes := int64(len(p.corpus.classes))
	switch {
	case !s.Type.Classifies():
		return 1, 1
	case s.Scheme == solver.OneVsOne:
		return classes - 1, classes * (classes - 1) / 2
	}
	return classes, classes
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
	return bytes + int64(len(p.x.Embedder.Terms))*(4+4+8) + 4*int64(p.corpus.cols)
}

// fixedBytes is what the process holds while machines are trained, beside tiles, rows and what
// there is for each machine.
func (p *Problem) fixedBytes(e *engine.Engine) int64 {
	n := int64(e.Len())
	worker := documentBytes*n + max(gatherLeast, 4*gatherRows*n)
	return p.opt.HeldBytes + p.corpusBytes() + e.Bytes() + worker*int64(e.Workers()) + p.opt.MemoryBytes/garbagePart
}

// plan shares out what is left beside the rest. A matrix that fits is kept whole. Otherwise rows,
// which become short when documents are left out, get as much as tiles, which all problems share.
func (p *Problem) plan(e *engine.Engine) (budget, error) {
	n := int64(e.Len())
	whole := 4*n*n + n
	left := p.opt.CacheBytes
	if p.opt.MemoryBytes > 0 {
		free := p.opt.MemoryBytes - p.fixedBytes(e) - p.modelBytes()
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

// LeastBytes bounds the Options.MemoryBytes that are enough for machines of documents with so many
// columns, values and classes, before they are embedded, where nothing else is held. With as much
// training is slow. Numbers below 0 count as 0.
func LeastBytes(documents, columns, classes int, values int64, workers int) int64 {
	n, columns, values := int64(max(documents, 0)), max(columns, 0), max(values, 0)
	set := 4 * n * min(setRows, n)
	corpus := 20*n + 8 + 20*int64(columns)
	machines := int64(max(classes, 1)) * (machineBytes*n + 64)
	fixed := corpus + engine.NewBytes(int(n), columns, values) + 8*values + 24*n + machines
	worker := documentBytes*n + max(gatherLeast, 4*gatherRows*n) + 1<<19 // with the scratch space of an engine's
	bytes := fixed + 2*set + int64(max(workers, 0))*worker
	return bytes + bytes/(garbagePart-1) + 1
}

// exceeds is the error of work that needs more bytes than there are.
func exceeds(need, limit int64, of, format string, args ...any) error {
	return fmt.Errorf("svm: %s needs %s %s, expected at most %s",
		fmt.Sprintf(format, args...), sparse.FormatBytes(need), of, sparse.FormatBytes(limit))
}

// tooLarge says what would be enough where so much is missing. The part for garbage grows with it.
func (p *Problem) tooLarge(missing int64) error {
	limit, of := p.opt.MemoryBytes, "of memory"
	if limit > 0 {
		missing += missing/(garbagePart-1) + 1
	} else {
		limit, of = p.opt.CacheBytes, "for tiles and rows"
	}
	return exceeds(limit+missing, limit, of, "training on %d documents", p.x.Rows())
}

// rowsFor is what rows may take while machines of the given settings are trained: what the budget
// has for them, less what lists of documents and machines take above what is spare.
func (p *Problem) rowsFor(s *Settings) (int64, error) {
	if p.opt.MemoryBytes == 0 {
		return p.budget.rows, nil
	}
	n := int64(p.Len())
	each, _ := p.machines(s)
	list := max(each, 1) * machineBytes
	if s.Thresholds { // decision values, and those of them near 0
		list += 16 * each
	}
	left := p.budget.rows - max(list*n-max(p.spare()-p.modelBytes(), 0), 0)
	if least := 4 * n * min(setRows, n); left < least && left < p.budget.rows {
		return 0, p.tooLarge(least - left)
	}
	return left, nil
}

// spare is the memory that is left beside tiles and rows.
func (p *Problem) spare() int64 {
	if p.opt.MemoryBytes == 0 {
		return math.MaxInt64
	}
	return p.opt.MemoryBytes - p.fixedBytes(p.Engine()) - p.budget.tiles - p.budget.rows
}

// engineBytes is what the engine may take.
func (p *Problem) engineBytes() int64 {
	if p.opt.MemoryBytes == 0 {
		return 0
	}
	return max(p.opt.MemoryBytes-p.opt.HeldBytes, 1)
}

// prepares checks that the documents can be made ready within the memory that is allowed: the
// corpus, their embedded form, and the engine in the making.
func (p *Problem) prepares(c *sparse.Corpus, embedder *sparse.Embedder) error {
	limit := p.opt.MemoryBytes
	if limit == 0 {
		return nil
	}
	docs := c.Documents
	values := docs.NNZ() + int64(docs.EmptyRows()) + // a document without terms gets one of its own
		int64(docs.Rows())*int64(embedder.Filled())
	need := p.opt.HeldBytes + docs.Bytes() + engine.NewBytes(docs.Rows(), embedder.Cols(), values)
	if need <= limit {
		return nil
	}
	return exceeds(need, limit, "of memory", "preparing %d documents", docs.Rows())
}

// leastRows is how many rows of the matrix a validation must have room for at least.
const leastRows = 256

// options returns how the solver is to work for a number of cells at a time. Solutions and
// predictions take a part of the memory for rows:
//
//   - a coefficient and its document, 16 bytes, for each document in each machine that it could be
//     a support vector of, for all cells and, for one cell, for two kernels before;
//   - for a prediction its columns, 80 bytes per document and 4 per coefficient;
//   - in each worker a panel of kernel values and the sums of the machines.
func (f *folded) options(cells int) (solver.Options, error) {
	p, e := f.p, f.p.Engine()
	opt := p.solverOptions(f.s)
	if p.opt.MemoryBytes == 0 {
		return opt, nil
	}
	n, panel := int64(p.Len()), int64(e.Panel())
	each, machines := p.machines(f.s)
	fits := n * each * int64(f.folds-1) * 16
	own := fits*(int64(cells)+2) + n*each*9 + n*80 + n*each*int64(cells)*4 +
		(panel*4*n+panel*8*machines*int64(cells))*int64(e.Workers())
	if f.s.Thresholds || f.s.Probabilities { // decision values, and lists of them
		own += n * machines * (8*int64(cells) + 48)
	}
	least := 4 * n * leastRows
	if opt.RowBytes-own < least {
		return opt, fmt.Errorf("svm: validating %d folds of %d documents needs %s of memory beside the matrix, "+
			"expected at most %s",
			f.folds, n, sparse.FormatBytes(own+least), sparse.FormatBytes(opt.RowBytes))
	}
	opt.RowBytes -= own
	return opt, nil
}

// rowsAtATime returns how many documents are predicted together: as many as suit the engine and fit
// into memory.
func (p *Predictor) rowsAtATime(docs *sparse.CSR) (int, error) {
	rows := chunkDocuments
	if p.e != nil {
		rows, _, _ = p.e.Batches()
	}
	for limit := p.opt.MemoryBytes; limit > 0; rows = max(rows/2, p.width()) {
		need := p.needs(docs, rows)
		if need <= limit {
			break
		}
		if rows <= p.width() || p.e == nil {
			return 0, p.tooLarge(need)
		}
	}
	return rows, nil
}

// needs is what predicting documents takes, so many at a time.
func (p *Predictor) needs(docs *sparse.CSR, rows int) int64 {
	n := int64(docs.Rows())
	need := p.opt.HeldBytes + n*(8*int64(len(p.m.Classifier.Machines))+24)
	if p.m.Type.Classifies() {
		need += n * (24 + 8*int64(len(p.m.Classes)))
	}
	if p.rows > 0 {
		workers := int64(cmp.Or(p.opt.Workers, runtime.GOMAXPROCS(0)))
		return need + workers*(4*int64(p.rows)*int64(len(p.m.SupportDoc))+p.p.SumsBytes(p.rows))
	}
	if p.e == nil {
		return need
	}
	rows = min(rows, docs.Rows())
	most := int64(0) // values
	for first := 0; first < docs.Rows(); first += rows {
		end := min(first+rows, docs.Rows())
		most = max(most, docs.Offsets[end]-docs.Offsets[first])
	}
	_, atOnce, workers := p.e.Batches()
	batch := p.e.CrossTilesBytes(rows, most) + sparse.EmbeddedBytes(rows, most)
	return need + p.e.Bytes() + int64(atOnce)*(batch+int64(workers)*p.p.SumsBytes(p.width()))
}

func (p *Predictor) tooLarge(need int64) error {
	what := fmt.Sprintf("predicting with %d support vectors", p.m.Support.Rows())
	return &engine.MemoryError{What: what, Need: need, Limit: p.opt.MemoryBytes}
}
