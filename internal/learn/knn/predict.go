package knn

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// vote sets the classes of document i by the votes of its neighbours. list holds the neighbours.
// fallback is the class if there are no votes.
func vote(
	p *model.Prediction, i int, s *Settings, list []engine.Neighbour, labels sparse.Labels, classes, fallback int,
) {
	shares := make([]float64, classes)
	var all float64
	for _, n := range list {
		weight := float64(n.Value)
		if s.Uniform {
			weight = 1
		}
		if weight <= 0 {
			continue
		}
		all += weight
		for _, id := range labels.Classes(int(n.Document)) {
			shares[id] += weight
		}
	}
	if all > 0 {
		for k := range shares {
			shares[k] /= all
		}
	}
	p.DecisionValues[i] = shares
	if s.Scheme == solver.MultiLabel {
		p.Labels[i] = []int{}
		for k, v := range shares {
			if v > 0.5 {
				p.Labels[i] = append(p.Labels[i], k)
			}
		}
		return
	}
	most := slices.Max(shares)
	p.ClassIndices[i] = fallback
	for _, n := range list {
		if id := labels.Classes(int(n.Document))[0]; most > 0 && shares[id] == most {
			p.ClassIndices[i] = int(id)
			return
		}
	}
}

// Predict classifies documents by their neighbours' votes. DecisionValues are the fractions of the
// votes for each class. Unless labels are independent, Probabilities are the same fractions.
// [kernel.OpenEmbedder] defines the effect of unknown terms. For errors, see package task.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	s, k, _ := m.Settings.resolve()
	fitted := kernel.OpenEmbedder(k, k.Embedding().Fit(m.Documents), m.Vocabulary)
	x, err := fitted.TransformRows(ctx, m.Documents, nil, o.Workers)
	if err != nil {
		return nil, fmt.Errorf("knn: embedding %s: %w", k.Embedding(), err)
	}
	test, err := fitted.TransformRows(ctx, docs, nil, o.Workers)
	if err != nil {
		return nil, err
	}
	own := engine.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes}
	if o.Progress != nil {
		own.Progress = func(p engine.Progress) {
			o.Progress(run.Progress{Stage: "neighbours", Done: p.Done, Total: p.Total})
		}
	}
	e, err := engine.NewContext(ctx, x, own)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	near, err := e.Neighbours(ctx, kernel.Resolve(k, len(fitted.Terms)),
		engine.NeighbourOptions{Count: s.K, TestDocuments: test})
	if err != nil {
		return nil, err
	}
	count := make([]int, len(m.Classes))
	for _, id := range m.Labels.IDs {
		count[id]++
	}
	p, fallback := task.NewPrediction(docs.Rows(), s.Scheme), slices.Index(count, slices.Max(count))
	if p.ClassIndices != nil {
		p.Probabilities = p.DecisionValues
	}
	for i := range docs.Rows() {
		vote(p, i, &s, near.List(i), m.Labels, len(m.Classes), fallback)
	}
	return p, nil
}
