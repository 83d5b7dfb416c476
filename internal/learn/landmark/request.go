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

// PassRows is the number of documents per block. Sums of blocks are added in order.
const PassRows = 512

// Request describes sums over the documents that another process computes in one pass. K is the n×m
// matrix of kernel values between documents and landmarks, plus 1. A gradient needs Kᵀℓ′(K At). A
// step needs Kᵀ(ℓ″(K At) ∘ K Step), with ℓ″ replaced by 1 if At is empty. Losses are multiplied by
// the documents' weights.
type Request struct {
	Rows      int       `json:"rows"`              // number of training documents
	Landmarks []int     `json:"landmarks"`         // indices of documents
	Classes   []int     `json:"classes,omitempty"` // class of each vector of At
	At        []float64 `json:"at,omitempty"`      // concatenated vectors with a value per landmark
	Step      []float64 `json:"step,omitempty"`    // like At; empty for a gradient
	Of        []int     `json:"of,omitempty"`      // index of the vector of At for each vector of Step
}

// Blocks returns the number of blocks of [PassRows] documents.
func (q *Request) Blocks() int {
	if q == nil || q.Rows <= 0 {
		return 0
	}
	return (q.Rows-1)/PassRows + 1
}

// Sums holds the sums over a block of documents.
type Sums struct {
	Products []float64 // KᵀR for K without the added 1, one vector per vector of the request
	Parts    []Part    // sorted by First
}

// Part holds sums for each vector over some rows of a block: of R in KᵀR and, for a gradient, of ℓ
// and ℓ″.
type Part struct {
	First int // first row
	Sums  []float64
}

// vectors returns the number of vectors to multiply, and the number of sums in a part.
func (q *Request) vectors() (p, sums int) {
	if len(q.Step) > 0 {
		p = len(q.Step) / max(len(q.Landmarks), 1)
		return p, p
	}
	return len(q.Classes), 3 * len(q.Classes)
}

// Check returns an error if s can't be the sums of this block of the request.
func (q *Request) Check(block int, s *Sums) error {
	if block < 0 || block >= q.Blocks() {
		return fmt.Errorf("landmark: block must be between 0 and %d, got %d", q.Blocks()-1, block)
	}
	p, width := q.vectors()
	if s == nil || len(s.Products) != p*len(q.Landmarks) {
		return fmt.Errorf("landmark: sums of block %d must have %d products for each of %d landmarks", block, p,
			len(q.Landmarks))
	}
	next := block * PassRows
	for i, part := range s.Parts {
		if part.First < next || i == 0 && part.First != next || part.First >= min((block+1)*PassRows, q.Rows) ||
			len(part.Sums) != width {
			return fmt.Errorf("landmark: sums of block %d: part %d must have %d sums and begin at a row of the block, "+
				"got %d sums at row %d", block, i, width, len(part.Sums), part.First)
		}
		next = part.First + 1
	}
	if len(s.Parts) == 0 {
		return fmt.Errorf("landmark: sums of block %d must have at least one part", block)
	}
	return nil
}

// validate checks a request against the corpus.
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
	case outside(q.Classes, classes) || len(q.At) != m*len(q.Classes):
		return fmt.Errorf("landmark: request must have %d coefficients for each of at most %d classes, got %d for %d classes",
			m, classes, len(q.At), len(q.Classes))
	case len(q.Step)%m != 0 || len(q.Step)+len(q.At) == 0:
		return fmt.Errorf("landmark: size of a step must be a multiple of %d landmarks, got %d", m, len(q.Step))
	case len(q.At) > 0 && len(q.Of) != len(q.Step)/m || len(q.At) == 0 && len(q.Of) > 0 || outside(q.Of, len(q.Classes)):
		return fmt.Errorf("landmark: step must have %d class indices below %d, got %d", len(q.Step)/m, len(q.Classes),
			len(q.Of))
	}
	if err := errors.Join(archive.Finite(q.At), archive.Finite(q.Step)); err != nil {
		return fmt.Errorf("landmark: request: %w", err)
	}
	return nil
}

// Passing computes the sums of a request. It may be used concurrently.
type Passing struct {
	t *training
	q *Request
}

// NewPassing prepares the computation of the sums of q. c and s must be the corpus and settings of
// the training run. opt.ISA affects rounding. It fails if the request doesn't match the corpus, or
// if [Train] would fail.
func NewPassing(ctx context.Context, c *corpus.Corpus, s Settings, q *Request, opt Options) (*Passing, error) {
	s, k, err := s.resolve()
	if err != nil {
		return nil, err
	}
	t := &training{c: c, s: s, opt: opt}
	if t.do, err = opt.do(); err != nil {
		return nil, err
	}
	if t.rows, err = task.Check(ctx, c, sparse.Embedding{}, s.Scheme); err != nil {
		return nil, fmt.Errorf("landmark: %w", err)
	}
	if err := q.validate(c, len(t.rows)); err != nil {
		return nil, err
	}
	embedder := k.Embedding().Fit(c.Documents)
	t.k = kernel.Resolve(k, len(embedder.Terms))
	z, err := embedder.TransformRows(ctx, c.Documents, q.Landmarks, t.do.Workers)
	if err != nil {
		return nil, err
	}
	t.x = z // only the embedder of t.x is used
	t.e, err = engine.NewContext(ctx, z, engine.Options{ISA: opt.ISA, Workers: 1, MemoryBytes: opt.MemoryBytes})
	if err != nil {
		return nil, err
	}
	return &Passing{t, q}, nil
}

// Close releases the engine.
func (p *Passing) Close() error { return p.t.e.Close() }

// Block returns the sums over a block of documents, bit-identical to the sums in [Train]. It fails
// if there is no such block, or if ctx is done.
func (p *Passing) Block(ctx context.Context, block int) (*Sums, error) {
	q, t, m := p.q, p.t, len(p.q.Landmarks)
	if block < 0 || block >= q.Blocks() {
		return nil, fmt.Errorf("landmark: block must be between 0 and %d, got %d", q.Blocks()-1, block)
	}
	lo := block * PassRows
	hi := min(lo+PassRows, q.Rows)
	x, err := t.x.Embedder.TransformRows(ctx, t.c.Documents, t.rows[lo:hi], 1)
	if err != nil {
		return nil, err
	}
	var keep int64
	if len(q.At) > 0 && len(q.Step) > 0 {
		keep = math.MaxInt32 // the block is multiplied twice
	}
	matrix, err := t.e.Rectangle(t.k, x, keep)
	if err != nil {
		return nil, err
	}
	var weights []float32
	var gradient *Sums
	if len(q.At) > 0 {
		if len(q.Step) > 0 {
			weights = make([]float32, len(q.Classes)*(hi-lo))
		}
		gradient, err = t.over(ctx, matrix, columnsOf(q.At, m), 2*len(q.Classes), func(row int, w, figures []float64) {
			t.losses(q.Classes, lo+row, w, figures, func(i int, second float64) {
				if weights != nil {
					weights[row*len(q.Classes)+i] = float32(second)
				}
			})
		})
		if err != nil || len(q.Step) == 0 {
			return gradient.from(lo), err
		}
	}
	s, err := t.over(ctx, matrix, columnsOf(q.Step, m), 0, func(row int, w, _ []float64) {
		if weights == nil {
			floats.Scale(t.weight(lo+row), w)
		}
		for i, of := range q.Of {
			w[i] *= float64(weights[row*len(q.Classes)+of])
		}
	})
	return s.from(lo), err
}

// from converts row indices in the block to row indices in the request.
func (s *Sums) from(row int) *Sums {
	if s != nil {
		for i := range s.Parts {
			s.Parts[i].First += row
		}
	}
	return s
}

// columnsOf returns a matrix of m rows. Its columns are the vectors that are concatenated in v.
func columnsOf(v []float64, m int) *mat.Dense {
	p := len(v) / m
	d := mat.NewDense(m, p, nil)
	for c := range p {
		d.SetCol(c, v[c*m:(c+1)*m])
	}
	return d
}

// request sets q.Rows, q.Landmarks and the vectors, q.At or q.Step. It returns q.
func (t *training) request(q *Request, alpha []float64) *Request {
	q.Rows = len(t.rows)
	for _, at := range t.chosen {
		q.Landmarks = append(q.Landmarks, t.rows[at])
	}
	if q == t.point {
		q.At = alpha
	} else {
		q.Step = alpha
	}
	return q
}

// elsewhere delegates a pass to Options.Pass, and adds the blocks in order.
func (t *training) elsewhere(ctx context.Context, q *Request) (total *Sums, err error) {
	p, _ := q.vectors()
	total = &Sums{Products: make([]float64, p*len(q.Landmarks))}
	next := 0
	add := func(block int, s *Sums) error {
		if block != next || next >= q.Blocks() {
			return fmt.Errorf("landmark: Options.Pass must add blocks 0 to %d in order, got block %d after %d blocks",
				q.Blocks()-1, block, next)
		}
		if err := q.Check(block, s); err != nil {
			return err
		}
		next++
		for i, v := range s.Products {
			total.Products[i] += v
		}
		total.Parts = append(total.Parts, s.Parts...)
		return nil
	}
	err = run.Guard("landmark: Options.Pass", func() error { return t.opt.Pass(ctx, q, add) })
	if err == nil && next < q.Blocks() {
		err = fmt.Errorf("landmark: Options.Pass added only %d of %d blocks", next, q.Blocks())
	}
	return total, err
}
