package gram

import (
	"github.com/gramengine/gram/learn"
)

// Machines are the support vector machines of a model, by the names of About().Machines. The decision value of
// machine m for a document x is
//
//	f(x) = Σ Coefficients[m][s] k(Support[s], x) − Offsets[m],
//
// of two classes above 0 for the first.
type Machines struct {
	Support      []int       // numbers of the training documents that are support vectors, from 0; nil if unknown
	Coefficients [][]float64 // by machine and support vector
	Offsets      []float64
}

// Machines returns the support vector machines of a model; the zero value for models of other types.
func (m *Model) Machines() Machines {
	if m.made() != nil {
		return Machines{}
	}
	own, ok := m.m.(learn.Machines)
	if !ok {
		return Machines{}
	}
	out := Machines{Support: make([]int, len(own.SupportDoc))}
	for s, number := range own.SupportDoc {
		if out.Support != nil {
			out.Support[s] = int(number)
		}
		if number < 0 {
			out.Support = nil
		}
	}
	for _, q := range own.Classifier.Machines {
		coefficients, offset := make([]float64, own.Support.Rows()), 0.0
		if q != nil {
			offset = q.Rho
			for k, s := range q.Support {
				coefficients[s] = q.Coef[k]
			}
		}
		out.Coefficients, out.Offsets = append(out.Coefficients, coefficients), append(out.Offsets, offset)
	}
	return out
}

// Weights returns, by machine of About().Machines, the weight of each of columns, which are columns of the documents
// that the model learnt from, ascending; nil for models without weights by term: those of kernels other than linear,
// landmarks, neighbours.
func (m *Model) Weights() (weights [][]float64, columns []uint32) {
	if m.made() != nil {
		return nil, nil
	}
	weights, columns, err := learn.WeightsOf(m.m)
	if err != nil {
		return nil, nil
	}
	return weights, columns
}
