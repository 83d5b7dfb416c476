// Package pca has kernel principal components: the directions in a kernel's feature space along which
// documents vary most, and the coordinates of documents along them.
//
// With K the Gram matrix, P = I - 11ᵀ/n and the eigenpairs P K P vᵢ = λᵢ vᵢ, the variance of n documents
// along component i is λᵢ/n, and their coordinates and those of a new document t are
//
//	zᵢ = √λᵢ vᵢ,   zᵢ(t) = (1/√λᵢ) Σ_j (k(t, xⱼ) - mⱼ) vᵢ[j],   m = K 1/n
//
// since the values of vᵢ add to 0. Eigenpairs come from package spectrum by blocks of products with K,
// which are those of tiles: K is kept only where there is room for all of it. Where even its products
// take too long, [FitLandmarks] takes the matrix that some documents tell instead of K.
//
// What doesn't live here: the kernels, reading and writing, plots.
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

// Options say how components are found. The zero value works.
type Options struct {
	Components  int     // default 2; fewer where the matrix has a smaller rank
	Tolerance   float64 // of residuals, relative to each eigenvalue; default that of spectrum.Lanczos
	MemoryBytes int64   // bound on what is held beside documents and engine; 0: none
	Seed        uint64  // of the first block

	// Progress, if not nil, is called after each product with the size of the space so far, the
	// greatest it may have, and the greatest relative residual, NaN where it isn't known yet.
	Progress func(vectors, most int, worst float64)

	// Passed, if not nil, is called by FitLandmarks with the documents so far and of all.
	Passed func(done, all int)
}

func (o Options) leading(n int) (spectrum.Options, error) {
	if o.Components < 0 || o.MemoryBytes < 0 {
		return spectrum.Options{}, fmt.Errorf("pca: %d components, a bound of %d bytes, expected neither below 0",
			o.Components, o.MemoryBytes)
	}
	if o.Components == 0 {
		o.Components = 2
	}
	k := min(o.Components, n)
	return spectrum.Options{
		K: k, Block: min(max(k/3, 8), 128, n), Tolerance: o.Tolerance, Seed: o.Seed, Progress: o.Progress,
	}, nil
}

// Components are the principal components of documents. They are immutable and may be used
// concurrently.
type Components struct {
	Values    []spectrum.Value // λ, the largest first, all above rounding
	Total     float64          // the sum of all eigenvalues: n times the variance of all
	Documents int
	Basis     int     // vectors that it took
	Kept      bool    // K was
	Landmarks int     // that tell K; 0: it is K itself
	Residual  float64 // what they leave of Total

	kernel  kernel.Kernel
	vectors *mat.Dense // of the engine's documents, as columns: z(t) = (k(t)ᵀ vectors - offset) / lengths
	offset  []float64
	lengths []float64 // √λ, or 1
}

// Bytes returns the memory that Fit takes beside documents and engine where it doesn't keep the
// matrix: least is what it can do with, most what it would like.
func Bytes(eng *engine.Engine, opt Options) (least, most int64) {
	o, err := opt.leading(eng.Len())
	if err != nil {
		return 0, 0
	}
	few := o
	few.Vectors = 2 * o.K
	pass := eng.MultiplyBytes(o.Block + 1)
	least, most = spectrum.LanczosBytes(eng.Len(), few), spectrum.LanczosBytes(eng.Len(), o)
	return run.AddBytes(least, pass), run.AddBytes(most, pass)
}

// LeastBytes bounds the least of Bytes for so many documents and workers, before there is an engine of
// them. Numbers below 0 count as 0.
func LeastBytes(documents, workers int, opt Options) int64 {
	documents, workers = max(documents, 0), max(workers, 0)
	o, err := opt.leading(documents)
	if err != nil {
		return 0
	}
	o.Vectors = 2 * o.K
	sums := int64(workers+1) * 8 * int64(documents) * int64(o.Block+1)
	return run.AddBytes(spectrum.LanczosBytes(documents, o), sums+int64(workers)<<20) // and the values of a block
}

// Fit finds the leading components of an engine's documents x. Components whose eigenvalue is no more
// than rounding are left out: 2⁻²⁴·‖K‖, as much as errors of 2⁻²⁴ of each value, which is a float32,
// may shift an eigenvalue (Weyl), with the Frobenius norm estimated from the first product.
// Conditionally positive definite kernels are as good as others, since K is centred.
//
// The relative error of an eigenvalue is about the square of Tolerance, see spectrum.Lanczos. Results have
// the same bits for any number of workers. If MemoryBytes is at least 4·Len² more than Bytes, the matrix is
// kept; sums are then rounded in another order.
//
// x has at least one document. Fit fails if the kernel has another embedding, if an option is below 0, if
// MemoryBytes is less than Bytes, if the engine fails, and within a second after ctx is done.
func Fit(
	ctx context.Context, eng *engine.Engine, x *sparse.Embedded, k kernel.Kernel, opt Options,
) (*Components, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	o, err := opt.leading(eng.Len())
	if err != nil {
		return nil, err
	}
	if err := kernel.Check(k); err != nil {
		return nil, err
	}
	n := eng.Len()
	k = kernel.Resolve(k, len(x.Embedder.Terms))
	c := &Components{Documents: n, kernel: k}
	a := &centred{eng: eng, kernel: k}
	if err := c.place(a, x, opt, &o); err != nil {
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
	if err := c.take(found, a.norm); err != nil {
		return nil, err
	}
	c.vectors = found.Vectors
	c.offset, c.lengths = make([]float64, len(c.Values)), make([]float64, len(c.Values))
	for i := range c.offset {
		c.lengths[i] = math.Sqrt(c.Values[i].Value)
		for j, m := range a.means {
			c.offset[i] += m * c.vectors.At(j, i)
		}
	}
	return c, nil
}

// take takes the eigenvalues that are above rounding of a matrix of a norm.
func (c *Components) take(found *spectrum.Pairs, norm float64) error {
	c.Basis = found.Basis
	for _, v := range found.Largest {
		if !(v.Value > 0x1p-24*norm) {
			break
		}
		c.Values = append(c.Values, v)
	}
	if len(c.Values) == 0 {
		return fmt.Errorf("pca: the documents are all the same to kernel %s, expected some that differ", c.kernel)
	}
	return nil
}

// place decides whether there is room for the matrix, and how large the space may grow.
func (c *Components) place(a *centred, x *sparse.Embedded, opt Options, o *spectrum.Options) error {
	n := a.eng.Len()
	least, most := Bytes(a.eng, opt)
	if opt.MemoryBytes > 0 && least > opt.MemoryBytes {
		return fmt.Errorf("pca: %d components of %d documents need %s of memory, expected no more than %s", o.K, n,
			run.FormatBytes(least), run.FormatBytes(opt.MemoryBytes))
	}
	all, err := a.eng.Rectangle(a.kernel, x, math.MaxInt64/4)
	if err == nil {
		whole := run.AddBytes(most, run.AddBytes(all.KeptBytes(), all.PassBytes(o.Block+1)))
		if opt.MemoryBytes == 0 && whole <= keptBytes || whole <= opt.MemoryBytes {
			a.kept, c.Kept = all, true
		}
	} else if memory := (*engine.MemoryError)(nil); !errors.As(err, &memory) {
		return err
	}
	if opt.MemoryBytes == 0 || most <= opt.MemoryBytes {
		return nil
	}
	for o.Vectors = n; most > opt.MemoryBytes && o.Vectors > 2*o.K; {
		o.Vectors = max(2*o.K, o.Vectors*7/8)
		most = run.AddBytes(spectrum.LanczosBytes(n, *o), a.eng.MultiplyBytes(o.Block+1))
	}
	return nil
}

// keptBytes is what may be taken without a bound.
const keptBytes = 1 << 30

// Coordinates returns those of the training documents, Documents × len(Values). Of components by
// landmarks it returns nil: [Components.Project] has them.
func (c *Components) Coordinates() *mat.Dense {
	if c.Landmarks > 0 {
		return nil
	}
	z := mat.NewDense(c.Documents, len(c.Values), nil)
	for j := range c.Documents {
		row := z.RawRowView(j)
		for i := range c.Values {
			row[i] = c.lengths[i] * c.vectors.At(j, i)
		}
	}
	return z
}

// Project returns the coordinates of other documents, a row for each. eng must be the engine of Fit or
// FitLandmarks, and test embedded by the same embedder. A document's coordinates don't depend on the others. It may
// be called concurrently.
func (c *Components) Project(ctx context.Context, eng *engine.Engine, test *sparse.Embedded) (*mat.Dense, error) {
	z := &mat.Dense{}
	if test.Rows() == 0 {
		return z, nil
	}
	p := len(c.Values)
	z = mat.NewDense(test.Rows(), p, nil)
	v := c.vectors.Slice(0, c.rows(), 0, p).(*mat.Dense)
	if err := eng.Multiply(ctx, c.kernel, test, v, z); err != nil {
		return nil, err
	}
	for t := range test.Rows() {
		row := z.RawRowView(t)
		for i := range row {
			row[i] = (row[i] - c.offset[i]) / c.lengths[i]
		}
	}
	return z, nil
}

// rows is the number of the engine's documents.
func (c *Components) rows() int {
	if c.Landmarks > 0 {
		return c.Landmarks
	}
	return c.Documents
}

// centred is P K P by its products.
type centred struct {
	eng    *engine.Engine
	kernel kernel.Kernel
	kept   *engine.Rectangle // K, where there is room
	means  []float64         // K 1/n, and
	norm   float64           // about ‖K‖, both from the first product
}

// Len is spectrum.Operator's.
func (a *centred) Len() int { return a.eng.Len() }

// Apply is spectrum.Operator's. Columns of src add to 0 already, but for rounding, all but
// those of the first block: the space is P K P's.
func (a *centred) Apply(ctx context.Context, dst, src *mat.Dense) error {
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
	if a.kept != nil {
		err = a.kept.Multiply(ctx, from, to)
	} else {
		err = a.eng.Multiply(ctx, a.kernel, nil, from, to)
	}
	if err != nil {
		return err
	}
	if extra > 0 {
		a.means = mat.Col(nil, width, to)
		of := to.Slice(0, n, 0, width)
		// the columns multiplied are at right angles, of length 1, and else random
		a.norm = math.Hypot(mat.Norm(of, 2)*math.Sqrt(float64(n)/float64(width)),
			floats.Norm(a.means, 2)*math.Sqrt(float64(n)))
		dst.Copy(of)
	}
	spectrum.SubtractMeans(dst, width)
	return nil
}
