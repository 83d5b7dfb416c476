package spectrum

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/internal/run"
)

// Operator is a symmetric matrix A that is defined by products with vectors.
type Operator interface {
	// Dim returns the number of rows of A.
	Dim() int
	// Apply writes A·src to dst. dst and src have Dim rows and the same number of columns, and
	// share no memory. Apply returns within a second after ctx is done.
	Apply(ctx context.Context, dst, src *mat.Dense) error
}

// Options are the settings of Lanczos. The zero value uses the defaults.
type Options struct {
	K            int  // number of largest eigenvalues, with eigenvectors; default 6
	WithSmallest bool // true to find the K smallest eigenvalues, too, without eigenvectors
	// BlockSize is the number of vectors per product. Default: K/3, but at least 8 and at most 128,
	// or 1 if WithSmallest is set.
	BlockSize int
	// MaxVectors is the maximum size of the basis, which limits the number of products and the
	// memory. Default: 200 + 5 K + 10 BlockSize, or 600 if WithSmallest is set.
	MaxVectors int
	// Tolerance is the maximum relative residual of a converged eigenvalue (default 10⁻⁴). If
	// WithSmallest is set, residuals are relative to the largest absolute eigenvalue (default
	// 2⁻²⁴). The error of an eigenvalue is about Tolerance². The error of an eigenvector is about
	// Tolerance divided by the relative gap to the next eigenvalue.
	Tolerance float64
	Seed      uint64 // seed of the first block

	// Progress, if not nil, is called after each product with the size of the basis, the maximum
	// size, and the largest relative residual (NaN if unknown).
	Progress func(vectors, most int, worst float64)
}

// Eigenvalue is an approximate eigenvalue. The matrix has an eigenvalue within Residual of Value.
// Residual includes rounding errors of the products.
type Eigenvalue struct {
	Value, Residual float64
	Converged       bool
}

func (o Options) resolve(n int) (Options, error) {
	for _, c := range []struct {
		name  string
		value int
	}{{"K", o.K}, {"Block", o.BlockSize}, {"Vectors", o.MaxVectors}} {
		if c.value < 0 {
			return o, fmt.Errorf("spectrum: %s must be nonnegative, got %d", c.name, c.value)
		}
	}
	if !(o.Tolerance >= 0) {
		return o, fmt.Errorf("spectrum: Tolerance must be nonnegative, got %v", o.Tolerance)
	}
	o.K = min(cmp.Or(o.K, 6), n)
	block, vectors, tolerance := min(max(o.K/3, 8), 128), int64(200), 1e-4
	if o.WithSmallest {
		block, vectors, tolerance = 1, 600, 0x1p-24
	}
	o.BlockSize = min(cmp.Or(o.BlockSize, block), n)
	if !o.WithSmallest {
		vectors += 5*int64(o.K) + 10*int64(o.BlockSize)
	}
	if o.MaxVectors == 0 {
		o.MaxVectors = int(min(vectors, int64(n)))
	}
	o.MaxVectors = min(max(o.MaxVectors, o.wantedCount()), n)
	o.Tolerance = cmp.Or(o.Tolerance, tolerance)
	return o, nil
}

func (o Options) wantedCount() int {
	if o.WithSmallest {
		return 2 * o.K
	}
	return o.K
}

// LanczosBytes returns the memory that Lanczos takes for n rows in bytes, or the largest int64 on
// overflow. The memory holds the basis, T and its eigenvectors, the returned eigenvectors, and the
// blocks of one product.
func LanczosBytes(n int, opt Options) int64 {
	opt, _ = opt.resolve(n)
	vectors := int64(opt.MaxVectors)
	if float64(n)*float64(vectors) > 1<<56 { // the result could overflow
		return math.MaxInt64
	}
	return 8*int64(n)*(vectors+2*int64(opt.K)+6*int64(opt.BlockSize)) + 24*vectors*vectors
}

// Eigenpairs holds eigenvalues of a matrix, and the eigenvectors of the largest eigenvalues.
type Eigenpairs struct {
	Largest   []Eigenvalue // in descending order
	Smallest  []Eigenvalue // in ascending order; nil unless Options.WithSmallest is set
	Vectors   *mat.Dense   // Len × K, orthonormal columns; the element with the largest absolute value is positive
	BasisSize int          // size of the basis
}

// Lanczos returns the largest and smallest eigenvalues of a by the block Lanczos method. It builds
// an orthonormal basis Q of the Krylov space that BlockSize random vectors span with A, A², …, and
// returns eigenpairs of T = Qᵀ A Q, with residuals ‖A y - θ y‖. Each new block is orthogonalised
// twice against all previous blocks. Lanczos ends when all residuals are within the tolerance, when
// the basis has MaxVectors vectors, or when the space is invariant.
//
// If Apply is deterministic, results are bit-identical for any number of CPUs. Vectors are
// orthogonal to 10⁻¹³. The i-th largest result is at most the i-th largest eigenvalue of a. The
// i-th smallest result is at least the i-th smallest eigenvalue of a. If the multiplicity of an
// eigenvalue exceeds BlockSize, some of its copies may be missing. Lanczos allocates LanczosBytes.
// It fails if Apply fails, if ctx is done, if a product isn't finite, if a number in opt is
// negative, or if memory is too small.
//
// If BlockSize is 1, w is the width of the spectrum, and g is the gap after the eigenvalue, about
// √(w/g) products reduce the error by a factor of e⁴.
//
// Source: Golub and Underwood, The block Lanczos method (1977); Musco and Musco, Randomized block
// Krylov methods, NIPS 2015.
func Lanczos(ctx context.Context, a Operator, opt Options) (*Eigenpairs, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	n := a.Dim()
	opt, err := opt.resolve(n)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return &Eigenpairs{Vectors: new(mat.Dense)}, nil
	}
	if err := compute.CheckFreeMemory("the Lanczos vectors", LanczosBytes(n, opt)); err != nil {
		return nil, err
	}
	s := &krylovSpace{
		ctx: ctx, n: n, maxVectors: opt.MaxVectors, basis: mat.NewDense(opt.MaxVectors, n, nil),
		random: rand.New(rand.NewPCG(opt.Seed, 0x9e3779b97f4a7c15)),
	}
	if err := s.addRandom(opt.BlockSize); err != nil {
		return nil, err
	}
	var found *ritz
	for next := min(3*opt.K, opt.MaxVectors); ; {
		if err := s.product(a); err != nil {
			return nil, err
		}
		worst, checked := math.NaN(), s.count >= next
		if checked {
			if found, worst, err = s.eigenpairs(opt); err != nil {
				return nil, err
			}
			next = s.count + 2*opt.BlockSize
			if opt.WithSmallest {
				next = s.count + max(8, s.count/8)
			}
			next = min(next, opt.MaxVectors)
		}
		if opt.Progress != nil {
			tell := func() error { opt.Progress(s.count, opt.MaxVectors, worst); return nil }
			if err := run.CatchPanic("spectrum: Options.Progress", tell); err != nil {
				return nil, err
			}
		}
		if worst <= opt.Tolerance || s.count >= opt.MaxVectors {
			return s.result(found, opt)
		}
		if err := s.extend(); err != nil {
			return nil, err
		}
		if s.count > s.multiplied {
			continue
		}
		if s.count < min(opt.wantedCount(), n) { // the Krylov space is invariant and too small
			if err := s.addRandom(min(opt.BlockSize, opt.wantedCount()-s.count)); err != nil {
				return nil, err
			}
			continue
		}
		if !checked {
			if found, _, err = s.eigenpairs(opt); err != nil {
				return nil, err
			}
		}
		return s.result(found, opt)
	}
}
