package spectrum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// BlockOperator is a symmetric matrix by its products with many vectors at a time.
type BlockOperator interface {
	// Len returns the number of rows.
	Len() int
	// ApplyBlock writes A·src to dst: both have Len rows, as many columns, and share no memory. It
	// returns within a second of the end of ctx.
	ApplyBlock(ctx context.Context, dst, src *mat.Dense) error
}

// LeadingOptions says what Leading is to find. The zero value works.
type LeadingOptions struct {
	K     int // so many of the largest eigenvalues, with their vectors; default 6
	Block int // vectors of a product; default K/3, from 8 to 128
	// Vectors bounds the basis, and with it products and memory; default 200 + 5 K + 10 Block. What
	// hasn't converged with as many is given as it is.
	Vectors int
	// Tolerance is the residual, relative to an eigenvalue itself, that counts as converged: default
	// 10⁻⁴. Values err by about its square, vectors by it divided by the relative gap to the next value.
	Tolerance float64
	Seed      uint64 // of the first block

	// Progress, if not nil, is called after each product with the vectors of the basis and the
	// greatest relative residual, NaN where it isn't known yet.
	Progress func(vectors, most int, worst float64)
}

// resolve fills in defaults for a matrix of n rows.
func (o LeadingOptions) resolve(n int) (LeadingOptions, error) {
	for _, c := range []struct {
		name  string
		value int
	}{{"K", o.K}, {"Block", o.Block}, {"Vectors", o.Vectors}} {
		if c.value < 0 {
			return o, fmt.Errorf("spectrum: %s is %d, expected 0 at least", c.name, c.value)
		}
	}
	if !(o.Tolerance >= 0) {
		return o, fmt.Errorf("spectrum: Tolerance is %v, expected 0 at least", o.Tolerance)
	}
	if o.K == 0 {
		o.K = 6
	}
	o.K = min(o.K, n)
	if o.Block == 0 {
		o.Block = min(max(o.K/3, 8), 128)
	}
	o.Block = min(o.Block, n)
	if o.Vectors == 0 {
		o.Vectors = int(min(200+5*int64(o.K)+10*int64(o.Block), int64(n)))
	}
	o.Vectors = min(max(o.Vectors, o.K), n)
	if o.Tolerance == 0 {
		o.Tolerance = 1e-4
	}
	return o, nil
}

// LeadingBytes returns the memory that Leading takes for n rows: the basis, what is made of it and
// the blocks of a product. Numbers below 0 count as 0, and a result beyond int64 is the greatest
// one.
func LeadingBytes(n int, opt LeadingOptions) int64 {
	n = max(n, 0)
	opt.K, opt.Block, opt.Vectors, opt.Tolerance = max(opt.K, 0), max(opt.Block, 0), max(opt.Vectors, 0), 1
	opt, _ = opt.resolve(n)
	rows, m := float64(n), float64(opt.Vectors)
	if 8*rows*(m+2*float64(opt.K)+6*float64(opt.Block))+24*m*m >= math.MaxInt64 {
		return math.MaxInt64
	}
	return 8*int64(n)*int64(opt.Vectors+2*opt.K+6*opt.Block) + 24*int64(opt.Vectors)*int64(opt.Vectors)
}

// Leaders are the largest eigenvalues of a matrix with their vectors.
type Leaders struct {
	Values  []Value    // the largest first
	Vectors *mat.Dense // Len × K: columns of length 1, at right angles; each has a positive value of greatest size
	Basis   int        // vectors that the space had
}

// Leading returns the largest eigenvalues of a and their vectors by the method of Lanczos with
// blocks: an orthonormal basis Q of the space that b random vectors, A times them, A² times them and
// so on span, and the eigenpairs of T = Qᵀ A Q, each with its residual ‖A y - θ y‖. That is the best
// that any polynomial in A makes of the first block. Each new block is orthogonalised against all
// before it, twice. It ends when the residuals of all K are within the tolerance, when the space has
// Vectors, or all of the matrix.
//
// The same seed gives the same bits as long as ApplyBlock does, from any number of processors.
// Vectors are at right angles to 10⁻¹³, and a value is never above the eigenvalue of its rank. One
// that more than Block others are equal to may come fewer times. Memory: LeadingBytes. Errors: what
// ApplyBlock returns, the end of ctx, products that aren't finite, numbers of options below 0.
//
// Source: Golub and Underwood, The block Lanczos method (1977); Musco and Musco, Randomized block
// Krylov methods, NIPS 2015.
func Leading(ctx context.Context, a BlockOperator, opt LeadingOptions) (*Leaders, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if a == nil {
		return nil, errors.New("spectrum: no operator, expected one")
	}
	n := a.Len()
	if n < 0 {
		return nil, fmt.Errorf("spectrum: an operator of %d rows, expected 0 at least", n)
	}
	opt, err := opt.resolve(n)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return &Leaders{Vectors: new(mat.Dense)}, nil
	}
	if err := affordable(LeadingBytes(n, opt)); err != nil {
		return nil, err
	}
	s := &blockSpace{
		ctx: ctx, n: n, most: opt.Vectors,
		random: rand.New(rand.NewPCG(opt.Seed, 0x9e3779b97f4a7c15)),
	}
	if err := s.fresh(opt.Block); err != nil {
		return nil, err
	}
	var found *ritz
	for next := min(3*opt.K, opt.Vectors); ; {
		if err := s.product(a); err != nil {
			return nil, err
		}
		worst, checked := math.NaN(), s.count >= next
		if checked {
			if found, worst, err = s.pairs(opt); err != nil {
				return nil, err
			}
			next = min(s.count+2*opt.Block, opt.Vectors)
		}
		if opt.Progress != nil {
			tell := func() error { opt.Progress(s.count, opt.Vectors, worst); return nil }
			if err := run.Guard("spectrum: LeadingOptions.Progress", tell); err != nil {
				return nil, err
			}
		}
		if worst <= opt.Tolerance || s.count >= opt.Vectors {
			return s.leaders(found, opt)
		}
		if err := s.extend(); err != nil {
			return nil, err
		}
		if len(s.blocks) > s.done {
			continue
		}
		if s.count < opt.K { // the space is invariant, and too small
			if err := s.fresh(min(opt.Block, opt.K-s.count)); err != nil {
				return nil, err
			}
			continue
		}
		if !checked {
			if found, _, err = s.pairs(opt); err != nil {
				return nil, err
			}
		}
		return s.leaders(found, opt)
	}
}
