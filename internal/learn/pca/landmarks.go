package pca

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/learn/dense"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const (
	// minPivotFraction is the minimum fraction of k(z, z) that must remain after eliminating the
	// previous landmarks. It is larger than the errors of kernel values, which are about 10⁻⁶.
	minPivotFraction = 1e-5

	blockRows = 512 // maximum number of documents per block of a pass
	taskRows  = 64  // number of rows of S per task
)

// vectorsPerSolve returns the number of vectors to solve for in one call, with a triangular factor
// of m rows. A call takes up to 10¹⁰ multiply-adds, half a second on one core, so that ctx is
// checked often enough.
func vectorsPerSolve(m int) int { return min(max(int(2e10/(float64(m)*float64(m))), 1), blockRows) }

// FitNystrom finds the leading components of the documents docs, with Nyström's approximation of K.
// The engine's documents are the m landmarks z:
//
//	K̃ = C W⁻¹ Cᵀ = Φ Φᵀ,  W = k(z, z) = TᵀT,  C = k(x, z),  Φ = C T⁻¹
//
// Components are the principal components of the rows of Φ. With S = Φᵀ P Φ, S uᵢ = λᵢ uᵢ and the
// rows' mean φ̄, any document t has the coordinates zᵢ(t) = uᵢᵀ (T⁻ᵀ k(z, t) - φ̄), see
// [Components.Project].
//
// Up to rounding, λᵢ is at most the exact eigenvalue. λᵢ is at least the exact eigenvalue minus
// Residual = Σ_x k(x, x) - k̃(x, x), because P (K - K̃) P is positive semidefinite and its trace is
// at most Residual. Landmarks that depend linearly on previous landmarks are dropped. If all
// documents are landmarks, Residual is at most 10⁻⁵ Σ k(x, x). Total is Σλ + Residual, which
// exceeds the exact value by at most ‖K - K̃‖.
//
// FitNystrom takes one pass over docs, with m² multiply-adds and m kernel values per document, and
// [NystromBytes] of memory. Results are bit-identical for any number of workers. docs and z must
// not be empty. z's embedder embeds docs. FitNystrom fails if k has another embedding or is only
// conditionally positive definite, if an option is negative, if MemoryBytes is below NystromBytes,
// if the engine fails, and within a second after ctx is done.
//
// Source: Williams and Seeger, Using the Nyström method to speed up kernel machines, NIPS 2000.
func FitNystrom(
	ctx context.Context, eng *engine.Engine, z *sparse.Embedded, k kernel.Kernel, docs *sparse.CSR, opt Options,
) (*Components, error) {
	o, err := opt.lanczosOptions(eng.Len())
	if err != nil {
		return nil, err
	}
	if err := kernel.Check(k); err != nil {
		return nil, err
	}
	if kernel.PropertiesOf(k).Definiteness == kernel.ConditionallyPositiveDefinite {
		return nil, fmt.Errorf("pca: landmarks require a positive definite kernel, but %s is only conditionally positive "+
			"definite", k)
	}
	if need := NystromBytes(eng, opt); opt.MemoryBytes > 0 && need > opt.MemoryBytes {
		return nil, fmt.Errorf("pca: %d components from %d landmarks need %s of memory, but the limit is %s", o.K,
			eng.Len(), run.FormatBytes(need), run.FormatBytes(opt.MemoryBytes))
	}
	about := eng.Info()
	s := &nystromFit{
		eng: eng, kernel: kernel.Resolve(k, len(z.Embedder.Terms)), docs: docs, z: z, opt: opt,
		config: dense.Config{Kernels: about.Kernels, Workers: about.Workers},
	}
	if err := s.factorise(ctx); err != nil {
		return nil, err
	}
	if err := s.runPass(ctx); err != nil {
		return nil, err
	}
	return s.components(ctx, o)
}

// NystromBytes returns the memory in bytes that FitNystrom needs in addition to landmarks and
// engine.
func NystromBytes(eng *engine.Engine, opt Options) int64 {
	o, err := opt.lanczosOptions(eng.Len())
	if err != nil {
		return 0
	}
	m := eng.Len()
	pass := run.AddBytes(engine.MatrixBytes(eng.Len(), eng.Len()), run.AddBytes(2*dense.Bytes(m), 12*blockRows*int64(m)))
	return run.AddBytes(pass, spectrum.LanczosBytes(m, o))
}

type nystromFit struct {
	eng    *engine.Engine
	kernel kernel.Kernel
	docs   *sparse.CSR
	z      *sparse.Embedded
	opt    Options
	config dense.Config

	factor    *dense.Matrix // T
	landmarks []int         // landmarks that weren't dropped
	s         blas64.General
	mean      []float64 // φ̄
	norm      float64   // ‖K̃‖
	residual  float64   // Σ k(x, x) - k̃(x, x)
}

func (s *nystromFit) factorise(ctx context.Context) error {
	w, err := s.eng.Gram(ctx, s.kernel, nil)
	if err != nil {
		return err
	}
	s.factor = dense.New(w.N)
	for i := range w.N {
		row := s.factor.Row(i)
		for j, v := range w.Row(i) {
			row[j] = float64(v)
		}
	}
	if s.landmarks, err = s.factor.Cholesky(ctx, s.config, minPivotFraction); err != nil {
		return err
	}
	if len(s.landmarks) == 0 {
		return fmt.Errorf("pca: kernel must be positive definite, but k(z, z) of %s is not positive on the landmarks",
			s.kernel)
	}
	return nil
}

// runPass computes S, φ̄ and the residual in a pass over docs.
func (s *nystromFit) runPass(ctx context.Context) error {
	m, n := len(s.landmarks), s.docs.Rows()
	stride := (m+7)/8*8 + 8 // avoids powers of 2, see package dense
	s.s = blas64.General{Rows: m, Cols: m, Stride: stride, Data: make([]float64, m*stride)}
	s.mean = make([]float64, m)
	cross := engine.NewDense(min(vectorsPerSolve(m), n), s.eng.Len())
	phi := make([]float64, cross.Rows*m)
	for lo := 0; lo < n; lo += cross.Rows {
		rows := run.Range(lo, lo+min(cross.Rows, n-lo))
		x, err := s.z.Embedder.TransformRows(ctx, s.docs, rows, s.config.Workers)
		if err != nil {
			return err
		}
		some := &engine.Dense{Rows: len(rows), Cols: cross.Cols, Data: cross.Data[:len(rows)*cross.Cols]}
		if _, err := s.eng.Rows(ctx, s.kernel, engine.Request{TestDocuments: x}, some); err != nil {
			return err
		}
		phi = phi[:len(rows)*m]
		for i := range rows {
			for j, at := range s.landmarks {
				phi[i*m+j] = float64(some.Row(i)[at])
			}
		}
		if err := s.factor.ForwardSolve(ctx, s.config, phi); err != nil {
			return err
		}
		for i := range rows {
			row, norm := phi[i*m:][:m], float64(x.Norms[i])
			floats.Add(s.mean, row)
			s.residual += max(s.kernel.Eval(0, norm, norm)-floats.Dot(row, row), 0)
		}
		err = run.Tasks(ctx, s.config.Workers, (m+taskRows-1)/taskRows, func(_ context.Context, _, part int) error {
			v := part * taskRows
			s.config.Kernels.MultiplyWide(s.s.Data[v*stride+v:], stride, phi[v:], m, len(rows), m-v, phi[v:], m,
				min(taskRows, m-v))
			return nil
		})
		if err != nil {
			return err
		}
		if s.opt.DocumentProgress != nil {
			err := run.CatchPanic("pca: Options.DocumentProgress", func() error {
				s.opt.DocumentProgress(lo+len(rows), n)
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	return s.centre(ctx)
}

// centre replaces the upper triangle of ΦᵀΦ by both triangles of S = ΦᵀPΦ. It also computes ‖K̃‖.
func (s *nystromFit) centre(ctx context.Context) error {
	m, n := len(s.landmarks), float64(s.docs.Rows())
	floats.Scale(1/n, s.mean)
	squares := 0.0
	for i := range m {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row := s.s.Data[i*s.s.Stride:][:m]
		for j := i; j < m; j++ {
			squares += row[j] * row[j]
			if j > i {
				squares += row[j] * row[j]
			}
			row[j] -= n * s.mean[i] * s.mean[j]
			s.s.Data[j*s.s.Stride+i] = row[j]
		}
	}
	s.norm = math.Sqrt(squares)
	return nil
}

// components converts the eigenpairs of S to coefficients of kernel values.
func (s *nystromFit) components(ctx context.Context, o spectrum.Options) (*Components, error) {
	m, n := s.eng.Len(), s.docs.Rows()
	o.K, o.BlockSize = min(o.K, len(s.landmarks)), min(o.BlockSize, len(s.landmarks))
	a := &matrixOperator{}
	a.m.SetRawMatrix(s.s)
	found, err := spectrum.Lanczos(ctx, a, o)
	if err != nil {
		return nil, err
	}
	c := &Components{NumDocuments: n, NumLandmarks: m, Residual: s.residual, kernel: s.kernel}
	if err := c.setEigenvalues(found, s.norm); err != nil {
		return nil, err
	}
	c.Total = s.residual
	for i := range s.landmarks {
		c.Total += a.m.At(i, i)
	}
	p, rank := len(c.Eigenvalues), len(s.landmarks)
	c.vectors, c.offsets, c.lengths = mat.NewDense(m, p, nil), make([]float64, p), make([]float64, p)
	for lo := 0; lo < p; lo += vectorsPerSolve(rank) {
		hi := min(lo+vectorsPerSolve(rank), p)
		var u []float64
		for i := lo; i < hi; i++ {
			u = append(u, mat.Col(nil, i, found.Vectors)...)
			c.offsets[i], c.lengths[i] = floats.Dot(u[(i-lo)*rank:], s.mean), 1
		}
		if err := s.factor.BackSolve(ctx, s.config, u); err != nil {
			return nil, err
		}
		for i := lo; i < hi; i++ {
			for j, at := range s.landmarks {
				c.vectors.Set(at, i, u[(i-lo)*rank+j])
			}
		}
	}
	return c, nil
}

// matrixOperator implements spectrum.Operator for a stored matrix.
type matrixOperator struct{ m mat.Dense }

func (s *matrixOperator) Dim() int { n, _ := s.m.Dims(); return n }

// Apply implements spectrum.Operator. It checks ctx after every 256 rows.
func (s *matrixOperator) Apply(ctx context.Context, dst, src *mat.Dense) error {
	const some = 256
	n, p := src.Dims()
	for lo := 0; lo < n; lo += some {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hi := min(lo+some, n)
		dst.Slice(lo, hi, 0, p).(*mat.Dense).Mul(s.m.Slice(lo, hi, 0, n), src)
	}
	return nil
}
