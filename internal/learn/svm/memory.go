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

type budget struct {
	tiles int64 // memory for cached tiles of c
	rows  int64 // memory for rows of kernel values that the solver caches
}

// Sizes are in bytes.
const (
	// documentBytes is the solver's memory per document and worker, except rows of kernel values. A
	// variable with its bounds and gradient takes 46 bytes, and a regression has two variables per
	// document. A copy that excludes left-out documents doubles this amount. Working sets and
	// positions of rows take another 60 bytes.
	documentBytes = 256

	// Each worker has a buffer for rows from which columns are dropped. The buffer has gatherRows
	// rows, or minGatherBytes bytes if that is more.
	gatherRows, minGatherBytes = 64, 4 << 20

	// smallRows is the maximum memory for rows if the whole matrix is cached, unless the planned
	// runs need more.
	smallRows = 512 << 20

	// If MemoryBytes is set and there is no device, a single problem with a matrix above largeBytes
	// computes rows on demand, even if the matrix fits. Training then reads fewer rows and takes
	// fewer steps. With 50,000 noisy documents, computing the whole matrix took 30 of 43 s, mostly
	// for the first write to the matrix.
	largeBytes = 4 << 30

	// workingSetRows is the maximum number of rows in a working set. Fewer rows make the solver
	// slow.
	workingSetRows = 256

	// The fraction 1/garbageDivisor of the memory limit is left for uncollected garbage. Without
	// this reserve, a limit of 900 MiB was exceeded by 4 MiB.
	garbageDivisor = 50

	// classifierBytes is the memory for each document of each binary classifier: the document's
	// position and sign (9 bytes). A support vector also has a coefficient and an index, in lists
	// with up to twice the needed capacity, and an index in the model (8).
	classifierBytes = 9 + 2*16 + 8

	termBytes = 24 // memory per term of the vocabulary
)

// PlannedRun describes a training run or a validation, to estimate the memory that it needs.
type PlannedRun struct {
	Settings            Settings // estimates depend on Type, Scheme, TuneThresholds, Probabilities and Calibrated
	Folds               int      // number of folds of a validation; 0 for training
	RegularizationCount int      // number of combinations of C, Nu and Epsilon validated together; default 1
}

// classifierCounts returns the maximum number of binary classifiers that use the same document, and
// the number of all binary classifiers.
func (s *Settings) classifierCounts(classes int64) (each, all int64) {
	switch {
	case !s.Type.Classifies():
		return 1, 1
	case s.Scheme == solver.OneVsOne:
		return max(classes-1, 1), max(classes*(classes-1)/2, 1)
	}
	return max(classes, 1), max(classes, 1)
}

// memorySizes holds the numbers that determine a problem's memory, before or after the problem is
// created. Unknown sizes are replaced by upper bounds.
type memorySizes struct {
	n, values, classes, panel, workers int64

	held         int64 // memory of the process, including the problem's copies of corpus data, but no embedded documents
	engine       int64
	engineHeld   int64 // memory of the engine, estimated until the engine exists
	enginePeak   int64 // maximum memory while the engine is being created
	foldProblems int64 // additional memory while folds have their own problems; 0 if folds share the problem

	supervised bool // true if the embedding is supervised; thresholds and calibrations then need a problem per fold
}

// memorySizes returns upper bounds for a problem with the given numbers of documents and values.
// embedder must be fitted.
func (o *Options) memorySizes(c *corpus.Corpus, embedder *sparse.Embedder, documents int, values int64) memorySizes {
	k, _ := kernels(o.ISA) // no error, because the caller has checked o.ISA
	values += int64(documents) * int64(embedder.FilledCount())
	z := memorySizes{
		n: int64(documents), values: values, classes: int64(len(c.Classes)), panel: int64(k.PanelWidth),
		workers: int64(run.NumWorkers(o.Workers)),
	}
	z.held = o.HeldBytes + 16*int64(c.Documents.Rows()) + 4*int64(len(c.Labels.IDs)) + 8*int64(len(c.Weights)) + 8 +
		embedder.Bytes()
	for _, texts := range [][]string{c.Vocabulary, c.Classes} {
		for _, s := range texts {
			z.held += 16 + int64(len(s))
		}
	}
	longest := c.Documents.MaxRowLen() + embedder.FilledCount()
	z.setEngine(embedder.Cols(), longest)
	z.engineHeld = engine.EstimatedBytes(documents, embedder.Cols(), values, longest, int(z.workers))
	z.enginePeak = max(o.HeldBytes+8*(z.n+1)+8*values+engine.MaxEngineBytes(documents, embedder.Cols(), values),
		o.minBytes)
	z.supervised = embedder.Supervised()
	if needsFoldEmbedding(embedder.Embedding) { // see validateByFold
		z.foldProblems = z.held - o.HeldBytes + z.engine + 16*values + 16*z.n // raw documents, and a copy to fit embeddings
	}
	return z
}

func (z *memorySizes) setEngine(columns, longest int) {
	z.engine = engine.MaxEngineBytes(int(z.n), columns, z.values) +
		z.workers*engine.ScratchBytes(int(z.n), columns, z.values, longest)
}

func (z *memorySizes) workingSet() int64 { return 4 * z.n * min(workingSetRows, z.n) }

func (z *memorySizes) matrix() int64 { return 4*z.n*z.n + z.n }

// model returns the size in bytes of a model in which every document is a support vector.
func (z *memorySizes) model() int64 { return 8*z.values + 24*z.n }

// fixedBytes returns the memory that the process holds during training, except the model, tiles,
// rows, garbage and memory per binary classifier.
func (z *memorySizes) fixedBytes() int64 {
	return z.held + z.engine + (documentBytes*z.n+max(minGatherBytes, 4*gatherRows*z.n))*z.workers
}

// rowShare returns the part of the row memory, in bytes, that a task uses for other data. Training
// takes classifierBytes for each document of each classifier, and 16 bytes more if thresholds are
// tuned. Training with a calibration takes at least as much memory as validating the calibration's
// folds. A validation mainly takes
//
//   - a coefficient and its document, 16 bytes, for each document in each binary classifier that
//     may use it, for all cells of a kernel and for one cell of each of the two previous kernels;
//   - 80 bytes per document and 4 per coefficient, for the columns of a prediction;
//   - a panel of kernel values and the sums of the binary classifiers, in each worker.
func (z *memorySizes) rowShare(t PlannedRun) int64 {
	each, machines := t.Settings.classifierCounts(z.classes)
	if t.Folds == 0 {
		list := each * classifierBytes
		if t.Settings.TuneThresholds {
			list += 16 * each
		}
		if t.Settings.Calibrated {
			t.Folds, t.Settings.Probabilities = calibrationFolds, true
			return max(list*z.n, z.rowShare(t))
		}
		return list * z.n
	}
	cells := int64(max(t.RegularizationCount, 1))
	bytes := z.n*each*int64(t.Folds-1)*16*(cells+2) + z.n*each*9 + z.n*80 + z.n*each*cells*4 +
		(z.panel*4*z.n+z.panel*8*machines*cells)*z.workers
	if t.Settings.TuneThresholds || t.Settings.Probabilities { // add decision values and calibration
		bytes += z.n * machines * (8*cells + 48)
	}
	return bytes
}

// minRowBytes returns the minimum memory for rows: a working set, and the data of the largest task.
func (z *memorySizes) minRowBytes(tasks []PlannedRun) int64 {
	most := int64(0)
	for _, t := range tasks {
		most = max(most, z.rowShare(t))
	}
	return z.workingSet() + most
}

// minSharedBytes returns the minimum memory for rows and tiles, with scratch space for tiles.
func (z *memorySizes) minSharedBytes(tasks []PlannedRun) int64 {
	return z.minRowBytes(tasks) + z.workingSet() + z.scratch()
}

func (z *memorySizes) scratch() int64 { return z.workers << 18 }

// rereads reports whether task t solves several problems that read the same tiles. A single
// problem caches its rows, so tiles are read only once.
func (z *memorySizes) rereads(t PlannedRun) bool {
	s := &t.Settings
	_, all := s.classifierCounts(z.classes)
	return all > 1 || t.Folds > 0 || s.Calibrated || s.Probabilities || s.TuneThresholds
}

// requiredBytes returns an upper bound on the Options.MemoryBytes that tasks need.
func (z *memorySizes) requiredBytes(o *Options, tasks []PlannedRun) int64 {
	if z.supervised {
		tasks = slices.Clone(tasks)
		for _, t := range tasks {
			switch {
			case t.Folds > 0:
			case t.Settings.Calibrated:
				tasks = append(tasks, PlannedRun{t.Settings, calibrationFolds, 1})
			case t.Settings.TuneThresholds:
				tasks = append(tasks, PlannedRun{t.Settings, thresholdFolds, 1})
			}
		}
	}
	bytes := z.fixedBytes() + z.model() + z.minSharedBytes(tasks)
	if o.minBytes > 0 { // a precomputed matrix is stored whole
		bytes += z.matrix()
	}
	making := z.enginePeak
	if slices.ContainsFunc(tasks, func(t PlannedRun) bool { return t.Folds > 0 }) {
		making, bytes = making+z.foldProblems, bytes+z.foldProblems
	}
	return max(making, bytes+bytes/(garbageDivisor-1)+1)
}

// plan divides the remaining memory between tiles and rows. A matrix that fits is stored whole,
// except for a single large problem. Otherwise rows and tiles get half of the memory each. Rows get
// more than half if the tasks need more. If only one problem is solved, rows get all memory except
// scratch space, because tiles are then read only once.
func (p *Problem) plan(e *engine.Engine) (budget, error) {
	z := &p.sizes
	z.engine = e.Info().Bytes
	z.engineHeld = z.engine
	left, rows := p.opt.CacheBytes, z.minRowBytes(p.opt.PlannedRuns)
	if p.opt.MemoryBytes > 0 {
		free := p.opt.MemoryBytes - p.opt.MemoryBytes/garbageDivisor - z.fixedBytes() - z.model()
		if left == 0 || free < left {
			left = free
		}
	} else if left == 0 {
		left = z.matrix() + max(smallRows, rows)
	}
	whole := z.matrix()+max(rows, 2*z.workingSet())+1<<20 <= left // rows include a validation's solutions
	single := p.opt.SingleUse && len(p.opt.PlannedRuns) > 0 && !slices.ContainsFunc(p.opt.PlannedRuns, z.rereads)
	if single && z.matrix() > largeBytes && p.opt.MemoryBytes > 0 && p.opt.Device == nil && p.opt.minBytes == 0 {
		whole = false
	}
	switch {
	case left < z.minSharedBytes(p.opt.PlannedRuns) || p.opt.minBytes > 0 && !whole:
		return budget{}, p.memoryError()
	case whole:
		return budget{tiles: z.matrix(), rows: min(left-z.matrix(), max(smallRows, rows))}, nil
	}
	tiles := min(left/2, left-rows)
	if single {
		tiles = min(tiles, z.scratch())
	}
	return budget{tiles: tiles, rows: left - tiles}, nil
}

// EstimateBytes estimates the Options.MemoryBytes that a task needs, from the size of the corpus.
func EstimateBytes(s corpus.Size, workers int, t PlannedRun) int64 {
	z := corpusSizes(s, workers)
	z.held += termBytes * int64(s.Terms)
	z.engine = engine.EstimatedBytes(s.Documents, s.Terms, z.values, s.LongestRow, int(z.workers))
	z.enginePeak = 8*z.n + 8*z.values + engine.MaxEngineBytes(s.Documents, s.Terms+1, z.values)
	return z.requiredBytes(&Options{}, []PlannedRun{t})
}

func corpusSizes(s corpus.Size, workers int) memorySizes {
	k, _ := kernels("")
	return memorySizes{n: int64(s.Documents), values: s.Values, classes: int64(s.Classes), panel: int64(k.PanelWidth),
		workers: int64(run.NumWorkers(workers)), held: 20*int64(s.Documents) + 8 + 20*int64(s.Terms)}
}

// memoryError returns an error that states the memory required for the problem's tasks and for the
// tasks in more.
func (p *Problem) memoryError(more ...PlannedRun) error {
	tasks, z := slices.Concat(p.opt.PlannedRuns, more), p.sizes
	z.engine = z.engineHeld
	what := fmt.Sprintf("training on %d documents", p.sizes.n)
	for _, t := range tasks {
		if t.Folds > 0 {
			what = fmt.Sprintf("validating %d folds of %d documents", t.Folds, p.sizes.n)
		}
	}
	if p.opt.MemoryBytes == 0 {
		return fmt.Errorf("svm: %s needs %s of memory for tiles and rows, but the limit is %s", what,
			run.FormatBytesCeil(p.sizes.minSharedBytes(tasks)), run.FormatBytes(p.opt.CacheBytes))
	}
	need := z.requiredBytes(&p.opt, tasks)
	for _, t := range more { // plan ignored these tasks, and rows may have only half of the remaining memory
		need += z.rowShare(t) + z.rowShare(t)/(garbageDivisor-1)
	}
	return &run.MemoryError{Computation: "svm: " + what, NeedBytes: need, LimitBytes: p.opt.MemoryBytes, IsTotalNeed: true}
}

// solverOptions returns the solver options for a task. The budget for rows is reduced by the task's
// other memory in excess of the spare memory.
func (p *Problem) solverOptions(t PlannedRun) (solver.Options, error) {
	k, _ := kernels(p.opt.ISA) // the engine has checked the ISA
	opt := solver.Options{
		Tolerance: t.Settings.Tolerance, DisableShrinking: t.Settings.Shrinking.String() == "0",
		Workers:  p.Engine().Info().Workers,
		RowBytes: p.budget.rows, Kernels: k, Progress: p.reportSolver, MaxIterations: t.Settings.maxSteps,
	}
	if p.opt.MemoryBytes == 0 {
		return opt, nil
	}
	z, spare := &p.sizes, int64(0)
	if t.Folds == 0 { // a validation needs the spare memory for a matrix
		spare = max(p.spareBytes()-z.model(), 0)
	}
	opt.RowBytes -= max(z.rowShare(t)-spare, 0)
	if opt.RowBytes < z.workingSet() && opt.RowBytes < p.budget.rows {
		return opt, p.memoryError(t)
	}
	return opt, nil
}

func (p *Problem) spareBytes() int64 {
	if p.opt.MemoryBytes == 0 {
		return math.MaxInt64
	}
	return p.opt.MemoryBytes - p.opt.MemoryBytes/garbageDivisor - p.sizes.fixedBytes() - p.budget.tiles - p.budget.rows
}

func (p *Problem) engineBytes() int64 {
	if p.opt.MemoryBytes == 0 {
		return 0
	}
	return max(p.opt.MemoryBytes-p.opt.HeldBytes, 1)
}

// rowsAtATime returns the number of documents to predict per batch: the engine's batch size,
// reduced to fit into memory.
func (p *Predictor) rowsAtATime(docs *sparse.CSR) (int, error) {
	rows, e := chunkDocuments, p.decisionEngine()
	if e != nil {
		rows = e.Info().BatchRows
	}
	for limit := p.opt.MemoryBytes; limit > 0; rows = max(rows/2, p.batchDocuments()) {
		need := p.requiredBytes(docs, rows, e)
		if need <= limit {
			break
		}
		if rows <= p.batchDocuments() || e == nil && p.w == nil {
			return 0, p.memoryError(need)
		}
	}
	return rows, nil
}

// requiredBytes returns the memory in bytes for predicting docs in batches of rows documents. e is
// the engine, or nil if predictions need no engine.
func (p *Predictor) requiredBytes(docs *sparse.CSR, rows int, e *engine.Engine) int64 {
	n := int64(docs.Rows())
	need := p.opt.HeldBytes + n*(8*int64(len(p.m.Classifier.Functions))+24)
	if p.m.Type.Classifies() {
		need += n * (24 + 8*int64(len(p.m.Classes)))
	}
	if p.w == nil {
		need += p.p.Bytes()
	}
	if p.rows > 0 {
		workers := int64(run.NumWorkers(p.opt.Workers))
		return need + workers*(4*int64(p.rows)*int64(len(p.m.SupportDocs))+p.p.AccumulatorBytes(p.rows))
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
		p.support.mu.Lock()
		defer p.support.mu.Unlock()
		if p.support.e != nil {
			need += p.support.e.Info().Bytes
		}
		return need + p.w.Bytes() + int64(run.NumWorkers(p.opt.Workers))*sparse.EmbeddedBytes(rows, most)
	}
	about := e.Info()
	batch := e.EachTileBytes(rows, most) + sparse.EmbeddedBytes(rows, most)
	return need + about.Bytes +
		int64(about.ConcurrentBatches)*(batch+int64(about.BatchWorkers)*p.p.AccumulatorBytes(p.batchDocuments()))
}

func (p *Predictor) memoryError(need int64) error {
	what := fmt.Sprintf("svm: predicting with %d support vectors", p.m.Support.Rows())
	return &engine.MemoryError{Computation: what, NeedBytes: need, LimitBytes: p.opt.MemoryBytes}
}
