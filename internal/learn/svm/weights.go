package svm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Weights represents decision functions whose kernel is an inner product. Predictions use one
// vector w per decision function instead of the function's support vectors s,
//
//	f(x) = Σ α⟨s, x⟩ - rho = ⟨w, x⟩ - rho,   w = Σ α s
//
// for an embedded document x. If Normalized is set, x and s are scaled to norm 1.
type Weights struct {
	Values        []float64 // weight of each column and function, at index column·FunctionCount + function
	FunctionCount int
	Normalized    bool // true if x and s are scaled to norm 1
}

// Bytes returns the size of the weights in bytes, or 0 if w is nil.
func (w *Weights) Bytes() int64 {
	if w == nil {
		return 0
	}
	return 8 * int64(len(w.Values))
}

// HasWeights reports whether the kernel of a model is an inner product, as [Weights] require.
func HasWeights(m *model.Model) bool {
	k, err := kernel.Parse(m.Kernel)
	if err != nil {
		return false
	}
	_, ok := kernel.IsInnerProduct(k)
	return ok
}

// maxWeightBytes is the maximum size of weights in bytes. It suffices for 190 classifiers with 1.4
// million columns.
var maxWeightBytes int64 = 2 << 30

// weightRows is the number of support vectors that are added up at a time.
const weightRows = 512

// maxParts is the maximum number of column ranges that are added up concurrently.
const maxParts = 64

// hasWeights reports whether predictions use weights. Weights need an inner product and no device,
// and take at most maxWeightBytes. With a memory limit, they also take at most half of the memory
// that an engine would leave.
func (p *Predictor) hasWeights() bool {
	m, most := p.m, maxWeightBytes
	if _, ok := kernel.IsInnerProduct(p.k); !ok || p.opt.Device != nil {
		return false
	}
	if p.opt.MemoryBytes > 0 {
		rows := min(weightRows, m.Support.Rows())
		scratch := sparse.EmbeddedBytes(rows, 2*int64(rows)*int64(m.Support.MaxRowLen()))
		free := p.opt.MemoryBytes - p.opt.HeldBytes - scratch -
			engine.MaxEngineBytes(m.Support.Rows(), m.Embedder.Cols(), m.Support.NNZ())
		most = min(most, free/2)
	}
	return int64(len(m.Classifier.Functions))*int64(m.Embedder.Cols()) <= most/8
}

// WeightsOf returns the weights of a model's decision functions. k is the model's kernel, which
// must be an inner product. workers is the number of goroutines, 0 for one per CPU. Products are
// added in float64 in the order of the support vectors, without fused multiply-adds, so that
// results are bit-identical for any number of workers. WeightsOf fails if a support vector can't be
// embedded, and when ctx is done.
func WeightsOf(ctx context.Context, m *model.Model, k kernel.Kernel, workers int) (*Weights, error) {
	unit, _ := kernel.IsInnerProduct(k)
	machines := m.Classifier.Functions
	s := &weightSum{
		m: m, workers: min(run.NumWorkers(workers), maxParts), addedCounts: make([]int, len(machines)),
		coefficients: make([][]coefficient, weightRows),
		vectors:      make([][]float64, weightRows),
		w:            &Weights{make([]float64, len(machines)*m.Embedder.Cols()), len(machines), unit},
	}
	for first := 0; first < m.Support.Rows(); first += weightRows {
		if err := s.add(ctx, run.Range(first, min(first+weightRows, m.Support.Rows()))); err != nil {
			return nil, fmt.Errorf("svm: support vectors: %w", err)
		}
	}
	return s.w, nil
}

type weightSum struct {
	m            *model.Model
	w            *Weights
	workers      int
	addedCounts  []int           // number of coefficients added so far, per binary classifier
	coefficients [][]coefficient // coefficients of each support vector of the current batch
	vectors      [][]float64     // values of each support vector of the current batch
}

type coefficient struct {
	classifier int
	value      float64
}

func (s *weightSum) add(ctx context.Context, rows []int) error {
	x, err := s.m.Embedder.TransformRows(ctx, s.m.Support, rows, s.workers)
	if err != nil {
		return err
	}
	for i := range rows {
		s.coefficients[i] = s.coefficients[i][:0]
	}
	for i, q := range s.m.Classifier.Functions {
		for q != nil && s.addedCounts[i] < len(q.Support) && q.Support[s.addedCounts[i]] <= rows[len(rows)-1] {
			at := q.Support[s.addedCounts[i]] - rows[0]
			s.coefficients[at] = append(s.coefficients[at], coefficient{i, q.Coef[s.addedCounts[i]]})
			s.addedCounts[i]++
		}
	}
	err = run.Tasks(ctx, s.workers, len(rows), func(_ context.Context, _, i int) error {
		if s.w.Normalized {
			s.vectors[i] = x.UnitVector64(i, s.vectors[i])
		} else {
			s.vectors[i] = x.Vector64(i, s.vectors[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Each worker adds up a separate range of columns.
	return run.Tasks(ctx, s.workers, s.workers, func(_ context.Context, _, part int) error {
		first, end := uint32(part*x.Cols/s.workers), uint32((part+1)*x.Cols/s.workers)
		for i := range rows {
			terms, _ := x.Row(i)
			at, _ := slices.BinarySearch(terms, first)
			for ; at < len(terms) && terms[at] < end; at++ {
				w := s.w.Values[int(terms[at])*s.w.FunctionCount:][:s.w.FunctionCount]
				v := s.vectors[i][at]
				for _, c := range s.coefficients[i] {
					w[c.classifier] += float64(c.value * v)
				}
			}
		}
		return nil
	})
}

// length returns the norm to which row i of x is scaled: 1 if w.Normalized is set, else x.Norms[i].
func (w *Weights) length(x *sparse.Embedded, i int) float64 {
	if w.Normalized {
		return 1
	}
	return x.Norms[i]
}

func (p *predictionRun) predictByWeights(ctx context.Context, first, end int) error {
	x, err := p.embed(ctx, first, end, 1)
	if err != nil {
		return err
	}
	for r := range x.Rows() {
		f := p.out.DecisionValues[first+r]
		for i, q := range p.m.Classifier.Functions {
			if q != nil {
				f[i] = -q.Rho
			}
		}
		task.AddProducts(f, p.w.Values, x, r, p.w.length(x, r))
		if err := p.decide(first + r); err != nil {
			return err
		}
	}
	p.report.Add(int64(x.Rows()))
	return nil
}
