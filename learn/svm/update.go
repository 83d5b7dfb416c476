package svm

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/learn/internal/task"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/solver"
)

// Update is [Problem.Train] from where an earlier training ended: its support vectors are looked for among the
// documents by their terms, counts and classes, and those that are found begin with the coefficients that they
// had. The result is the optimum that Train finds, to the tolerance. Report.Found says how many were found.
//
// Errors: those of Train; a model of another type or scheme, a type other than c_svc and epsilon_svr, a
// precomputed kernel, whose documents have no terms; documents without most of the model's support vectors.
func (p *Problem) Update(ctx context.Context, s Settings, old *model.Model) (*model.Model, *Report, error) {
	if err := given(ctx); err != nil {
		return nil, nil, err
	}
	if err := old.Validate(); err != nil {
		return nil, nil, err
	}
	kind := cmp.Or(s.Type, model.CSVC)
	switch {
	case kind != model.CSVC && kind != model.EpsilonSVR:
		return nil, nil, fmt.Errorf("svm: an update of %s, expected %s or %s: train it anew", kind, model.CSVC,
			model.EpsilonSVR)
	case kind != old.Type:
		return nil, nil, fmt.Errorf("svm: an update to %s of a model of %s, expected the same type", kind, old.Type)
	case kind.Classifies() && s.Scheme != old.Classifier.Scheme:
		return nil, nil, fmt.Errorf("svm: an update to %s of a model of %s, expected the same scheme", s.Scheme,
			old.Classifier.Scheme)
	case p.values != nil || old.Embedder == nil:
		return nil, nil, fmt.Errorf("svm: an update of a precomputed kernel, whose documents have no terms to be known by")
	}
	at, found, err := task.Match(ctx, supportOf(old), p.contents(kind, s.Scheme), "support vectors", p.corpus.source)
	if err != nil {
		return nil, nil, fmt.Errorf("svm: %w", err)
	}
	s.start = p.startAt(old, at)
	out, report, err := p.Train(ctx, s)
	if err == nil {
		report.Found = found
	}
	return out, report, err
}

// supportOf are the support vectors of a model.
func supportOf(m *model.Model) *task.Contents {
	c := &task.Contents{
		Count: m.Support.Rows(), Row: m.Support.Row, Terms: task.Terms(m.Embedder), Vocabulary: m.Vocabulary,
	}
	if m.Type.Classifies() && m.Classifier.Scheme != solver.Labels {
		c.Class = func(i int) string {
			if class := m.SupportClass[i]; class >= 0 {
				return m.Classes[class]
			}
			return ""
		}
	}
	return c
}

// contents are the documents of the problem.
func (p *Problem) contents(kind model.Type, scheme solver.Scheme) *task.Contents {
	var terms []uint32
	var values []float32
	c := &task.Contents{
		Count: p.Len(), Terms: task.Terms(p.x.Embedder), Vocabulary: p.corpus.vocabulary,
		Row: func(i int) ([]uint32, []float32) {
			terms, values = p.x.AppendRaw(i, terms[:0], values[:0])
			return terms, values
		},
	}
	if kind.Classifies() && scheme != solver.Labels {
		c.Class = func(i int) string {
			if ids := p.corpus.labels.Of(i); len(ids) > 0 {
				return p.corpus.classes[ids[0]]
			}
			return ""
		}
	}
	return c
}

// startAt returns the machines of a model on the documents of the problem, at[i] that of support vector i, -1 for
// none. Machines that the model doesn't have are nil.
func (p *Problem) startAt(old *model.Model, at []int) *solver.Classifier {
	classes := old.Classifier.Classes
	if old.Type.Classifies() {
		classes = len(p.corpus.classes)
	}
	own := make([]int, old.Classifier.Classes) // by class of the model
	for c := range own {
		if own[c] = c; old.Type.Classifies() {
			own[c] = slices.Index(p.corpus.classes, old.Classes[c])
		}
	}
	start := &solver.Classifier{Scheme: old.Classifier.Scheme, Classes: classes}
	if start.Scheme != solver.OneVsOne {
		start.Machines = make([]*solver.Machine, classes)
		for c, m := range old.Classifier.Machines {
			if own[c] >= 0 {
				start.Machines[own[c]] = moved(m, at, 1)
			}
		}
		return start
	}
	place := map[[2]int]int{}
	for i, pair := range solver.Pairs(classes) {
		place[pair] = i
	}
	start.Machines = make([]*solver.Machine, len(place))
	for i, pair := range solver.Pairs(len(own)) {
		a, b := own[pair[0]], own[pair[1]]
		sign := 1.0
		if a > b {
			a, b, sign = b, a, -1
		}
		if to, ok := place[[2]int{a, b}]; ok {
			start.Machines[to] = moved(old.Classifier.Machines[i], at, sign)
		}
	}
	return start
}

// moved returns a machine on other rows, at[s] in the place of s, without those below 0, times a sign.
func moved(m *solver.Machine, at []int, sign float64) *solver.Machine {
	if m == nil {
		return nil
	}
	var order []int
	for t, s := range m.Support {
		if at[s] >= 0 {
			order = append(order, t)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(at[m.Support[a]], at[m.Support[b]]) })
	out := &solver.Machine{}
	for _, t := range order {
		out.Support = append(out.Support, at[m.Support[t]])
		out.Coef = append(out.Coef, sign*m.Coef[t])
	}
	return out
}
