package linear

import (
	"context"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// Update is [Train] from the weights of a model. They say how far documents, new ones too, are within the margin: at
// the optimum for the squared hinge that is α, α = 2C·max(0, 1-yf), and for the hinge it is C or 0 but for documents at
// the margin. The search begins there. It ends at the same optimum as Train, to the tolerance.
//
// Errors: those of Train, a model that [Model.Validate] refuses.
func Update(
	ctx context.Context, c *sparse.Corpus, e sparse.Embedding, s Settings, old *Model, opt Options,
) (*Model, error) {
	if err := old.Validate(); err != nil {
		return nil, err
	}
	models, err := trainPath(ctx, c, e, s, nil, old, opt)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// startAt sets α to what the weights of a model say of class k of another, m; of a class that old doesn't have they
// stay 0.
func (d *dual) startAt(old, m *Model, k int) error {
	classes := len(old.Classes)
	class := slices.Index(old.Classes, m.Classes[k])
	if class < 0 {
		return nil
	}
	number := map[string]int{} // columns of old by text, where terms have one
	column := map[uint32]int{}
	for j, t := range old.Embedder.Terms {
		if column[t] = j; old.Vocabulary != nil {
			number[old.Vocabulary[t]] = j
		}
	}
	w := make([]float64, len(d.w))
	for j, t := range m.Embedder.Terms {
		at, ok := column[t]
		if m.Vocabulary != nil {
			at, ok = number[m.Vocabulary[t]]
		}
		if ok {
			w[d.p.place[j]] = old.Weights[at*classes+class]
		}
	}
	d.c = m.Settings.C
	most, diagonal := d.bounds()
	for i := range d.alpha {
		x := d.p.row(i)
		if err := d.wait.after(len(x)); err != nil {
			return err
		}
		loss := 1 - d.sign(uint32(i))*(dot(x, w)+old.Machines[class].Bias)
		switch s := d.weight(i); {
		case !(loss > 0):
		case d.hinge:
			d.alpha[i] = most * s
		default:
			d.alpha[i] = loss * s / diagonal
		}
	}
	return nil
}
