package svm

import (
	"fmt"
	"time"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/solver"
)

// Report holds statistics and warnings of a training run.
type Report struct {
	Functions  int // number of binary classifiers
	Support    int // number of distinct support vectors
	Bounded    int // number of coefficients at a bound, over all binary classifiers
	Iterations int64
	Unfinished int     // number of binary classifiers that didn't reach the tolerance
	Objective  float64 // sum of the objectives of the binary classifiers
	Gap        float64 // largest duality gap of a binary classifier

	Gram  time.Duration // time to compute tiles or the matrix before the solver starts
	Solve time.Duration // remaining training time, including the computation of rows that the solver requests

	Thresholds *solver.Thresholds // thresholds of labels, if Settings.TuneThresholds is set

	// The following fields describe calibrated probabilities, or are nil. Calibration is measured on
	// held-out folds. Alternatives describes rejection at other error targets.
	Temperature  *solver.Temperature
	Rejection    *solver.Rejection
	Calibration  *score.Calibration
	Alternatives *RejectionAlternatives

	Warnings []string // sentences without a full stop
}

func (r *Report) addClassifiers(c *solver.Classifier, m *model.Model) {
	r.Support = m.Support.Rows()
	for _, machine := range c.Functions {
		if machine == nil {
			continue
		}
		r.Functions++
		r.Bounded += machine.Bounded
		r.Iterations += int64(machine.Iterations)
		r.Objective += machine.Objective
		r.Gap = max(r.Gap, machine.Gap)
		if !machine.Converged {
			r.Unfinished++
		}
	}
}

func (p *Problem) warningsAfter(r *Report) (warnings []string) {
	if r.Unfinished > 0 {
		warnings = append(warnings, fmt.Sprintf(
			"%d of %d decision functions did not converge (max. duality gap %.3g)", r.Unfinished, r.Functions, r.Gap))
	}
	return warnings
}

func (p *Problem) countUnlabelled() (n int) {
	for i := range p.Len() {
		if len(p.corpus.labels.Classes(i)) == 0 {
			n++
		}
	}
	return n
}
