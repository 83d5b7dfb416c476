package knn

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// CrossValidate predicts each document of a corpus from those of other parts, for each of some
// settings; parts[i] is the part of document i, below 0 for one that is left out. Predictions are
// those of models that were trained without the document's part, up to the accuracy of c.
//
// All settings whose kernels fall with c and take the same embedding share one pass over all pairs,
// unless the embedding scales columns: then, as for other kernels, there is a pass for each part. Document frequencies
// are those of all documents, see [corpus.Corpus.Fold]. Errors are those of [Train] and [Model.Predict].
func CrossValidate(
	ctx context.Context, c *corpus.Corpus, settings []Settings, parts []int, o Options,
) ([]*model.Prediction, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	n := c.Documents.Rows()
	if len(parts) != n {
		return nil, fmt.Errorf("knn: parts of %d documents, expected of %d", len(parts), n)
	}
	var in []int // documents that take part
	for i, p := range parts {
		if p >= 0 {
			in = append(in, i)
		}
	}
	v := &validation{c: c.Fold(in), o: o}
	for _, i := range in {
		v.parts = append(v.parts, int32(parts[i]))
	}
	out := make([]*model.Prediction, len(settings))
	shared := map[sparse.Embedding][]int{} // settings by what their kernels fall with
	var embeddings []sparse.Embedding
	for at := range settings {
		s, k, err := settings[at].resolve()
		if err != nil {
			return nil, err
		}
		if err := v.check(s); err != nil {
			return nil, err
		}
		out[at] = newPrediction(n, s.Scheme)
		v.settings, v.kernels = append(v.settings, s), append(v.kernels, k)
		e := k.Embedding()
		if !kernel.FallsWithC(k) || e.Scales() {
			if err := v.byParts(ctx, at, in, out[at]); err != nil {
				return nil, err
			}
			continue
		}
		if shared[e] == nil {
			embeddings = append(embeddings, e)
		}
		shared[e] = append(shared[e], at)
	}
	for _, e := range embeddings {
		if err := v.together(ctx, shared[e], in, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// validation is a call of [CrossValidate].
type validation struct {
	c        *corpus.Corpus // documents that take part
	parts    []int32
	o        Options
	settings []Settings
	kernels  []kernel.Kernel
}

// check checks that documents have the classes that settings expect.
func (v *validation) check(s Settings) error {
	for i := range v.parts {
		if n := len(v.c.Labels.Of(i)); n != 1 && s.Scheme != solver.Labels {
			return fmt.Errorf("knn: document %d has %d classes, expected 1", i, n)
		}
	}
	return nil
}

// byParts trains without each part and predicts it.
func (v *validation) byParts(ctx context.Context, at int, in []int, out *model.Prediction) error {
	for part := range slices.Max(append(v.parts, -1)) + 1 {
		var train, test []int
		for i, p := range v.parts {
			if p == part {
				test = append(test, i)
			} else {
				train = append(train, i)
			}
		}
		if len(test) == 0 {
			continue
		}
		m, err := Train(v.c.Fold(train), v.settings[at])
		if err != nil {
			return err
		}
		p, err := m.Predict(ctx, v.c.Documents.SelectRows(test), v.o)
		if err != nil {
			return err
		}
		for k, i := range test {
			out.Decisions[in[i]] = p.Decisions[k]
			if out.Labels != nil {
				out.Labels[in[i]] = p.Labels[k]
			} else {
				out.Class[in[i]] = p.Class[k]
			}
		}
	}
	return nil
}

// together predicts by settings that share their neighbours: those of other parts, by c, once for
// the greatest k. Values follow by each kernel.
func (v *validation) together(ctx context.Context, settings []int, in []int, out []*model.Prediction) error {
	if len(in) == 0 {
		return nil
	}
	most := 0
	for _, at := range settings {
		most = max(most, v.settings[at].K)
	}
	x, err := embed(ctx, v.kernels[settings[0]], v.c.Documents, v.c.Vocabulary, v.o)
	if err != nil {
		return err
	}
	e, err := engine.NewContext(ctx, x, v.o.engine())
	if err != nil {
		return err
	}
	defer e.Close()
	near, err := e.Neighbours(ctx, v.kernels[settings[0]], engine.NeighbourOptions{Count: most, Groups: v.parts, C: true})
	if err != nil {
		return err
	}
	table, err := asm.For(e.ISA())
	if err != nil {
		return err
	}
	fallback := v.fallbacks()
	var list []engine.Neighbour
	var values []float32
	for _, at := range settings {
		s, k := &v.settings[at], kernel.Resolve(v.kernels[at], len(x.Embedder.Terms))
		for i := range in {
			if i%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			list = append(list[:0], near.Of(i)...)
			list = list[:min(len(list), s.K)]
			values = values[:0]
			for _, n := range list {
				values = append(values, n.Value)
			}
			if err := kernel.Apply(k, table, values, values, nil, nil); err != nil {
				return err
			}
			for p, value := range values {
				if value-value != 0 {
					return &sparse.PairError{Kernel: k.String(), Row: in[i], Column: in[list[p].Document], Value: value}
				}
				list[p].Value = value
			}
			vote(out[at], in[i], s, list, v.c.Labels, len(v.c.Classes), fallback[v.parts[i]])
		}
	}
	return nil
}

// fallbacks returns, for each part, the commonest class of all others.
func (v *validation) fallbacks() map[int32]int {
	all, own := make([]int, len(v.c.Classes)), map[int32][]int{}
	for i, part := range v.parts {
		if own[part] == nil {
			own[part] = make([]int, len(all))
		}
		for _, id := range v.c.Labels.Of(i) {
			all[id]++
			own[part][id]++
		}
	}
	out, others := map[int32]int{}, make([]int, len(all))
	for part, count := range own {
		for k, n := range all {
			others[k] = n - count[k]
		}
		out[part] = commonest(others)
	}
	return out
}
