package svm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
)

// ClassifierGroups returns the indices of a training run's binary classifiers, in groups that are
// independent of each other, see [solver.Training.Groups]. One-vs-one has a group for each pair of
// classes. Classifiers that depend on each other, for example through a shared calibration, form
// one group. It computes no kernel values. It fails if settings or labels are invalid, as
// [Problem.Train] does.
func (p *Problem) ClassifierGroups(s Settings) ([][]int, error) {
	s, err := p.resolve(s)
	if err != nil {
		return nil, err
	}
	return p.groups(&s)
}

func (p *Problem) groups(s *Settings) ([][]int, error) {
	if err := p.checkKernel(s.Kernel); err != nil {
		return nil, err
	}
	t, err := p.solverTraining(s)
	if err != nil {
		return nil, err
	}
	groups, err := t.Groups(p.Len(), p.inMemory())
	if err == nil && s.Calibrated && p.canCalibrate(s) {
		all := slices.Concat(groups...)
		slices.Sort(all)
		groups = [][]int{all}
	}
	return groups, err
}

// inMemory reports whether [gramMatrix.trainingMatrix] of all documents stores all rows in memory.
func (p *Problem) inMemory() bool {
	return p.values != nil || p.opt.SingleUse && p.cached.FitsInMemory()
}

// TrainClassifiers trains the binary classifiers with the indices in machines, which must be
// complete groups of [Problem.ClassifierGroups]. Results are bit-identical to [Problem.Train].
// Other classifiers are nil. Support vector indices refer to the problem's documents.
// [Problem.Assemble] makes a model from all classifiers.
//
// In one-vs-one, if the classifiers use only some classes, it may compute only the matrix of these
// classes' documents, see usedDocuments.
func (p *Problem) TrainClassifiers(ctx context.Context, s Settings, machines []int) (*solver.Classifier, error) {
	s, err := p.resolve(s)
	if err != nil {
		return nil, err
	}
	if s.Calibrated && p.canCalibrate(&s) {
		groups, err := p.groups(&s)
		if err == nil && !slices.Equal(groups[0], slices.Sorted(slices.Values(machines))) {
			err = fmt.Errorf("svm: calibration requires all binary classifiers, got %d of %d", len(machines), len(groups[0]))
		}
		if err != nil {
			return nil, err
		}
		machines = nil
	}
	return p.trainClassifiers(ctx, &s, machines, &Report{})
}

// Assemble makes a model of binary classifiers that [Problem.TrainClassifiers] trained with the
// same settings, on this problem or on other problems of the same corpus. The model is
// bit-identical to the result of [Problem.Train]. The report has no times, Calibration or
// Alternatives. Assemble fails if a classifier is missing, repeated or invalid, if a part has a
// different scheme or number of classes, or if ClassifierGroups fails.
func (p *Problem) Assemble(s Settings, parts []*solver.Classifier) (*model.Model, *Report, error) {
	s, err := p.resolve(s)
	if err != nil {
		return nil, nil, err
	}
	groups, err := p.groups(&s)
	if err != nil {
		return nil, nil, err
	}
	whole := &solver.Classifier{Scheme: solver.OneVsRest, Classes: 1}
	if s.Type.Classifies() {
		whole.Scheme, whole.Classes = s.Scheme, len(p.corpus.Classes)
	}
	for i, part := range parts {
		if part == nil || part.Scheme != whole.Scheme || part.Classes != whole.Classes {
			return nil, nil, fmt.Errorf("svm: part %d must have %d classes and scheme %s", i, whole.Classes, whole.Scheme)
		}
		if whole.Functions == nil {
			whole.Functions = make([]*solver.DecisionFunction, len(part.Functions))
		}
		if len(part.Functions) != len(whole.Functions) {
			return nil, nil, fmt.Errorf("svm: part %d must have %d binary classifiers, got %d", i, len(whole.Functions),
				len(part.Functions))
		}
		for k, machine := range part.Functions {
			if machine == nil {
				continue
			}
			if whole.Functions[k] != nil {
				return nil, nil, fmt.Errorf("svm: binary classifier %d of part %d also occurs in another part", k, i)
			}
			if err := machine.Validate(p.Len()); err != nil {
				return nil, nil, fmt.Errorf("svm: binary classifier %d of part %d: %w", k, i, err)
			}
			whole.Functions[k] = machine
		}
		if part.Temperature != nil {
			whole.Temperature = part.Temperature
		}
		if part.Rejection != nil {
			whole.Rejection = part.Rejection
		}
		if part.Thresholds != nil {
			whole.Thresholds, whole.AtLeastOneLabel = part.Thresholds, part.AtLeastOneLabel
		}
	}
	for _, group := range groups {
		for _, k := range group {
			if k >= len(whole.Functions) || whole.Functions[k] == nil {
				return nil, nil, fmt.Errorf("svm: binary classifier %d is missing", k)
			}
		}
	}
	if err := whole.Validate(); err != nil {
		return nil, nil, fmt.Errorf("svm: the parts: %w", err)
	}
	report := &Report{Warnings: p.warningsBefore(&s), Thresholds: whole.Thresholds, Temperature: whole.Temperature,
		Rejection: whole.Rejection}
	out := p.model(whole, &s)
	report.addClassifiers(whole, out)
	report.Warnings = append(report.Warnings, p.warningsAfter(report)...)
	return out, report, nil
}
