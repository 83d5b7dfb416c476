package svm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/sparse"
)

// NewPrecomputed is like [NewProblem], for a precomputed Gram matrix. Row i of c.Documents holds
// the kernel values K(xᵢ, xⱼ) in columns j = 0, …, n-1, as made by [sparse.FromDense].
// Settings.Kernel must be [kernel.Precomputed], which is the default for this problem. To predict a
// document, pass the row of its kernel values with all training documents.
//
// A matrix from [engine.Engine.Gram] gives the same binary classifiers, bit for bit, as training on
// the documents. K(xᵢ, xⱼ) and K(xⱼ, xᵢ) may differ by up to 10⁻⁵ times the largest absolute value.
// Only the value in the earlier row is used. opt.Device and opt.CacheBytes are ignored.
//
// NewPrecomputed fails if the matrix isn't square or isn't symmetric, or if NewProblem fails.
func NewPrecomputed(ctx context.Context, c *corpus.Corpus, opt Options) (*Problem, error) {
	n, m := c.Documents.Rows(), c.Documents
	if m.Cols != n {
		return nil, fmt.Errorf("svm: Gram matrix must be square, got %d rows and %d columns", n, m.Cols)
	}
	opt.Device, opt.CacheBytes = nil, 0
	opt.minBytes = opt.HeldBytes + m.Bytes() + foldMatrixBytes(int64(n))
	names := *c
	names.Vocabulary, names.Documents = nil, &sparse.CSR{Cols: n, Offsets: make([]int64, n+1)}
	p, err := NewProblem(ctx, &names, sparse.Embedding{}, opt)
	if err != nil {
		return nil, err
	}
	var digest sync.WaitGroup
	digest.Go(func() { p.corpus.Digest = c.Digest() })
	p.values, err = denseSymmetric(ctx, m, p.corpus.order)
	digest.Wait()
	return p, err
}

// asymmetry is the maximum difference of K(xᵢ, xⱼ) and K(xⱼ, xᵢ), relative to the largest absolute
// value.
const asymmetry = 1e-5

// denseSymmetric returns m as a dense symmetric matrix, with rows and columns in the given order.
func denseSymmetric(ctx context.Context, m *sparse.CSR, order []int) ([]float32, error) {
	n := m.Rows()
	at := make([]int, n) // position of each document
	for i, doc := range order {
		at[doc] = i
	}
	out := make([]float32, n*n)
	greatest := 0.0
	for i, doc := range order {
		row := out[i*n : (i+1)*n]
		terms, values := m.Row(doc)
		for k, j := range terms {
			row[at[j]] = values[k]
			greatest = max(greatest, math.Abs(float64(values[k])))
		}
	}
	const block = 64 // rows and columns per block, which stays in the cache
	for top := 0; top < n; top += block {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for left := 0; left <= top; left += block {
			for i := top; i < min(top+block, n); i++ {
				for j := left; j < min(left+block, i); j++ {
					lower, upper := &out[i*n+j], &out[j*n+i]
					if !(math.Abs(float64(*lower)-float64(*upper)) <= asymmetry*greatest) {
						return nil, asymmetryError(order[i], order[j], *lower, *upper)
					}
					if order[i] > order[j] { // use the value in the earlier row of the file
						*lower = *upper
					} else {
						*upper = *lower
					}
				}
			}
		}
	}
	return out, nil
}

func asymmetryError(i, j int, ij, ji float32) error {
	if i > j {
		i, j, ij, ji = j, i, ji, ij
	}
	return fmt.Errorf("svm: Gram matrix is not symmetric: %v in row %d, column %d, but %v in row %d, column %d",
		ij, i+1, j+1, ji, j+1, i+1)
}

func (p *Predictor) setPrecomputed(loops *asm.Kernels) error {
	for s, doc := range p.m.SupportDocs {
		if doc < 0 || doc >= math.MaxUint32 {
			return fmt.Errorf("svm: training document of support vector %d must be between 0 and %d, got %d", s,
				uint32(math.MaxUint32-1), doc)
		}
		p.columns = max(p.columns, int(doc)+1)
	}
	p.rows = loops.PanelWidth
	if p.m.NumDocuments > 0 {
		p.columns = p.m.NumDocuments
	}
	return nil
}

func (p *Predictor) checkColumns(docs *sparse.CSR) error {
	if known := p.m.NumDocuments > 0; docs.Cols < p.columns || known && docs.Cols > p.columns {
		atLeast := "at least "
		if known {
			atLeast = ""
		}
		return fmt.Errorf("svm: rows must have %s%d kernel values, one per training document, got %d", atLeast,
			p.columns, docs.Cols)
	}
	return nil
}

func (p *predictionRun) predictPrecomputed(ctx context.Context, first, end int) error {
	support := p.m.SupportDocs
	values := make([]float32, min(p.rows, end-first)*len(support))
	for ; first < end; first += p.rows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		objects := min(p.rows, end-first)
		for r := range objects {
			terms, row := p.docs.Row(first + r)
			to := values[r*len(support):][:len(support)]
			for s, doc := range support {
				k := int(doc)
				if len(row) < p.docs.Cols { // zero values aren't stored
					var there bool
					if k, there = slices.BinarySearch(terms, uint32(doc)); !there {
						to[s] = 0
						continue
					}
				}
				to[s] = row[k]
			}
		}
		sums := p.pool.get(first, true, p.rows)
		sums.AddRows(values, objects)
		err := p.setResults(sums, first, objects)
		if p.pool.release(first, p.rows); err != nil {
			return err
		}
	}
	return nil
}

func (p *Predictor) kernel() (kernel.Kernel, error) {
	spec := p.m.Kernel
	if spec == model.Precomputed {
		return kernel.Precomputed(), nil
	}
	k, err := kernel.Parse(spec, p.opt.Kernels...)
	if name, _, _ := strings.Cut(spec, ":"); err != nil && !slices.Contains(kernel.Names(), name) {
		return nil, flagtext.Errorf("svm: the model's kernel %q is unknown; set it by Options.Kernels", spec)
	}
	if err != nil {
		return nil, fmt.Errorf("svm: the model's kernel: %w", err)
	}
	return k, nil
}
