package knn

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// newPrediction allocates the prediction of n documents. Decisions are shares of the votes, 0
// without votes. They are also the probabilities, unless labels are independent.
func newPrediction(n int, scheme solver.Scheme) *model.Prediction {
	p := task.NewPrediction(n, scheme)
	if p.Class != nil {
		p.Probabilities = p.Decisions
	}
	return p
}

// vote counts the votes of document i's neighbours and decides. fallback is the class if there are
// no votes.
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
		for _, id := range labels.Of(int(n.Document)) {
			shares[id] += weight
		}
	}
	if all > 0 {
		for k := range shares {
			shares[k] /= all
		}
	}
	p.Decisions[i] = shares
	if s.Scheme == solver.Labels {
		p.Labels[i] = []int{}
		for k, v := range shares {
			if v > 0.5 {
				p.Labels[i] = append(p.Labels[i], k)
			}
		}
		return
	}
	most := slices.Max(shares)
	p.Class[i] = fallback
	for _, n := range list {
		if id := labels.Of(int(n.Document))[0]; most > 0 && shares[id] == most {
			p.Class[i] = int(id)
			return
		}
	}
}

// Predict classifies documents by the shares of their neighbours' votes, which are Decisions and,
// unless labels are independent, Probabilities. Terms are numbered as in the training corpus;
// [kernel.Opened] defines the effect of other terms. Results are bit-identical for any number of
// workers. m and docs must be valid.
//
// Predict fails if the embedding refuses a value, if it needs more memory than allowed, and within a second after ctx
// is done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	s, k, _ := m.Settings.resolve()
	near, err := m.neighbours(ctx, k, docs, o)
	if err != nil {
		return nil, err
	}
	count := make([]int, len(m.Classes))
	for _, id := range m.Labels.IDs {
		count[id]++
	}
	p, fallback := newPrediction(docs.Rows(), s.Scheme), commonest(count)
	for i := range docs.Rows() {
		list := near.lists.Of(i)
		if m.shared != nil {
			if list, err = near.valued(list[:min(len(list), s.K)], k, i); err != nil {
				return nil, err
			}
		}
		vote(p, i, &s, list, m.Labels, len(m.Classes), fallback)
	}
	return p, nil
}

// found holds the neighbours of documents.
type found struct {
	lists *engine.Neighbours
	table *asm.Kernels
	terms int // number of terms of the embedding
}

// valued returns a document's neighbours with their kernel values, computed from c.
func (f *found) valued(list []engine.Neighbour, k kernel.Kernel, row int) ([]engine.Neighbour, error) {
	list, k = slices.Clone(list), kernel.Resolve(k, f.terms)
	values := make([]float32, len(list))
	for p, n := range list {
		values[p] = n.Value
	}
	if err := kernel.Apply(k, f.table, values, values, nil, nil); err != nil {
		return nil, err
	}
	for p, v := range values {
		if list[p].Value = v; v-v != 0 {
			return nil, &sparse.PairError{Kernel: k.String(), Row: row, Column: int(list[p].Document), Cross: true, Value: v}
		}
	}
	return list, nil
}

// shared caches the last neighbours that models with the same documents and embedding have found.
type shared struct {
	mu   sync.Mutex
	most int         // largest K of the models
	docs *sparse.CSR // documents whose neighbours are cached
	found
}

// neighbours finds the neighbours of documents, by c if they are shared.
func (m *Model) neighbours(ctx context.Context, k kernel.Kernel, docs *sparse.CSR, o Options) (*found, error) {
	want := engine.NeighbourOptions{Count: m.Settings.K}
	own := m.shared
	if own == nil {
		own = &shared{}
	} else {
		want.Count, want.C = own.most, true
	}
	own.mu.Lock()
	defer own.mu.Unlock()
	if own.docs == docs {
		f := own.found
		return &f, nil
	}
	x, err := embed(ctx, k, m.Documents, m.Vocabulary, o)
	if err != nil {
		return nil, err
	}
	test, err := x.Embedder.TransformRows(ctx, docs, nil, o.Workers)
	if err != nil {
		return nil, err
	}
	e, err := engine.NewContext(ctx, x, o.engine())
	if err != nil {
		return nil, err
	}
	defer e.Close()
	f := found{terms: len(x.Embedder.Terms), table: e.Info().Kernels}
	want.Test = test
	if f.lists, err = e.Neighbours(ctx, kernel.Resolve(k, f.terms), want); err != nil {
		return nil, err
	}
	own.docs, own.found = docs, f
	return &f, nil
}

// embed embeds training documents for a kernel.
func embed(
	ctx context.Context, k kernel.Kernel, docs *sparse.CSR, vocabulary []string, o Options,
) (*sparse.Embedded, error) {
	x, err := kernel.Opened(k, k.Embedding().Fit(docs), vocabulary).TransformRows(ctx, docs, nil, o.Workers)
	if err != nil {
		return nil, fmt.Errorf("knn: embedding %s: %w", k.Embedding(), err)
	}
	return x, nil
}
