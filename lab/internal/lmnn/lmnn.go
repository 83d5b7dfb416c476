// Package lmnn implements metric learning by large margin nearest neighbours. The metric is D(x, y)
// = ‖L(x - y)‖². The k target neighbours j of each document i are the nearest documents of its
// class before training. L minimises
//
//	ε(L) = (1-μ) Σ_ij D(i, j) + μ Σ_ij Σ_l max(0, 1 + D(i, j) - D(i, l))
//
// summed over documents i, targets j of i, and documents l of other classes. ε is convex in M =
// LᵀL. The energy of a class for a document is the increase of ε if the document is added with that
// class and all targets stay the same. The predicted class has the smallest energy.
//
// L-BFGS minimises ε with respect to L. Each round of L-BFGS includes only documents l that are
// close enough to violate a margin. If the documents are scaled, only the scale of L changes.
//
// Source: Weinberger and Saul, Distance metric learning for large margin nearest neighbor
// classification, JMLR 10 (2009).
package lmnn

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// MaxColumns is the maximum number of columns. Documents with more columns must be projected onto
// principal components first.
const MaxColumns = 2000

// maxTransform bounds the values of L, so that distances between float32 documents don't overflow.
const maxTransform = 1e100

// Settings holds the parameters of a metric. The zero value selects the defaults.
type Settings struct {
	K         int     `param:"k" default:"3" min:"1" max:"100" help:"number of target neighbours per document"`
	Push      float64 `param:"push" default:"0.5" above:"0" below:"1" help:"weight μ of margin violations"`
	Tolerance float64 `param:"tolerance" default:"1e-4" above:"0" below:"1" help:"minimum relative gain of an iteration"`

	// Iterations is the maximum number of iterations. If it is set to auto, it is selected on
	// held-out documents.
	Iterations int `param:"iterations" default:"1000" min:"1" auto:"-1" help:"maximum number of iterations"`
}

func (s Settings) resolve() (Settings, error) {
	err := params.Resolve(&s)
	if err == nil && s.Iterations < 0 {
		err = fmt.Errorf("number of iterations must be positive, got %d", s.Iterations)
	}
	if err != nil {
		return s, fmt.Errorf("lmnn: %w", err)
	}
	return s, nil
}

// Options configures a computation. The zero value selects the defaults.
type Options struct {
	Workers     int   // number of goroutines, which doesn't affect results; default: number of CPUs
	MemoryBytes int64 // memory limit in bytes, excluding the documents; default: no limit

	// Progress, if not nil, is called before each round with the number of iterations so far, the
	// maximum number, ε, and the number of pairs of documents that violate a margin or nearly do.
	Progress func(iterations, max int, value float64, near int64)
}

// checkMemory returns an error if the given number of float64 values doesn't fit into the memory
// limit.
func (o Options) checkMemory(what string, numbers int64) error {
	return run.CheckMemory(8*numbers, o.MemoryBytes, "lmnn: %s", what)
}

// Model is a metric and its training documents. It is immutable and may be used concurrently.
type Model struct {
	Settings     Settings
	Source       string   // name of the training corpus, as set by the user
	CorpusDigest [32]byte // digest of the training corpus
	Classes      []string

	Cols        int
	Transform   []float64 // L, Cols × Cols, in row-major order
	Documents   []float32 // documents, in row-major order
	Labels      []int32   // class of each document, as an index into the class names
	Targets     []int32   // K target neighbours per document; -1 if the document's class has too few documents
	Loss        float64   // ε of the trained metric
	InitialLoss float64   // ε of the initial metric, a multiple of the Euclidean metric
	Iterations  int
}

// Rows returns the number of training documents.
func (m *Model) Rows() int { return len(m.Labels) }

// Bytes returns the approximate size of the model in memory.
func (m *Model) Bytes() int64 {
	return 8*int64(len(m.Transform)) + 4*int64(len(m.Documents)+len(m.Labels)+len(m.Targets))
}

// Validate returns an error if settings are out of range, array lengths are inconsistent, values
// are infinite or NaN, or classes or targets are unknown.
func (m *Model) Validate() error {
	s, err := m.Settings.resolve()
	if err != nil {
		return err
	}
	n, d := len(m.Labels), m.Cols
	if n == 0 || d < 1 || d > MaxColumns || len(m.Transform) != d*d || len(m.Targets) != n*s.K ||
		len(m.Documents)%d != 0 || len(m.Documents)/d != n {
		return fmt.Errorf("lmnn: sizes do not match: %d metric values, %d document values, %d targets, %d documents, "+
			"%d columns", len(m.Transform), len(m.Documents), len(m.Targets), n, d)
	}
	for _, v := range m.Transform {
		if !(math.Abs(v) <= maxTransform) {
			return fmt.Errorf("lmnn: values of the metric must be between -%g and %g, got %v", maxTransform, maxTransform, v)
		}
	}
	for _, v := range m.Documents {
		if v-v != 0 {
			return fmt.Errorf("lmnn: values of the documents must be finite, got %v", v)
		}
	}
	for i, y := range m.Labels {
		if y < 0 || int(y) >= len(m.Classes) {
			return fmt.Errorf("lmnn: document %d has class %d, but there are only %d classes", i, y, len(m.Classes))
		}
	}
	for i, j := range m.Targets {
		if j < -1 || int(j) >= n || j >= 0 && m.Labels[j] != m.Labels[i/s.K] {
			return fmt.Errorf("lmnn: target of document %d must be a document below %d of the same class, got %d", i/s.K, n, j)
		}
	}
	if name, twice := archive.FindDuplicate(m.Classes); twice {
		return fmt.Errorf("lmnn: class %q occurs twice", name)
	}
	return nil
}

func toDense(docs *sparse.CSR, columns int) []float32 {
	out := make([]float32, docs.Rows()*columns)
	for i := range docs.Rows() {
		terms, values := docs.Row(i)
		for k, t := range terms {
			if int(t) < columns {
				out[i*columns+int(t)] = values[k]
			}
		}
	}
	return out
}

func toMatrix(x []float32, d int) *mat.Dense {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return mat.NewDense(len(x)/d, d, out)
}

func squaredDistance(a, b []float64) (sum float64) {
	b = b[:len(a)]
	var s0, s1 float64
	k := 0
	for ; k+2 <= len(a); k += 2 {
		d0, d1 := a[k]-b[k], a[k+1]-b[k+1]
		s0 += float64(d0 * d0)
		s1 += float64(d1 * d1)
	}
	if k < len(a) {
		d := a[k] - b[k]
		s0 += float64(d * d)
	}
	return s0 + s1
}
