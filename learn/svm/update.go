package svm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
)

// Update is [Problem.Train] from where an earlier training ended: document at[s] of the corpus begins with the
// coefficients that support vector s of the model had; at[s] below 0 stands for none. The result is the optimum that
// Train finds, to the tolerance.
//
// Errors: those of Train; a model of another type or scheme, a type other than c_svc and epsilon_svr.
func (p *Problem) Update(
	ctx context.Context, s Settings, old *model.Model, at []int,
) (*model.Model, *Report, error) {
	if err := old.Validate(); err != nil {
		return nil, nil, err
	}
	switch kind := cmp.Or(s.Type, model.CSVC); {
	case kind != model.CSVC && kind != model.EpsilonSVR:
		return nil, nil, fmt.Errorf("svm: an update of %s, expected %s or %s: train it anew", kind, model.CSVC,
			model.EpsilonSVR)
	case kind != old.Type || kind.Classifies() && s.Scheme != old.Classifier.Scheme:
		return nil, nil, fmt.Errorf("svm: an update to %s, %s, of a model of %s, %s, expected the same", kind, s.Scheme,
			old.Type, old.Classifier.Scheme)
	case len(at) != old.Support.Rows():
		return nil, nil, fmt.Errorf("svm: documents for %d support vectors, expected %d", len(at), old.Support.Rows())
	}
	rows, taken := make([]int, p.Len()), make([]bool, p.Len()) // by document of the corpus
	for i, d := range p.corpus.order {
		rows[d] = i
	}
	at = slices.Clone(at)
	for v, d := range at {
		if d >= len(rows) || d >= 0 && taken[d] {
			return nil, nil, fmt.Errorf("svm: document %d for support vector %d, expected another one each, below %d", d, v,
				len(rows))
		}
		if d >= 0 {
			at[v], taken[d] = rows[d], true
		}
	}
	s.start = p.startAt(old, at)
	return p.Train(ctx, s)
}

// startAt returns the machines of a model on rows of the problem, nil for those of classes that it doesn't have.
func (p *Problem) startAt(old *model.Model, at []int) *solver.Classifier {
	start := &solver.Classifier{Scheme: old.Classifier.Scheme, Classes: len(p.corpus.classes)}
	if !old.Type.Classifies() {
		start.Machines = []*solver.Machine{moved(old.Classifier.Machines[0], at, 1)}
		return start
	}
	of := map[[2]string]*solver.Machine{} // by the names of their classes
	pairs := func(names []string, each func(i int, key [2]string)) {
		if start.Scheme != solver.OneVsOne {
			for i, name := range names {
				each(i, [2]string{name})
			}
			return
		}
		for i, pair := range solver.Pairs(len(names)) {
			each(i, [2]string{names[pair[0]], names[pair[1]]})
		}
	}
	pairs(old.Classes, func(i int, key [2]string) { of[key] = old.Classifier.Machines[i] })
	pairs(p.corpus.classes, func(_ int, key [2]string) {
		m, sign := of[key], 1.0
		if other := of[[2]string{key[1], key[0]}]; m == nil && other != nil {
			m, sign = other, -1
		}
		start.Machines = append(start.Machines, moved(m, at, sign))
	})
	return start
}

// moved returns a machine on other rows, at[s] in the place of s, without those below 0, times a sign.
func moved(m *solver.Machine, at []int, sign float64) *solver.Machine {
	if m == nil {
		return nil
	}
	out, coef := &solver.Machine{}, map[int]float64{}
	for t, s := range m.Support {
		if at[s] >= 0 {
			coef[at[s]] = sign * m.Coef[t]
			out.Support = append(out.Support, at[s])
		}
	}
	slices.Sort(out.Support)
	for _, row := range out.Support {
		out.Coef = append(out.Coef, coef[row])
	}
	return out
}
