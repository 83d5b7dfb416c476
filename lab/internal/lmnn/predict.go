package lmnn

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// Predict classifies documents. Decision values are negated energies, or -Inf for classes without
// documents. Columns from m.Cols on are ignored. Results are bit-identical for any number of
// workers. Predict fails if memory is insufficient, and within a second after ctx is done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	n := docs.Rows()
	out := &model.Prediction{DecisionValues: make([][]float64, n), ClassIndices: make([]int, n)}
	if n == 0 {
		return out, nil
	}
	if err := o.checkMemory("predicting", m.PredictBytes(n)/8); err != nil {
		return nil, err
	}
	s, _ := m.Settings.resolve()
	l := mat.NewDense(m.Cols, m.Cols, m.Transform)
	z, err := applyTransform(ctx, toMatrix(m.Documents, m.Cols), l)
	if err != nil {
		return nil, err
	}
	test, err := applyTransform(ctx, toMatrix(toDense(docs, m.Cols), m.Cols), l)
	if err != nil {
		return nil, err
	}
	margins := make([]float64, len(m.Targets))
	for t, j := range m.Targets {
		margins[t] = math.Inf(-1)
		if j >= 0 {
			margins[t] = 1 + squaredDistance(z.RawRowView(t/s.K), z.RawRowView(int(j)))
		}
	}
	const some = 32
	err = run.Tasks(ctx, run.NumWorkers(o.Workers), (n+some-1)/some, func(ctx context.Context, _, part int) error {
		e := newEnergyClassifier(m, s, margins)
		for i := part * some; i < min((part+1)*some, n); i++ {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			out.DecisionValues[i], out.ClassIndices[i] = e.classify(test.RawRowView(i), z)
		}
		return nil
	})
	return out, err
}

// PredictBytes returns the memory in bytes that Predict needs for the given number of documents.
func (m *Model) PredictBytes(documents int) int64 {
	return 8 * predictValueCount(m.Rows(), documents, m.Cols)
}

func predictValueCount(rows, tests, columns int) int64 { return 2 * int64(rows+tests) * int64(columns) }

type energyClassifier struct {
	m          *Model
	s          Settings
	margins    []float64 // 1 + squared distance to each target neighbour; -Inf if the target is missing
	distances  []float64
	neighbours []*neighbourList // nearest documents, by class
	pushLosses []float64        // increase in the push loss of each class's documents due to the new document
}

func newEnergyClassifier(m *Model, s Settings, margins []float64) *energyClassifier {
	e := &energyClassifier{
		m: m, s: s, margins: margins, distances: make([]float64, m.Rows()),
		pushLosses: make([]float64, len(m.Classes)),
	}
	for range m.Classes {
		e.neighbours = append(e.neighbours, newNeighbourList(s.K))
	}
	return e
}

// classify returns the negated energy of each class for the document x, and the predicted class.
func (e *energyClassifier) classify(x []float64, z *mat.Dense) (values []float64, class int) {
	for c := range e.neighbours {
		e.neighbours[c].reset()
		e.pushLosses[c] = 0
	}
	k := e.s.K
	pushedAll := 0.0
	for i, y := range e.m.Labels {
		d := squaredDistance(x, z.RawRowView(i))
		e.distances[i] = d
		e.neighbours[y].insert(i, d)
		for _, margin := range e.margins[i*k : (i+1)*k] {
			if margin > d {
				e.pushLosses[y] += margin - d
				pushedAll += margin - d
			}
		}
	}
	values = make([]float64, len(e.neighbours))
	for c, own := range e.neighbours {
		if own.indices[0] < 0 {
			values[c] = math.Inf(-1)
			continue
		}
		pull, push := 0.0, pushedAll-e.pushLosses[c]
		for t, j := range own.indices {
			if j < 0 {
				continue
			}
			pull += own.distances[t]
			margin := 1 + own.distances[t]
			for i, d := range e.distances {
				if d < margin && int(e.m.Labels[i]) != c {
					push += margin - d
				}
			}
		}
		values[c] = -((1-e.s.Push)*pull + e.s.Push*push)
		if values[c] > values[class] || math.IsInf(values[class], -1) {
			class = c
		}
	}
	return values, class
}
