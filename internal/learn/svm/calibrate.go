package svm

import (
	"context"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/solver"
)

const calibrationFolds = 5

var calibrationRuns = tune.Division{Folds: calibrationFolds, Consecutive: true}

const thresholdFolds = 3

// calibrate fits sigmoids of trained binary classifiers to held-out decision values. It takes these
// values from known or, if known has none, computes them on matrix m. If s.Rejection is set, it
// also tunes the rejection threshold. It returns the calibration of the held-out probabilities.
//
// A fold has consecutive documents of each class in corpus order. Related documents, such as the
// messages of a thread or a week, are then mostly held out together.
func (p *Problem) calibrate(
	ctx context.Context, m solver.Matrix, s *Settings, c *solver.Classifier, known heldOutPredictions,
) (*score.Calibration, *RejectionAlternatives, error) {
	f, out := known.folds, known.predictions
	if f == nil {
		var err error
		if f, out, err = p.predictByFold(ctx, m, *s, c); err != nil {
			return nil, nil, err
		}
	}
	way, found, answers, err := f.calibration(ctx, out)
	if err != nil {
		return nil, nil, err
	}
	var others *RejectionAlternatives
	if s.hasRejection() {
		if c.Rejection, others, err = tuneRejection(answers, s.Rejection); err != nil {
			return nil, nil, err
		}
	}
	fit, err := f.fit(ctx, c, out.DecisionValues, -1)
	if err != nil {
		return nil, nil, err
	}
	if err := f.fitTemperature(fit, out.DecisionValues, -1, way); err != nil {
		return nil, nil, err
	}
	c.Temperature = fit.Temperature
	for i, machine := range fit.Functions {
		if machine == nil {
			continue
		}
		if c.Functions[i].Sigmoid = machine.Sigmoid; c.Thresholds != nil { // Rho includes the threshold
			c.Functions[i].Sigmoid.B += c.Functions[i].Sigmoid.A * c.Thresholds.Above[i]
		}
	}
	return found, others, nil
}

// predictByFold returns held-out decision values for a calibration. The classifiers of the folds
// are warm-started from c. They read kernel values from m, the matrix of all documents.
func (p *Problem) predictByFold(
	ctx context.Context, m solver.Matrix, s Settings, c *solver.Classifier,
) (*foldedProblem, *mergedFolds, error) {
	s.TuneThresholds, s.Probabilities = false, true
	f, err := p.divide(&s, calibrationRuns, false)
	if err != nil {
		return nil, nil, err
	}
	opt, err := p.solverOptions(PlannedRun{Settings: s, Folds: f.folds})
	if err != nil {
		return nil, nil, err
	}
	near := solver.WarmStart{Validation: &solver.Validation{Classifiers: slices.Repeat([]*solver.Classifier{c},
		f.folds)}, Factor: 1}
	v, err := f.validate(ctx, m, []solver.Regularization{s.regularization()}, []solver.WarmStart{near}, opt)
	if err != nil {
		return nil, nil, err
	}
	out, err := f.mergeFolds(f.outcome(v[0]))
	return f, out, err
}

func (p *Problem) canCalibrate(s *Settings) bool {
	return CanCalibrate(&corpus.Corpus{Documents: &p.x.CSR, Labels: p.corpus.labels, Classes: p.corpus.Classes}, s.Scheme)
}

// CanCalibrate reports whether probabilities of a training run on corpus c can be calibrated, see
// [Problem.Train]. Calibration needs at least five labelled documents and at most 2²⁷ decision
// values. It also needs two classes with at least two documents each or, for independent labels,
// two documents with the same first label.
func CanCalibrate(c *corpus.Corpus, scheme solver.Scheme) bool {
	s, documents := &Settings{Type: model.CSVC, Scheme: scheme}, c.Documents.Rows()
	count, labelled, several := map[int32]int{}, 0, 0
	for i := range documents {
		if ids := c.Labels.Classes(i); len(ids) > 0 {
			if count[ids[0]]++; count[ids[0]] == 2 {
				several++
			}
			labelled++
		}
	}
	_, machines := s.classifierCounts(int64(len(c.Classes)))
	const most = 1 << 27 // maximum number of decision values, which take 1 GiB
	return labelled >= calibrationFolds && machines*int64(documents) <= most &&
		(several > 1 || several > 0 && s.Scheme == solver.MultiLabel)
}

// calibrationMethods lists the calibration methods. All methods couple the sigmoids of the binary
// classifiers. The second method adds a temperature of the probabilities, the third method a
// temperature of the log odds.
var calibrationMethods = []struct{ temperature, odds bool }{{}, {true, false}, {true, true}}

// calibration selects a calibration method by log loss. It returns the method's index in
// calibrationMethods, and the method's calibration. The sigmoids for a fold are fitted to the other
// folds. It also returns the held-out answers if f.s.Rejection is set and labels aren't
// independent.
func (f *foldedProblem) calibration(
	ctx context.Context, o *mergedFolds,
) (way int, found *score.Calibration, answers []answer, err error) {
	tried := calibrationMethods
	if !f.s.Calibrated || f.sets != nil {
		tried = calibrationMethods[:1]
	}
	scores, given := make([]score.CalibrationAccumulator, len(tried)), make([][]answer, len(tried))
	for part := range f.folds {
		c, err := f.fit(ctx, o.classifiers[part], o.DecisionValues, part)
		if err != nil {
			return 0, nil, nil, err
		}
		p := make([]float64, c.Classes)
		for w := range tried {
			if err := f.fitTemperature(c, o.DecisionValues, part, w); err != nil {
				return 0, nil, nil, err
			}
			for i, own := range o.DecisionValues {
				if own == nil || f.foldOf[i] != part {
					continue
				}
				if i%1024 == 0 && ctx.Err() != nil {
					return 0, nil, nil, context.Cause(ctx)
				}
				if err := c.Probabilities(p, own); err != nil {
					return 0, nil, nil, err
				}
				if f.sets != nil {
					scores[w].AddLabels(p, f.sets[i])
					continue
				}
				confidence, right := scores[w].Add(p, f.labels[i:i+1])
				if f.s.hasRejection() {
					given[w] = append(given[w], answer{confidence, right, part})
				}
			}
		}
	}
	for w := range scores {
		if own := scores[w].Calibration(); found == nil || own.LogLoss < found.LogLoss {
			way, found, answers = w, own, given[w]
		}
	}
	return way, found, answers, nil
}

// fit returns a classifier with sigmoids fitted to the decision values of all folds except fold
// excluded. If excluded is -1, it uses all folds.
func (f *foldedProblem) fit(
	ctx context.Context, c *solver.Classifier, decisions [][]float64, excluded int,
) (*solver.Classifier, error) {
	fit := *c
	fit.Functions, fit.Temperature = slices.Clone(c.Functions), nil
	for m, positive := range f.signs(c.Scheme, c.Classes) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if c.Functions[m] == nil {
			continue
		}
		var values []float64
		var signs []bool
		for i, own := range decisions {
			if sign := positive(i); own != nil && sign != 0 && f.foldOf[i] != excluded {
				values, signs = append(values, own[m]), append(signs, sign > 0)
			}
		}
		own := *c.Functions[m]
		own.Sigmoid = &solver.Sigmoid{}
		if len(values) > 0 {
			sigmoid, err := solver.FitSigmoid(values, signs)
			if err != nil {
				return nil, err
			}
			own.Sigmoid = &sigmoid
		}
		fit.Functions[m] = &own
	}
	return &fit, nil
}

func (f *foldedProblem) fitTemperature(c *solver.Classifier, decisions [][]float64, excluded, way int) (err error) {
	if c.Temperature = nil; !calibrationMethods[way].temperature {
		return nil
	}
	some := slices.Clone(decisions)
	for i := range some {
		if f.foldOf[i] == excluded {
			some[i] = nil
		}
	}
	c.Temperature, err = solver.FitTemperature(c, calibrationMethods[way].odds, some, f.labels)
	return err
}

// signs yields a function for each binary classifier m. The function returns 1 for documents of the
// positive class, -1 for documents of the negative class, and 0 for other documents.
func (f *foldedProblem) signs(scheme solver.Scheme, classes int) func(func(m int, of func(i int) int) bool) {
	return func(yield func(m int, of func(i int) int) bool) {
		if scheme == solver.OneVsOne {
			for m, pair := range solver.ClassPairs(classes) {
				if !yield(m, func(i int) int {
					switch f.labels[i] {
					case pair[0]:
						return 1
					case pair[1]:
						return -1
					}
					return 0
				}) {
					return
				}
			}
			return
		}
		for m := range classes {
			if !yield(m, func(i int) int {
				if f.sets == nil && f.labels[i] == m || f.sets != nil && slices.Contains(f.sets[i], m) {
					return 1
				}
				return -1
			}) {
				return
			}
		}
	}
}
