package engine

import (
	"context"

	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// Options says how an engine works. The zero value works.
type Options struct {
	ISA         string         // instruction set: "generic", "avx2", "avx512"; default the best available
	Workers     int            // goroutines; default runtime.GOMAXPROCS(0)
	MemoryBytes int64          // bound on what the engine allocates, results included; default none
	HeadTerms   int            // number of terms in the dense head; default from the cost model
	Progress    func(Progress) // called at most every 100 ms and once at the end, never concurrently
}

// Progress tells how far a computation is.
type Progress struct {
	Done, Total int64 // pairs
}

// Engine computes kernels on one set of documents.
type Engine struct{}

// New makes an engine for the documents x.
func New(x *sparse.Embedded, opt Options) (*Engine, error) { panic("not written yet") }

// Len returns the number of documents.
func (e *Engine) Len() int { panic("not written yet") }

// Dense is a row-major matrix of float32 values; it implements mat.Matrix.
type Dense struct {
	RowsN, ColsN int
	Data         []float32 // RowsN*ColsN values
}

// Symmetric is a symmetric n×n matrix, all n² values stored, row-major; it implements mat.Symmetric.
type Symmetric struct {
	N    int
	Data []float32
}

func (s *Symmetric) Dims() (r, c int)    { return s.N, s.N }
func (s *Symmetric) At(i, j int) float64 { return float64(s.Data[i*s.N+j]) }
func (s *Symmetric) T() mat.Matrix       { return s }
func (s *Symmetric) SymmetricDim() int   { return s.N }
func (d *Dense) Dims() (r, c int)        { return d.RowsN, d.ColsN }
func (d *Dense) At(i, j int) float64     { return float64(d.Data[i*d.ColsN+j]) }
func (d *Dense) T() mat.Matrix           { return mat.Transpose{Matrix: d} }
func (d *Dense) Row(i int) []float32     { return d.Data[i*d.ColsN : (i+1)*d.ColsN] }
func (s *Symmetric) Row(i int) []float32 { return s.Data[i*s.N : (i+1)*s.N] }

// Gram returns the symmetric matrix of k over all pairs of documents.
func (e *Engine) Gram(ctx context.Context, k Kernel) (*Symmetric, error) { panic("not written yet") }

// Rows writes the rows of the Gram matrix of the given documents: dst has len(rows) rows and Len() columns.
func (e *Engine) Rows(ctx context.Context, k Kernel, rows []int, dst *Dense) error {
	panic("not written yet")
}

// Cross returns the matrix of k between test documents (rows) and the engine's documents (columns).
func (e *Engine) Cross(ctx context.Context, k Kernel, test *sparse.Embedded) (*Dense, error) {
	panic("not written yet")
}

// Stripes computes all rows of the Gram matrix in order, a stripe at a time, and hands each to yield, which must not keep it. It needs
// memory for one stripe (and one in the making), not for the matrix.
func (e *Engine) Stripes(ctx context.Context, k Kernel, yield func(first int, stripe *Dense) error) error {
	panic("not written yet")
}

// GramBytes returns what Gram allocates, StripeBytes the least that Stripes does.
func (e *Engine) GramBytes() int64    { panic("not written yet") }
func (e *Engine) StripesBytes() int64 { panic("not written yet") }

// Stats counts what the engine has computed since it was made.
type Stats struct {
	Pairs      int64 // dot products
	Recomputed int64 // pairs recomputed by the exact difference form
}

// Stats returns the counts so far; it may be called at any time.
func (e *Engine) Stats() Stats { panic("not written yet") }

// Reference computes kernels in float64 from the difference form c = ½ Σ (aᵢ-bᵢ)², with compensated sums.
type Reference struct{}

// NewReference makes a reference for the documents x.
func NewReference(x *sparse.Embedded) *Reference { panic("not written yet") }

// C returns c = 1 - cosine of documents i and j.
func (r *Reference) C(i, j int) float64 { panic("not written yet") }

// Value returns k's value for documents i and j.
func (r *Reference) Value(k Kernel, i, j int) float64 { panic("not written yet") }
