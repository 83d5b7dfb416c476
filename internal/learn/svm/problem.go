package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Problem is a prepared training corpus: embedded, sorted by class, with an engine and a cache of
// tiles. It may be used concurrently.
type Problem struct {
	opt    Options
	corpus dataset
	x      *sparse.Embedded
	cached *engine.Cache
	sizes  memorySizes // includes upper bounds for the engine until it exists
	budget budget
	values []float32 // precomputed matrix in the problem's order, or nil

	heldOutFold bool // true if the embedding wasn't fitted to the fold to predict, see validateByFold

	training atomic.Bool // true while the solver reports progress; the engine's progress is then ignored
}

// dataset holds the stored parts of the training corpus except documents, which are in Problem.x.
type dataset struct {
	archive.Origin
	first   int           // number of the first document in messages
	labels  sparse.Labels // labels in the order of the problem
	weights []float64     // document weights in the order of the problem; nil if all are 1
	groups  []int64       // groups in the order of the corpus; nil without groups
	order   []int         // document i of the problem is order[i] of the corpus
	cols    int           // number of columns of the corpus
}

// NewProblem embeds a corpus and makes an engine for it. It computes no kernel values yet. It
// doesn't change the corpus or retain its documents, so the caller may release the documents.
//
// It fails if the instruction set isn't supported, if the corpus has no documents or has two
// classes with the same name, if the embedding rejects a value, if more memory is needed than
// allowed, if the device fails, and when ctx is done.
func NewProblem(ctx context.Context, c *corpus.Corpus, embedding sparse.Embedding, opt Options) (*Problem, error) {
	return newProblem(ctx, c, corpus.Fit(embedding, c), opt)
}

func newProblem(ctx context.Context, c *corpus.Corpus, embedder *sparse.Embedder, opt Options) (*Problem, error) {
	if _, err := kernels(opt.ISA); err != nil {
		return nil, err
	}
	if c.Documents.Rows() == 0 {
		return nil, errors.New("svm: the corpus has no documents")
	}
	if name, twice := archive.FindDuplicate(c.Classes); twice {
		return nil, fmt.Errorf("svm: class names of %s must be unique, but %q occurs twice", c.Source, name)
	}
	p := &Problem{opt: opt}
	p.sizes = opt.memorySizes(c, embedder, c.Documents.Rows(), c.Documents.NNZ()+int64(c.Documents.EmptyRowCount()))
	if opt.MemoryBytes > 0 && p.sizes.enginePeak > opt.MemoryBytes {
		return nil, p.memoryError()
	}
	p.corpus = dataset{
		Origin: archive.OriginOf(c, [32]byte{}), first: c.DocumentNumber(0), groups: c.Groups, cols: c.Documents.Cols,
		order: byClass(c),
	}
	p.corpus.weights = run.Select(c.Weights, p.corpus.order)
	for _, i := range p.corpus.order {
		p.corpus.labels.Add(c.Labels.Classes(i)...)
	}
	if err := p.embed(ctx, c, embedder); err != nil {
		return nil, err
	}
	making, report := startReporter(ctx, opt.Progress, "preparing the engine", 0)
	e, err := engine.NewContext(
		making, p.x,
		engine.Options{
			ISA: opt.ISA, Workers: opt.Workers, MemoryBytes: p.engineBytes(), Progress: p.reportEngine, Device: opt.Device,
		},
	)
	if report.Finish(&err); err != nil && e != nil {
		err = errors.Join(err, e.Close())
	}
	if memory := (*engine.MemoryError)(nil); errors.As(err, &memory) && !memory.IsSystemLimit { // names the caller's limit
		err = p.memoryError()
	}
	if err != nil {
		return nil, err
	}
	if p.budget, err = p.plan(e); err == nil {
		p.cached, err = e.NewCache(
			engine.CacheOptions{CacheBytes: p.budget.tiles, TileColumns: p.tileColumns()},
		)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return p, nil
}

// embed embeds the documents in the problem's order, and computes the corpus's digest meanwhile.
func (p *Problem) embed(ctx context.Context, c *corpus.Corpus, embedder *sparse.Embedder) (err error) {
	ctx, report := startReporter(ctx, p.opt.Progress, "embedding", 0)
	defer report.Finish(&err)
	var digest sync.WaitGroup
	digest.Go(func() { p.corpus.Digest = c.Digest() })
	defer digest.Wait()
	x, err := embedder.TransformRows(ctx, c.Documents, p.corpus.order, p.opt.Workers)
	if err != nil {
		return fmt.Errorf("embedding %s: %w", embedder.Embedding, err)
	}
	p.x = x
	return ctx.Err()
}

// byClass returns the indices of a corpus's documents, stably sorted by first class. Unlabelled
// documents are last. The documents of two classes are then two contiguous ranges of each row.
func byClass(c *corpus.Corpus) []int {
	n := c.Documents.Rows()
	order := make([]int, 0, n)
	count := make([]int, len(c.Classes)+2) // documents per class, unlabelled documents last
	class := make([]int, n)
	for i := range n {
		class[i] = len(c.Classes)
		if ids := c.Labels.Classes(i); len(ids) > 0 {
			class[i] = int(ids[0])
		}
		count[class[i]+1]++
	}
	for k := 1; k < len(count); k++ {
		count[k] += count[k-1]
	}
	order = order[:n]
	for i, k := range class {
		order[count[k]] = i
		count[k]++
	}
	return order
}

// tileColumns returns the number of columns of a tile if not all tiles fit into memory. A binary
// problem for two classes reads only the columns of these classes. If there are more than two
// classes, the number of columns is therefore half the mean class size, within limits.
func (p *Problem) tileColumns() int {
	const least, most = 512, 4096 // narrower tiles take more time for searching posting lists than they save
	classes := len(p.corpus.Classes)
	if classes < 3 {
		return most
	}
	return min(max(p.Len()/classes/2, least), most)
}

func (p *Problem) Len() int { return p.x.Rows() }

func (p *Problem) Classes() []string { return p.corpus.Classes }

func (p *Problem) Embedding() sparse.Embedding { return p.x.Embedder.Embedding }

// TermCount returns the number of distinct terms in the embedded documents, for [kernel.Resolve].
func (p *Problem) TermCount() int { return len(p.x.Embedder.Terms) }

// EmptyCount returns the number of documents without terms in the embedding.
func (p *Problem) EmptyCount() int { return p.x.EmptyCount() }

// Engine returns the problem's engine, whose Stats count dot products.
func (p *Problem) Engine() *engine.Engine { return p.cached.Engine() }

func (p *Problem) CacheStats() engine.CacheStats { return p.cached.Stats() }

// ComputeTiles computes all tiles if they fit into memory, else it does nothing.
func (p *Problem) ComputeTiles(ctx context.Context) error {
	if p.values != nil {
		return nil
	}
	return p.cached.Build(ctx)
}

// singleClasses returns each document's class (-1 for none), or an error for several classes.
func (p *Problem) singleClasses() ([]int, error) {
	labels := make([]int, p.Len())
	for i := range labels {
		switch ids := p.corpus.labels.Classes(i); len(ids) {
		case 0:
			labels[i] = -1
		case 1:
			labels[i] = int(ids[0])
		default:
			return nil, fmt.Errorf("svm: document %d of %s has %d labels, which requires scheme \"labels\"",
				p.corpus.order[i]+p.corpus.first, p.corpus.Source, len(ids))
		}
	}
	return labels, nil
}

func (p *Problem) labelSets() [][]int {
	labels := make([][]int, p.Len())
	for i := range labels {
		labels[i] = []int{}
		for _, c := range p.corpus.labels.Classes(i) {
			labels[i] = append(labels[i], int(c))
		}
	}
	return labels
}

func (p *Problem) targets() ([]float64, error) {
	if e := p.Embedding(); e.Supervised() {
		return nil, fmt.Errorf("svm: regression requires an unsupervised embedding, got %s", e)
	}
	values := make([]float64, len(p.corpus.Classes))
	for c, name := range p.corpus.Classes {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("svm: regression requires finite numbers as labels, got %q in %s", name, p.corpus.Source)
		}
		values[c] = v
	}
	labels, err := p.singleClasses()
	if err != nil {
		return nil, err
	}
	targets := make([]float64, len(labels))
	for i, c := range labels {
		if c < 0 {
			return nil, fmt.Errorf(
				"svm: document %d of %s has no label, but regression requires a number",
				p.corpus.order[i]+p.corpus.first, p.corpus.Source)
		}
		targets[i] = values[c]
	}
	return targets, nil
}
