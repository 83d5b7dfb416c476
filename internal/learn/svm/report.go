package svm

import (
	"fmt"
	"time"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/solver"
)

// Report says how a training went.
type Report struct {
	Machines   int // how many machines there are
	Support    int // different support vectors
	Bounded    int // coefficients at their bound, over all machines
	Iterations int64
	Unfinished int     // machines that didn't reach the tolerance
	Objective  float64 // sum over the machines
	Gap        float64 // the greatest of the machines

	Gram  time.Duration // computing tiles before the solver began
	Solve time.Duration // the solver, with the rows it asked for

	Thresholds *solver.Thresholds // of labels, where Settings ask for them

	// Of calibrated probabilities: their temperature and threshold, nil for none, how good they are by
	// other folds, and what other thresholds would do.
	Temperature  *solver.Temperature
	Rejection    *solver.Rejection
	Calibration  *score.Calibration
	Alternatives *Alternatives

	Warnings []string // what deserves notice, in sentences without a full stop
}

// count adds up what the machines report.
func (r *Report) count(c *solver.Classifier, m *model.Model) {
	r.Support = m.Support.Rows()
	for _, machine := range c.Machines {
		if machine == nil {
			continue
		}
		r.Machines++
		r.Bounded += machine.Bounded
		r.Iterations += int64(machine.Iterations)
		r.Objective += machine.Objective
		r.Gap = max(r.Gap, machine.Gap)
		if !machine.Converged {
			r.Unfinished++
		}
	}
}

// after lists warnings about a training that has ended.
func (p *Problem) after(r *Report) (warnings []string) {
	if r.Unfinished > 0 {
		warnings = append(
			warnings,
			fmt.Sprintf(
				"%d of %d machines ended before they reached the tolerance, the greatest gap is %.3g", r.Unfinished,
				r.Machines, r.Gap,
			),
		)
	}
	return warnings
}

// unlabelled counts the documents without a label.
func (p *Problem) unlabelled() (n int) {
	for i := range p.Len() {
		if len(p.corpus.labels.Of(i)) == 0 {
			n++
		}
	}
	return n
}
