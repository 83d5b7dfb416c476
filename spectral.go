package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/learn/pca"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Kernels describes each kernel: formula, parameters with defaults, definiteness and source.
func Kernels() []kernel.Info { return kernel.Catalogue() }

// SpectrumOptions are the options of [Spectrum].
type SpectrumOptions struct {
	Options

	Kernel  string // specification; default diffusion:t=0.5
	Centred bool   // true: subtract the means of rows and columns from the matrix
}

// Spectrum returns all eigenvalues of the Gram matrix of n documents in descending order. The time
// complexity is O(n³). Because matrix values are float32, the error of eigenvalues is at most
// [spectrum.RoundingBound] plus a small multiple of n·2⁻⁵³ times the largest eigenvalue. For large
// matrices, package spectrum computes the extreme eigenvalues.
//
// Errors are as for [Gram].
func Spectrum(ctx context.Context, c *corpus.Corpus, o SpectrumOptions) (_ []float64, err error) {
	defer convertError(&err)
	if err := checkCorpus(ctx, c); err != nil {
		return nil, err
	}
	n := c.Documents.Rows()
	need := spectrum.EigenvaluesBytes(n) + 4*int64(n)*int64(n)
	if err := run.CheckMemory(need, max(o.MemoryBytes, 0), "gram: computing all eigenvalues for %d documents",
		n); err != nil {
		return nil, err
	}
	k, err := Gram(ctx, c, o.Kernel, o.Options)
	if err != nil {
		return nil, err
	}
	var a mat.Symmetric = k
	if o.Centred {
		a = spectrum.Centre(a)
	}
	o.reportProgress("eigenvalues", 0, 0)
	return spectrum.Eigenvalues(ctx, a, o.Workers)
}

// PCAOptions are the options of [PCA]. The zero value works.
type PCAOptions struct {
	Options

	Kernel     string  // specification; default diffusion:t=0.5
	Components int     // number of components; default 2; fewer if the rank of the matrix is smaller
	Tolerance  float64 // tolerance of residuals relative to each eigenvalue; default 10⁻⁴
	Seed       uint64  // seed of the start vectors and the choice of landmarks; default 1

	Landmarks int // number of random documents that approximate the matrix (Nyström); default all documents
}

// Components are principal components in a kernel's feature space. Methods may be called
// concurrently.
type Components struct {
	Eigenvalues []float64 // eigenvalues above rounding errors, in descending order
	Total       float64   // sum of all eigenvalues, which is the number of documents times the total variance
	Residual    float64   // part of Total that the landmarks don't explain; 0 without landmarks
	Documents   int       // number of documents
	Landmarks   int       // number of landmarks; 0 if all documents are used

	decomposition *pca.Components
	engine        *engine.Engine
	embedder      *sparse.Embedder
	columns       map[string]uint32 // column of each term; nil for vectors
	workers       int
}

// PCA finds the principal components of n documents in the kernel's feature space. With the Gram
// matrix K, P = I - 11ᵀ/n and the eigenpairs P K P vᵢ = λᵢ vᵢ, component i has the variance λᵢ/n.
// Documents and a new document t have the coordinates
//
//	zᵢ = √λᵢ vᵢ,   zᵢ(t) = (1/√λᵢ) Σ_j (k(t, xⱼ) - mⱼ) vᵢ[j],   m = K 1/n
//
// With landmarks, K is replaced by its Nyström approximation. Source: Schölkopf, Smola and Müller,
// Neural Computation 10 (1998).
//
// It fails if there are fewer than two documents, if an option is negative, or for the same reasons
// as [Gram].
func PCA(ctx context.Context, c *corpus.Corpus, o PCAOptions) (_ *Components, err error) {
	defer convertError(&err)
	if err := errors.Join(checkCorpus(ctx, c), o.check()); err != nil {
		return nil, err
	}
	switch n := c.Documents.Rows(); {
	case n < 2:
		return nil, fmt.Errorf("gram: PCA requires at least 2 documents, got %d", n)
	case o.Landmarks < 0:
		return nil, fmt.Errorf("gram: Landmarks must be nonnegative, got %d", o.Landmarks)
	case !(o.Tolerance >= 0):
		return nil, fmt.Errorf("gram: Tolerance must be nonnegative, got %v", o.Tolerance)
	}
	opt := pca.Options{
		NumComponents: o.Components, Tolerance: cmp.Or(o.Tolerance, 1e-4), Seed: cmp.Or(o.Seed, 1),
		Progress: func(vectors, most int, _ float64) { o.reportProgress("components", int64(vectors), int64(most)) },
	}
	k, err := o.parseKernel(cmp.Or(o.Kernel, defaultKernel))
	if err != nil {
		return nil, err
	}
	embedder, rows := corpus.Fit(k.Embedding(), c), []int(nil)
	if o.Landmarks > 0 {
		rows = landmark.Choose(c.Documents.Rows(), o.Landmarks, opt.Seed)
	}
	k = kernel.Resolve(k, len(embedder.Terms))
	x, err := embedder.TransformRows(ctx, c.Documents, rows, o.Workers)
	if err != nil {
		return nil, c.DescribeError(err)
	}
	out := &Components{embedder: embedder, workers: o.Workers}
	if c.Vocabulary != nil {
		out.columns = columnsOf(c.Vocabulary)
	}
	if out.engine, err = engine.NewContext(ctx, x, o.engineOptions(x, "components")); err != nil {
		return nil, err
	}
	if o.MemoryBytes > 0 {
		opt.MemoryBytes = max(o.MemoryBytes-out.engine.Info().Bytes, 1)
	}
	if o.Landmarks > 0 {
		out.decomposition, err = pca.FitNystrom(ctx, out.engine, x, k, c.Documents, opt)
	} else {
		out.decomposition, err = pca.Fit(ctx, out.engine, x, k, opt)
	}
	if err != nil {
		return nil, errors.Join(c.DescribeError(err), out.engine.Close())
	}
	f := out.decomposition
	for _, v := range f.Eigenvalues {
		out.Eigenvalues = append(out.Eigenvalues, v.Value)
	}
	out.Total, out.Residual, out.Documents, out.Landmarks = f.Total, f.Residual, f.NumDocuments, f.NumLandmarks
	return out, nil
}

// Coordinates returns the coordinates of the documents passed to [PCA], one row per document. If
// landmarks were used, it returns nil; use [Components.Project].
func (p *Components) Coordinates() *mat.Dense { return p.decomposition.Coordinates() }

// Project returns the coordinates of documents along the components, one row per document. Terms
// are matched by name, columns of vectors by number.
func (p *Components) Project(ctx context.Context, c *corpus.Corpus) (_ *mat.Dense, err error) {
	defer convertError(&err)
	if err := checkCorpus(ctx, c); err != nil {
		return nil, err
	}
	docs := c.Documents
	if (c.Vocabulary == nil) != (p.columns == nil) {
		return nil, mixedError(c.Source, "the components", c.Vocabulary != nil)
	}
	if p.columns != nil {
		var err error
		if docs, err = reorderColumns(c, p.columns, len(p.columns)); err != nil {
			return nil, err
		}
	}
	x, err := p.embedder.TransformRows(ctx, docs, nil, p.workers)
	if err != nil {
		return nil, c.DescribeError(err)
	}
	z, err := p.decomposition.Project(ctx, p.engine, x)
	return z, c.DescribeError(err)
}
