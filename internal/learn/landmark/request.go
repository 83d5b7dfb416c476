package landmark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// BlockRows is the number of documents per block. Sums of blocks are added in order.
const BlockRows = 512

// Request describes sums over the documents that another process computes in one pass. K is the n×m
// matrix of kernel values between documents and landmarks, plus 1. A gradient needs Kᵀℓ′(K Points).
// A Newton step needs Kᵀ(ℓ″(K Points) ∘ K Directions), with ℓ″ replaced by 1 if Points is empty.
// Losses are multiplied by the documents' weights.
type Request struct {
	Rows         int       `json:"rows"`              // number of training documents
	Landmarks    []int     `json:"landmarks"`         // indices of the landmarks in the corpus
	Classes      []int     `json:"classes,omitempty"` // class of each vector of Points
	Points       []float64 `json:"at,omitempty"`      // concatenated vectors with a value per landmark
	Directions   []float64 `json:"step,omitempty"`    // like Points; empty for a gradient
	PointIndices []int     `json:"of,omitempty"`      // for each vector of Directions, index of the vector of Points
}

// NumBlocks returns the number of blocks of [BlockRows] documents.
func (q *Request) NumBlocks() int {
	if q == nil || q.Rows <= 0 {
		return 0
	}
	return (q.Rows-1)/BlockRows + 1
}

// Sums holds the sums over a block of documents.
type Sums struct {
	Products []float64   // products KᵀR for K without the added 1, see training.runPass
	Ranges   []RangeSums // sorted by FirstRow
}

// RangeSums holds sums over some rows of a block: of R for each vector and, for a gradient, of ℓ
// and ℓ″ for each class.
type RangeSums struct {
	FirstRow int
	Sums     []float64
}

// sizes returns the number of vectors to multiply, and the number of sums per range of rows.
func (q *Request) sizes() (p, sums int) {
	if len(q.Directions) > 0 {
		p = len(q.Directions) / max(len(q.Landmarks), 1)
		return p, p
	}
	return len(q.Classes), 3 * len(q.Classes)
}

// CheckSums returns an error if s can't be the sums of this block of the request.
func (q *Request) CheckSums(block int, s *Sums) error {
	if block < 0 || block >= q.NumBlocks() {
		return fmt.Errorf("landmark: block must be between 0 and %d, got %d", q.NumBlocks()-1, block)
	}
	p, width := q.sizes()
	if s == nil || len(s.Products) != p*len(q.Landmarks) {
		return fmt.Errorf("landmark: sums of block %d must have %d products for each of %d landmarks", block, p,
			len(q.Landmarks))
	}
	next := block * BlockRows
	for i, part := range s.Ranges {
		if part.FirstRow < next || i == 0 && part.FirstRow != next || part.FirstRow >= min((block+1)*BlockRows, q.Rows) ||
			len(part.Sums) != width {
			return fmt.Errorf("landmark: sums of block %d: part %d must have %d sums and begin at a row of the block, "+
				"got %d sums at row %d", block, i, width, len(part.Sums), part.FirstRow)
		}
		next = part.FirstRow + 1
	}
	if len(s.Ranges) == 0 {
		return fmt.Errorf("landmark: sums of block %d are missing", block)
	}
	return nil
}

func (q *Request) validate(c *corpus.Corpus, rows int) error {
	m, classes := len(q.Landmarks), len(c.Classes)
	outside := func(list []int, n int) bool {
		return slices.ContainsFunc(list, func(i int) bool { return i < 0 || i >= n })
	}
	switch {
	case q.Rows != rows:
		return fmt.Errorf("landmark: request is for %d training documents, but %s has %d", q.Rows, c.Source, rows)
	case m == 0 || m > MaxLandmarks || outside(q.Landmarks, c.Documents.Rows()):
		return fmt.Errorf("landmark: request must have 1 to %d landmarks among %d documents, got %d", MaxLandmarks,
			c.Documents.Rows(), m)
	case outside(q.Classes, classes) || len(q.Points) != m*len(q.Classes):
		return fmt.Errorf("landmark: request must have %d coefficients for each of at most %d classes, got %d for %d classes",
			m, classes, len(q.Points), len(q.Classes))
	case len(q.Directions)%m != 0 || len(q.Directions)+len(q.Points) == 0:
		return fmt.Errorf("landmark: number of Directions must be a multiple of %d landmarks, got %d", m, len(q.Directions))
	case len(q.Points) > 0 && len(q.PointIndices) != len(q.Directions)/m || len(q.Points) == 0 &&
		len(q.PointIndices) > 0 || outside(q.PointIndices, len(q.Classes)):
		return fmt.Errorf("landmark: PointIndices must have %d class indices below %d, got %d", len(q.Directions)/m,
			len(q.Classes), len(q.PointIndices))
	}
	if err := errors.Join(archive.CheckFinite(q.Points), archive.CheckFinite(q.Directions)); err != nil {
		return fmt.Errorf("landmark: request: %w", err)
	}
	return nil
}

// PassWorker computes the sums of a request. It may be used concurrently.
type PassWorker struct {
	t *training
	q *Request
}

// NewPassWorker prepares the computation of the sums of q. c and s must be the corpus and settings
// of the training run. opt.ISA affects rounding. It fails if the settings are invalid, if the
// request doesn't match the corpus, if the embedding rejects a value, or if memory doesn't suffice.
func NewPassWorker(ctx context.Context, c *corpus.Corpus, s Settings, q *Request, opt Options) (*PassWorker, error) {
	s, k, err := s.resolve()
	if err != nil {
		return nil, err
	}
	t := &training{c: c, s: s, opt: opt}
	if t.config, err = opt.config(); err != nil {
		return nil, err
	}
	if t.rows, err = task.TrainingRows(ctx, c, sparse.Embedding{}, s.Scheme); err != nil {
		return nil, fmt.Errorf("landmark: %w", err)
	}
	if err := q.validate(c, len(t.rows)); err != nil {
		return nil, err
	}
	embedder := k.Embedding().Fit(c.Documents)
	t.k = kernel.Resolve(k, len(embedder.Terms))
	z, err := embedder.TransformRows(ctx, c.Documents, q.Landmarks, t.config.Workers)
	if err != nil {
		return nil, err
	}
	t.x = z // only the embedder of t.x is used
	t.e, err = engine.NewContext(ctx, z, engine.Options{ISA: opt.ISA, Workers: 1, MemoryBytes: opt.MemoryBytes})
	if err != nil {
		return nil, err
	}
	return &PassWorker{t, q}, nil
}

// Close frees the engine.
func (p *PassWorker) Close() error { return p.t.e.Close() }

// BlockSums returns the sums over a block of documents, bit-identical to the sums in [Train]. It
// fails if there is no such block, if the embedding rejects a value, or if ctx is done.
func (p *PassWorker) BlockSums(ctx context.Context, block int) (*Sums, error) {
	q, t, m := p.q, p.t, len(p.q.Landmarks)
	if block < 0 || block >= q.NumBlocks() {
		return nil, fmt.Errorf("landmark: block must be between 0 and %d, got %d", q.NumBlocks()-1, block)
	}
	lo := block * BlockRows
	hi := min(lo+BlockRows, q.Rows)
	x, err := t.x.Embedder.TransformRows(ctx, t.c.Documents, t.rows[lo:hi], 1)
	if err != nil {
		return nil, err
	}
	var keep int64
	if len(q.Points) > 0 && len(q.Directions) > 0 {
		keep = math.MaxInt32 // the block is multiplied twice
	}
	matrix, err := t.e.CrossMatrix(t.k, x, keep)
	if err != nil {
		return nil, err
	}
	var weights []float32
	var gradient *Sums
	if len(q.Points) > 0 {
		if len(q.Directions) > 0 {
			weights = make([]float32, len(q.Classes)*(hi-lo))
		}
		gradient, err = t.localPass(ctx, matrix, columnsOf(q.Points, m), 2*len(q.Classes),
			func(row int, w, totals []float64) {
				t.addLosses(q.Classes, lo+row, w, totals, func(i int, second float64) {
					if weights != nil {
						weights[row*len(q.Classes)+i] = float32(second)
					}
				})
			})
		if err != nil || len(q.Directions) == 0 {
			return gradient.shiftRows(lo), err
		}
	}
	s, err := t.localPass(ctx, matrix, columnsOf(q.Directions, m), 0, func(row int, w, _ []float64) {
		if weights == nil {
			floats.Scale(t.weight(lo+row), w)
		}
		for i, of := range q.PointIndices {
			w[i] *= float64(weights[row*len(q.Classes)+of])
		}
	})
	return s.shiftRows(lo), err
}

// shiftRows converts row indices in the block to row indices in the request.
func (s *Sums) shiftRows(row int) *Sums {
	if s != nil {
		for i := range s.Ranges {
			s.Ranges[i].FirstRow += row
		}
	}
	return s
}

func columnsOf(v []float64, m int) *mat.Dense {
	p := len(v) / m
	d := mat.NewDense(m, p, nil)
	for c := range p {
		d.SetCol(c, v[c*m:(c+1)*m])
	}
	return d
}

// fillRequest sets q.Rows, q.Landmarks and the vectors: q.Points for a gradient, else q.Directions.
// It returns q.
func (t *training) fillRequest(q *Request, alpha []float64) *Request {
	q.Rows = len(t.rows)
	for _, at := range t.landmarks {
		q.Landmarks = append(q.Landmarks, t.rows[at])
	}
	if q == t.gradientRequest {
		q.Points = alpha
	} else {
		q.Directions = alpha
	}
	return q
}

func (t *training) remotePass(ctx context.Context, q *Request) (total *Sums, err error) {
	p, _ := q.sizes()
	total = &Sums{Products: make([]float64, p*len(q.Landmarks))}
	next := 0
	add := func(block int, s *Sums) error {
		if block != next || next >= q.NumBlocks() {
			return fmt.Errorf("landmark: Options.RunPass must add blocks 0 to %d in order, got block %d after %d blocks",
				q.NumBlocks()-1, block, next)
		}
		if err := q.CheckSums(block, s); err != nil {
			return err
		}
		next++
		for i, v := range s.Products {
			total.Products[i] += v
		}
		total.Ranges = append(total.Ranges, s.Ranges...)
		return nil
	}
	err = run.CatchPanic("landmark: Options.RunPass", func() error { return t.opt.RunPass(ctx, q, add) })
	if err == nil && next < q.NumBlocks() {
		err = fmt.Errorf("landmark: Options.RunPass added only %d of %d blocks", next, q.NumBlocks())
	}
	return total, err
}
