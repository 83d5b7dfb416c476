package svm

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// budget holds the memory limits of a problem in bytes.
type budget struct {
	tiles int64 // cache of tiles of c
	rows  int64 // rows of kernel values that the solver caches
}

// Sizes are in bytes.
const (
	// documentBytes is the solver's memory per document and worker, except rows of kernel values. A
	// variable with its bounds and gradient takes 46 bytes, and a regression has two variables per
	// document. A copy that excludes left-out documents doubles this amount. Working sets and
	// positions of rows take another 60 bytes.
	documentBytes = 256

	// Each worker has a buffer for rows from which columns are dropped. The buffer has gatherRows
	// rows, or gatherLeast bytes if that is more.
	gatherRows, gatherLeast = 64, 4 << 20

	// smallRows is the memory for rows if the whole matrix is cached: enough for the working sets
	// of all problems.
	smallRows = 512 << 20

	// A single problem with a matrix above largeBytes computes rows on demand, even if the matrix
	// fits. Training then reads fewer rows and takes fewer steps. With 50,000 noisy documents,
	// computing the whole matrix took 30 of 43 s, mostly for the first write to the matrix.
	largeBytes = 4 << 30

	// setRows is the maximum number of rows in a working set. Fewer rows make the solver slow.
	setRows = 256

	// The fraction 1/garbagePart of the memory limit is left for uncollected garbage. Without this
	// reserve, a limit of 900 MiB was exceeded by 4 MiB.
	garbagePart = 50

	// machineBytes is the memory for each document of each binary classifier: the document's
	// position and sign (9 bytes). A support vector also has a coefficient and an index, in lists
	// with up to twice the needed capacity, and an index in the model (8).
	machineBytes = 9 + 2*16 + 8

	termBytes = 24 // memory per term of the vocabulary
)

// Task describes a training run or a validation, to estimate the memory that it needs.
type Task struct {
	Settings Settings // only Type, Scheme, Thresholds, Probabilities and Calibrated matter
	Folds    int      // number of folds of a validation; 0 for training
	Cells    int      // number of combinations of C, Nu and Epsilon validated together; default 1
}

// machines returns the maximum number of binary classifiers per document, and the number of all
// binary classifiers.
func (s *Settings) machines(classes int64) (each, all int64) {
	switch {
	case !s.Type.Classifies():
		return 1, 1
	case s.Scheme == solver.OneVsOne:
		return max(classes-1, 1), max(classes*(classes-1)/2, 1)
	}
	return max(classes, 1), max(classes, 1)
}

// sizes holds the numbers that determine a problem's memory, before or after the problem is
// created. Unknown sizes are replaced by upper bounds.
type sizes struct {
	n, values, classes, panel, workers int64

	held   int64 // memory of the process, including the problem's copies of corpus data, but no embedded documents
	engine int64
	kept   int64 // memory of the engine, estimated until the engine exists
	making int64 // maximum memory before the engine exists
	apart  int64 // additional memory while folds have their own problems; 0 if folds share the problem

	supervised bool // the embedding is supervised, so thresholds and calibrations need a problem per fold, too
}

// sizes returns upper bounds for a problem with the given numbers of documents and values. embedder
// must be fitted.
func (o *Options) sizes(c *corpus.Corpus, embedder *sparse.Embedder, documents int, values int64) sizes {
	k, _ := kernels(o.ISA) // the caller has checked o.ISA
	values += int64(documents) * int64(embedder.Filled())
	z := sizes{
		n: int64(documents), values: values, classes: int64(len(c.Classes)), panel: int64(k.Panel),
		workers: int64(run.Workers(o.Workers)),
	}
	z.held = o.HeldBytes + 16*int64(c.Documents.Rows()) + 4*int64(len(c.Labels.IDs)) + 8*int64(len(c.Weights)) + 8 +
		embedder.Bytes()
	for _, texts := range [][]string{c.Vocabulary, c.Classes} {
		for _, s := range texts {
			z.held += 16 + int64(len(s))
		}
	}
	longest := c.Documents.LongestRow() + embedder.Filled()
	z.setEngine(embedder.Cols(), longest)
	z.kept = engine.HeldBytes(documents, embedder.Cols(), values, longest, int(z.workers))
	z.making = max(o.HeldBytes+8*(z.n+1)+8*values+engine.NewBytes(documents, embedder.Cols(), values), o.least)
	z.supervised = embedder.Supervised()
	if byFold(embedder.Embedding) { // see work.apart
		z.apart = z.held - o.HeldBytes + z.engine + 16*values + 16*z.n // raw documents, and a copy to fit embeddings
	}
	return z
}

// setEngine bounds the bytes of the engine, given its columns and the longest document.
func (z *sizes) setEngine(columns, longest int) {
	z.engine = engine.NewBytes(int(z.n), columns, z.values) +
		z.workers*engine.ScratchBytes(int(z.n), columns, z.values, longest)
}

// set returns the memory of a working set.
func (z *sizes) set() int64 { return 4 * z.n * min(setRows, z.n) }

// whole returns the memory of the matrix.
func (z *sizes) whole() int64 { return 4*z.n*z.n + z.n }

// model returns the maximum memory of a model, in which all documents are support vectors with raw
// values.
func (z *sizes) model() int64 { return 8*z.values + 24*z.n }

// fixed returns the memory that the process holds during training, except tiles, rows, garbage and
// memory per binary classifier.
func (z *sizes) fixed() int64 {
	return z.held + z.engine + (documentBytes*z.n+max(gatherLeast, 4*gatherRows*z.n))*z.workers
}

// rowShare returns how much of the row memory a task uses for other data. Training takes
// machineBytes for each document of each classifier and, if thresholds are tuned, 16 bytes for
// decision values. A validation takes
//
//   - a coefficient and its document, 16 bytes, for each document in each binary classifier that
//     may use it, for all cells of a kernel and for one cell of each of the two previous kernels;
//   - 80 bytes per document and 4 per coefficient, for the columns of a prediction;
//   - a panel of kernel values and the sums of the binary classifiers, in each worker.
func (z *sizes) rowShare(t Task) int64 {
	each, machines := t.Settings.machines(z.classes)
	if t.Folds == 0 {
		list := each * machineBytes
		if t.Settings.Thresholds {
			list += 16 * each
		}
		if t.Settings.Calibrated {
			t.Folds, t.Settings.Probabilities = calibrationFolds, true
			return max(list*z.n, z.rowShare(t))
		}
		return list * z.n
	}
	cells := int64(max(t.Cells, 1))
	bytes := z.n*each*int64(t.Folds-1)*16*(cells+2) + z.n*each*9 + z.n*80 + z.n*each*cells*4 +
		(z.panel*4*z.n+z.panel*8*machines*cells)*z.workers
	if t.Settings.Thresholds || t.Settings.Probabilities { // decision values and calibration
		bytes += z.n * machines * (8*cells + 48)
	}
	return bytes
}

// rows returns the minimum memory for rows: a working set, and the data of the largest task.
func (z *sizes) rows(tasks []Task) int64 {
	most := int64(0)
	for _, t := range tasks {
		most = max(most, z.rowShare(t))
	}
	return z.set() + most
}

// shared returns the minimum memory for rows and tiles together, including scratch space for tiles.
func (z *sizes) shared(tasks []Task) int64 { return z.rows(tasks) + z.set() + z.scratch() }

// scratch returns the scratch space for tiles of all workers.
func (z *sizes) scratch() int64 { return z.workers << 18 }

// rereads reports whether a task solves several problems, which read the same tiles. A single
// problem caches its rows, so tiles are read only once.
func (z *sizes) rereads(t Task) bool {
	s := &t.Settings
	_, all := s.machines(z.classes)
	return all > 1 || t.Folds > 0 || s.Calibrated || s.Probabilities || s.Thresholds
}

// need returns an upper bound on the Options.MemoryBytes that tasks need.
func (z *sizes) need(o *Options, tasks []Task) int64 {
	if z.supervised {
		tasks = slices.Clone(tasks)
		for _, t := range tasks {
			switch {
			case t.Folds > 0:
			case t.Settings.Calibrated:
				tasks = append(tasks, Task{t.Settings, calibrationFolds, 1})
			case t.Settings.Thresholds:
				tasks = append(tasks, Task{t.Settings, thresholdFolds, 1})
			}
		}
	}
	bytes := z.fixed() + z.model() + z.shared(tasks)
	if o.least > 0 { // the matrix is stored whole
		bytes += z.whole()
	}
	making := z.making
	if slices.ContainsFunc(tasks, func(t Task) bool { return t.Folds > 0 }) {
		making, bytes = making+z.apart, bytes+z.apart
	}
	return max(making, bytes+bytes/(garbagePart-1)+1)
}

// plan divides the remaining memory between tiles and rows. A matrix that fits is stored whole,
// except for a single large problem. Otherwise rows and tiles get half of the memory each. Rows get
// more than half if the tasks need more. If only one problem is solved, rows get all memory,
// because tiles are then read only once.
func (p *Problem) plan(e *engine.Engine) (budget, error) {
	z := &p.bound
	z.engine = e.Info().Bytes
	z.kept = z.engine
	left, rows := p.opt.CacheBytes, z.rows(p.opt.Tasks)
	if p.opt.MemoryBytes > 0 {
		free := p.opt.MemoryBytes - p.opt.MemoryBytes/garbagePart - z.fixed() - z.model()
		if left == 0 || free < left {
			left = free
		}
	} else if left == 0 {
		left = z.whole() + max(smallRows, rows)
	}
	whole := z.whole()+max(rows, 2*z.set())+1<<20 <= left // a validation also keeps solutions
	single := p.opt.Once && len(p.opt.Tasks) > 0 && !slices.ContainsFunc(p.opt.Tasks, z.rereads)
	if single && z.whole() > largeBytes && p.opt.MemoryBytes > 0 && p.opt.Device == nil && p.opt.least == 0 {
		whole = false
	}
	switch {
	case left < z.shared(p.opt.Tasks) || p.opt.least > 0 && !whole:
		return budget{}, p.tooLarge()
	case whole:
		return budget{tiles: z.whole(), rows: min(left-z.whole(), max(smallRows, rows))}, nil
	}
	tiles := min(left/2, left-rows)
	if single {
		tiles = min(tiles, z.scratch())
	}
	return budget{tiles: tiles, rows: left - tiles}, nil
}

// TrainBytes estimates the Options.MemoryBytes that suffice for a task, before documents are read.
func TrainBytes(s corpus.Size, workers int, t Task) int64 {
	z := sizesOf(s, workers)
	z.held += termBytes * int64(s.Terms)
	z.engine = engine.HeldBytes(s.Documents, s.Terms, z.values, s.Longest, int(z.workers))
	z.making = 8*z.n + 8*z.values + engine.NewBytes(s.Documents, s.Terms+1, z.values)
	return z.need(&Options{}, []Task{t})
}

func sizesOf(s corpus.Size, workers int) sizes {
	k, _ := kernels("")
	return sizes{n: int64(s.Documents), values: s.Values, classes: int64(s.Classes), panel: int64(k.Panel),
		workers: int64(run.Workers(workers)), held: 20*int64(s.Documents) + 8 + 20*int64(s.Terms)}
}

// tooLarge returns an error with the memory that suffices for the problem's tasks and the tasks in
// more.
func (p *Problem) tooLarge(more ...Task) error {
	tasks, z := slices.Concat(p.opt.Tasks, more), p.bound
	z.engine = z.kept
	what := fmt.Sprintf("training on %d documents", p.bound.n)
	for _, t := range tasks {
		if t.Folds > 0 {
			what = fmt.Sprintf("validating %d folds of %d documents", t.Folds, p.bound.n)
		}
	}
	if p.opt.MemoryBytes == 0 {
		return fmt.Errorf("svm: %s needs %s of memory for tiles and rows, but the limit is %s", what,
			run.FormatNeed(p.bound.shared(tasks)), run.FormatBytes(p.opt.CacheBytes))
	}
	need := z.need(&p.opt, tasks)
	for _, t := range more { // plan ignored these tasks, and rows may have only half of the remaining memory
		need += z.rowShare(t) + z.rowShare(t)/(garbagePart-1)
	}
	return &run.MemoryError{What: "svm: " + what, Need: need, Limit: p.opt.MemoryBytes, Enough: true}
}

// solverOptions returns the solver options for a task. The budget for rows is reduced by the task's
// other memory in excess of the spare memory.
func (p *Problem) solverOptions(t Task) (solver.Options, error) {
	k, _ := kernels(p.opt.ISA) // the engine has checked the ISA
	opt := solver.Options{
		Tolerance: t.Settings.Tolerance, KeepAll: t.Settings.Shrinking.String() == "0", Workers: p.Engine().Info().Workers,
		RowBytes: p.budget.rows, Kernels: k, Progress: p.solving, MaxIterations: t.Settings.steps,
	}
	if p.opt.MemoryBytes == 0 {
		return opt, nil
	}
	z, spare := &p.bound, int64(0)
	if t.Folds == 0 { // a validation needs the spare memory for a matrix
		spare = max(p.spare()-z.model(), 0)
	}
	opt.RowBytes -= max(z.rowShare(t)-spare, 0)
	if opt.RowBytes < z.set() && opt.RowBytes < p.budget.rows {
		return opt, p.tooLarge(t)
	}
	return opt, nil
}

// spare returns the memory that remains after tiles and rows.
func (p *Problem) spare() int64 {
	if p.opt.MemoryBytes == 0 {
		return math.MaxInt64
	}
	return p.opt.MemoryBytes - p.opt.MemoryBytes/garbagePart - p.bound.fixed() - p.budget.tiles - p.budget.rows
}

// engineBytes returns the memory limit of the engine, 0 for none.
func (p *Problem) engineBytes() int64 {
	if p.opt.MemoryBytes == 0 {
		return 0
	}
	return max(p.opt.MemoryBytes-p.opt.HeldBytes, 1)
}

// rowsAtATime returns the batch size for predictions: a number of documents that suits the engine
// and fits into memory.
func (p *Predictor) rowsAtATime(docs *sparse.CSR) (int, error) {
	rows, e := chunkDocuments, p.decides()
	if e != nil {
		rows = e.Info().BatchRows
	}
	for limit := p.opt.MemoryBytes; limit > 0; rows = max(rows/2, p.width()) {
		need := p.needs(docs, rows, e)
		if need <= limit {
			break
		}
		if rows <= p.width() || e == nil && p.w == nil {
			return 0, p.tooLarge(need)
		}
	}
	return rows, nil
}

// needs returns the memory for predicting docs with batch size rows, using engine e, weights or
// neither.
func (p *Predictor) needs(docs *sparse.CSR, rows int, e *engine.Engine) int64 {
	n := int64(docs.Rows())
	need := p.opt.HeldBytes + n*(8*int64(len(p.m.Classifier.Functions))+24)
	if p.m.Type.Classifies() {
		need += n * (24 + 8*int64(len(p.m.Classes)))
	}
	if p.w == nil {
		need += p.p.Bytes()
	}
	if p.rows > 0 {
		workers := int64(run.Workers(p.opt.Workers))
		return need + workers*(4*int64(p.rows)*int64(len(p.m.SupportDoc))+p.p.SumsBytes(p.rows))
	}
	if e == nil && p.w == nil {
		return need
	}
	rows = min(rows, docs.Rows())
	most := int64(0) // largest number of values in a batch
	for first := 0; first < docs.Rows(); first += rows {
		end := min(first+rows, docs.Rows())
		most = max(most, docs.Offsets[end]-docs.Offsets[first])
	}
	if e == nil {
		p.own.mu.Lock()
		defer p.own.mu.Unlock()
		if p.own.e != nil {
			need += p.own.e.Info().Bytes
		}
		return need + p.w.Bytes() + int64(run.Workers(p.opt.Workers))*sparse.EmbeddedBytes(rows, most)
	}
	about := e.Info()
	batch := e.CrossBytes(rows, most) + sparse.EmbeddedBytes(rows, most)
	return need + about.Bytes + int64(about.Batches)*(batch+int64(about.BatchWorkers)*p.p.SumsBytes(p.width()))
}

func (p *Predictor) tooLarge(need int64) error {
	what := fmt.Sprintf("svm: predicting with %d support vectors", p.m.Support.Rows())
	return &engine.MemoryError{What: what, Need: need, Limit: p.opt.MemoryBytes}
}
