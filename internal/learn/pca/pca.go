// Package pca computes kernel principal components: the directions in a kernel's feature space with
// the largest variance of the documents, and the documents' coordinates along these directions.
//
// Let K be the Gram matrix, P = I - 11ᵀ/n, and λᵢ, vᵢ the eigenpairs P K P vᵢ = λᵢ vᵢ. The variance
// of n documents along component i is λᵢ/n. The coordinates of the documents, and of a new document
// t, are
//
//	zᵢ = √λᵢ vᵢ,   zᵢ(t) = (1/√λᵢ) Σ_j (k(t, xⱼ) - mⱼ) vᵢ[j],   m = K 1/n
//
// because the entries of vᵢ sum to 0. Package spectrum finds eigenpairs from products of K with
// blocks of vectors, tile by tile: K is stored only if it fits into memory. [FitNystrom] is faster
// for many documents, because it approximates K from a subset of the documents.
//
// Source: Schölkopf, Smola and Müller, Nonlinear component analysis as a kernel eigenvalue problem,
// Neural Computation 10 (1998).
package pca

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Options controls Fit and FitNystrom. The zero value works.
type Options struct {
	NumComponents int     // number of components, default 2; fewer if the matrix has a smaller rank
	Tolerance     float64 // tolerance of residuals, relative to each eigenvalue; default as in spectrum.Lanczos
	MemoryBytes   int64   // limit on memory in addition to documents and engine; 0 for none
	Seed          uint64  // seed of the first block of vectors

	// Progress, if not nil, is called after each product. vectors is the number of basis vectors,
	// most is its maximum, and worst is the largest relative residual, or NaN if unknown.
	Progress func(vectors, most int, worst float64)

	// DocumentProgress, if not nil, is called by FitNystrom with the number of processed
	// documents and of all documents.
	DocumentProgress func(done, all int)
}

func (o Options) lanczosOptions(n int) (spectrum.Options, error) {
	if o.NumComponents < 0 || o.MemoryBytes < 0 {
		return spectrum.Options{}, fmt.Errorf("pca: NumComponents and MemoryBytes must be nonnegative, got %d and %d",
			o.NumComponents, o.MemoryBytes)
	}
	if o.NumComponents == 0 {
		o.NumComponents = 2
	}
	k := min(o.NumComponents, n)
	return spectrum.Options{
		K: k, BlockSize: min(max(k/3, 8), 128, n), Tolerance: o.Tolerance, Seed: o.Seed, Progress: o.Progress,
	}, nil
}

// Components are the principal components of documents. They are immutable and may be used
// concurrently.
type Components struct {
	Eigenvalues  []spectrum.Eigenvalue // λ in descending order, without values that are rounding errors
	Total        float64               // sum of all eigenvalues: n times the total variance
	NumDocuments int
	BasisSize    int     // number of basis vectors that Lanczos used
	MatrixStored bool    // true if K was stored
	NumLandmarks int     // number of landmarks; 0 without Nyström's approximation
	Residual     float64 // amount of Total that the landmarks don't explain

	kernel  kernel.Kernel
	vectors *mat.Dense // rows: engine's documents; columns: components; z(t) = (k(t)ᵀ vectors - offset) / lengths
	offsets []float64
	lengths []float64 // per component: √λ, or 1 with landmarks
}

// FitBytes returns the memory in bytes that Fit needs in addition to documents and engine if Fit
// doesn't store K. least is the minimum. most suffices for the largest and fastest Lanczos basis.
func FitBytes(eng *engine.Engine, opt Options) (least, most int64) {
	o, err := opt.lanczosOptions(eng.Len())
	if err != nil {
		return 0, 0
	}
	few := o
	few.MaxVectors = 2 * o.K
	pass := eng.MultiplyBytes(o.BlockSize + 1)
	least, most = spectrum.LanczosBytes(eng.Len(), few), spectrum.LanczosBytes(eng.Len(), o)
	return run.AddBytes(least, pass), run.AddBytes(most, pass)
}

// MinFitBytes returns an upper bound on the minimum that [FitBytes] returns. It doesn't require an
// engine. Negative numbers are treated as 0.
func MinFitBytes(documents, workers int, opt Options) int64 {
	documents, workers = max(documents, 0), max(workers, 0)
	o, err := opt.lanczosOptions(documents)
	if err != nil {
		return 0
	}
	o.MaxVectors = 2 * o.K
	sums := int64(workers+1) * 8 * int64(documents) * int64(o.BlockSize+1)
	return run.AddBytes(spectrum.LanczosBytes(documents, o), sums+int64(workers)<<20) // 1 MiB per worker for kernel values
}

// Fit finds the leading components of an engine's documents x. It drops components with eigenvalues
// up to 2⁻²⁴·‖K‖, because rounding the values of K to float32 may shift eigenvalues by as much
// (Weyl). ‖K‖ is the Frobenius norm, estimated from the first product. The kernel may be
// conditionally positive definite, because K is centred.
//
// The relative error of an eigenvalue is about Tolerance², see spectrum.Lanczos. Results are
// bit-identical for any number of workers. Fit stores K if its 4·n² bytes plus the maximum of
// [FitBytes] fit in MemoryBytes, or in 1 GiB if there is no limit. Storing K changes results by
// rounding errors.
//
// x must not be empty. Fit fails if k has another embedding, if an option is negative, if
// MemoryBytes is less than the minimum of [FitBytes], if the engine fails, and within a second
// after ctx is done.
func Fit(
	ctx context.Context, eng *engine.Engine, x *sparse.Embedded, k kernel.Kernel, opt Options,
) (*Components, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	o, err := opt.lanczosOptions(eng.Len())
	if err != nil {
		return nil, err
	}
	if err := kernel.Check(k); err != nil {
		return nil, err
	}
	n := eng.Len()
	k = kernel.Resolve(k, len(x.Embedder.Terms))
	c := &Components{NumDocuments: n, kernel: k}
	a := &centredOperator{eng: eng, kernel: k}
	if err := c.planMemory(a, x, opt, &o); err != nil {
		return nil, err
	}
	found, err := spectrum.Lanczos(ctx, a, o)
	if err != nil {
		return nil, err
	}
	mean := 0.0
	for i := range n {
		norm := float64(x.Norms[i])
		c.Total += k.Eval(0, norm, norm)
		mean += a.means[i] / float64(n)
	}
	c.Total -= float64(n) * mean
	if err := c.setEigenvalues(found, a.norm); err != nil {
		return nil, err
	}
	c.vectors = found.Vectors
	c.offsets, c.lengths = make([]float64, len(c.Eigenvalues)), make([]float64, len(c.Eigenvalues))
	for i := range c.offsets {
		c.lengths[i] = math.Sqrt(c.Eigenvalues[i].Value)
		for j, m := range a.means {
			c.offsets[i] += m * c.vectors.At(j, i)
		}
	}
	return c, nil
}

// setEigenvalues stores the eigenvalues above the rounding errors of a matrix with the given norm.
func (c *Components) setEigenvalues(found *spectrum.Eigenpairs, norm float64) error {
	c.BasisSize = found.BasisSize
	for _, v := range found.Largest {
		if !(v.Value > 0x1p-24*norm) {
			break
		}
		c.Eigenvalues = append(c.Eigenvalues, v)
	}
	if len(c.Eigenvalues) == 0 {
		return fmt.Errorf("pca: kernel %s maps all documents to the same point", c.kernel)
	}
	return nil
}

// planMemory decides whether to store K, and limits the number of Lanczos vectors so that they fit
// into memory.
func (c *Components) planMemory(a *centredOperator, x *sparse.Embedded, opt Options, o *spectrum.Options) error {
	n := a.eng.Len()
	least, most := FitBytes(a.eng, opt)
	if opt.MemoryBytes > 0 && least > opt.MemoryBytes {
		return fmt.Errorf("pca: %d components of %d documents need %s of memory, but the limit is %s", o.K, n,
			run.FormatBytes(least), run.FormatBytes(opt.MemoryBytes))
	}
	all, err := a.eng.CrossMatrix(a.kernel, x, math.MaxInt64/4)
	if err == nil {
		whole := run.AddBytes(most, run.AddBytes(all.StoredBytes(), all.MultiplyBytes(o.BlockSize+1)))
		if opt.MemoryBytes == 0 && whole <= maxStoredBytes || whole <= opt.MemoryBytes {
			a.stored, c.MatrixStored = all, true
		}
	} else if memory := (*engine.MemoryError)(nil); !errors.As(err, &memory) {
		return err
	}
	if opt.MemoryBytes == 0 || most <= opt.MemoryBytes {
		return nil
	}
	for o.MaxVectors = n; most > opt.MemoryBytes && o.MaxVectors > 2*o.K; {
		o.MaxVectors = max(2*o.K, o.MaxVectors*7/8)
		most = run.AddBytes(spectrum.LanczosBytes(n, *o), a.eng.MultiplyBytes(o.BlockSize+1))
	}
	return nil
}

// maxStoredBytes is the maximum size of a stored matrix if there is no memory limit.
const maxStoredBytes = 1 << 30

// Coordinates returns the coordinates of the training documents, a NumDocuments × len(Eigenvalues)
// matrix. If there are landmarks, it returns nil; use [Components.Project] instead.
func (c *Components) Coordinates() *mat.Dense {
	if c.NumLandmarks > 0 {
		return nil
	}
	z := mat.NewDense(c.NumDocuments, len(c.Eigenvalues), nil)
	for j := range c.NumDocuments {
		row := z.RawRowView(j)
		for i := range c.Eigenvalues {
			row[i] = c.lengths[i] * c.vectors.At(j, i)
		}
	}
	return z
}

// Project returns the coordinates of other documents, one row each. eng must be the engine of Fit
// or FitNystrom, and test must be embedded by the embedder of the engine's documents. The
// coordinates of a document don't depend on other documents. Project may be called concurrently.
func (c *Components) Project(ctx context.Context, eng *engine.Engine, test *sparse.Embedded) (*mat.Dense, error) {
	z := &mat.Dense{}
	if test.Rows() == 0 {
		return z, nil
	}
	p := len(c.Eigenvalues)
	z = mat.NewDense(test.Rows(), p, nil)
	v := c.vectors.Slice(0, c.numEngineRows(), 0, p).(*mat.Dense)
	if err := eng.Multiply(ctx, c.kernel, test, v, z); err != nil {
		return nil, err
	}
	for t := range test.Rows() {
		row := z.RawRowView(t)
		for i := range row {
			row[i] = (row[i] - c.offsets[i]) / c.lengths[i]
		}
	}
	return z, nil
}

func (c *Components) numEngineRows() int {
	if c.NumLandmarks > 0 {
		return c.NumLandmarks
	}
	return c.NumDocuments
}

// centredOperator implements spectrum.Operator for P K P.
type centredOperator struct {
	eng    *engine.Engine
	kernel kernel.Kernel
	stored *engine.CrossMatrix // K, if it is stored
	means  []float64           // K 1/n, from the first product
	norm   float64             // estimate of ‖K‖, from the first product
}

func (a *centredOperator) Dim() int { return a.eng.Len() }

// Apply implements spectrum.Operator. Except in the first block, columns of src already have mean 0
// up to rounding, because they are in the range of P K P.
func (a *centredOperator) Apply(ctx context.Context, dst, src *mat.Dense) error {
	n, width := src.Dims()
	extra := 0
	if a.means == nil {
		extra = 1
	}
	from, to := mat.NewDense(n, width+extra, nil), dst
	from.Slice(0, n, 0, width).(*mat.Dense).Copy(src)
	spectrum.SubtractMeans(from, width)
	if extra > 0 {
		to = mat.NewDense(n, width+extra, nil)
		for i := range n {
			from.Set(i, width, 1/float64(n))
		}
	}
	var err error
	if a.stored != nil {
		err = a.stored.Multiply(ctx, from, to)
	} else {
		err = a.eng.Multiply(ctx, a.kernel, nil, from, to)
	}
	if err != nil {
		return err
	}
	if extra > 0 {
		a.means = mat.Col(nil, width, to)
		of := to.Slice(0, n, 0, width)
		// the norm of the product of K and random orthonormal columns estimates ‖K‖
		a.norm = math.Hypot(mat.Norm(of, 2)*math.Sqrt(float64(n)/float64(width)),
			floats.Norm(a.means, 2)*math.Sqrt(float64(n)))
		dst.Copy(of)
	}
	spectrum.SubtractMeans(dst, width)
	return nil
}
