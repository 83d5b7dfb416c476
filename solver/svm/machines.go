package svm

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
)

// Machines returns the numbers of the machines that a training has, in groups that don't depend on
// each other, see [solver.Training.Groups]: one-vs-one has a group for each pair of classes, and what
// can't be divided is one. It computes nothing of the matrix. Errors: those of [Problem.Train] about
// settings and labels.
func (p *Problem) Machines(s Settings) ([][]int, error) {
	s, err := p.withKernel(s).resolve()
	if err != nil {
		return nil, err
	}
	return p.groups(&s)
}

func (p *Problem) groups(s *Settings) ([][]int, error) {
	if err := p.suits(engine.Resolve(s.Kernel, p.Terms())); err != nil {
		return nil, err
	}
	if !s.Type.Classifies() {
		return [][]int{{0}}, nil
	}
	t, err := p.classes(s)
	if err != nil {
		return nil, err
	}
	return t.Groups(p.Len(), p.inMemory())
}

// inMemory says whether a training finds the rows of the matrix in memory, as [Problem.matrix]
// returns it.
func (p *Problem) inMemory() bool {
	return p.values != nil || p.opt.Once && p.opt.Store == nil && p.cached.Whole()
}

// TrainMachines is [Problem.Train] for some of its machines: whole groups of [Problem.Machines], in
// the same bits as all. Other machines of the result are nil, and rows of the matrix are those of the
// problem. [Problem.Assemble] makes a model when all machines are there.
//
// For machines of few classes it computes the rows of their documents alone, when they are asked for.
func (p *Problem) TrainMachines(ctx context.Context, s Settings, machines []int) (*solver.Classifier, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	s, err := p.withKernel(s).resolve()
	if err != nil {
		return nil, err
	}
	if len(machines) == 0 {
		return nil, errors.New("svm: no machines to train, expected some")
	}
	if !s.Type.Classifies() && (len(machines) > 1 || machines[0] != 0) {
		return nil, fmt.Errorf("svm: machines %v of type %s, expected the only one, 0", machines, s.Type)
	}
	rows, err := p.rowsFor(&s)
	if err != nil {
		return nil, err
	}
	return p.trainWith(ctx, engine.Resolve(s.Kernel, p.Terms()), &s, machines, rows, &Report{})
}

// few returns the matrix of a kernel for machines that look at few of the documents, whose rows are
// computed when they are asked for; nil where the whole matrix costs no more, or is there already.
func (p *Problem) few(k engine.Kernel, s *Settings, machines []int) (*engine.Matrix, error) {
	if machines == nil || !s.Type.Classifies() || s.Scheme != solver.OneVsOne || p.values != nil ||
		!p.cached.Whole() || p.Cache().Computed > 0 {
		return nil, nil
	}
	if _, sets := engine.HyperbolicOf(k); sets {
		return nil, nil
	}
	wanted := make(map[int]bool, len(machines))
	for _, i := range machines {
		wanted[i] = true
	}
	read := make([]bool, len(p.corpus.classes))
	for i, pair := range solver.Pairs(len(read)) {
		if wanted[i] {
			read[pair[0]], read[pair[1]] = true, true
		}
	}
	n, columns := int64(p.Len()), p.tileColumns()
	documents, last, covered := int64(0), -1, int64(0) // and columns of tiles that they stand in
	for i := range p.Len() {
		if ids := p.corpus.labels.Of(i); len(ids) > 0 && read[ids[0]] {
			if documents++; i/columns > last {
				last = i / columns
				covered += int64(columns)
			}
		}
	}
	tiles := documents * min(covered, n)
	bytes := 4*tiles + int64(p.Engine().Workers())<<18
	if tiles >= n*(n+1)/2 || bytes >= mappedBytes(n) {
		return nil, nil
	}
	c, err := p.Engine().Cached(engine.CachedOptions{CacheBytes: bytes, TileColumns: columns})
	if err != nil {
		return nil, err
	}
	return c.Matrix(k)
}

// Assemble makes the model of machines that [Problem.TrainMachines] trained with the same settings, on
// this problem or on others of the same corpus, and says of the machines what [Problem.Train] reports:
// the model is that of Train, to the bit. Errors: a machine that is missing or there twice, one of
// other documents, parts of another scheme, and those of Machines.
func (p *Problem) Assemble(s Settings, parts []*solver.Classifier) (*model.Model, *Report, error) {
	s, err := p.withKernel(s).resolve()
	if err != nil {
		return nil, nil, err
	}
	groups, err := p.groups(&s)
	if err != nil {
		return nil, nil, err
	}
	whole := &solver.Classifier{Scheme: solver.OneVsRest, Classes: 1}
	if s.Type.Classifies() {
		whole.Scheme, whole.Classes = s.Scheme, len(p.corpus.classes)
	}
	for i, part := range parts {
		if part == nil || part.Scheme != whole.Scheme || part.Classes != whole.Classes {
			return nil, nil, fmt.Errorf("svm: part %d isn't one of a training of %d classes, %s", i, whole.Classes,
				whole.Scheme)
		}
		if whole.Machines == nil {
			whole.Machines = make([]*solver.Machine, len(part.Machines))
		}
		if len(part.Machines) != len(whole.Machines) {
			return nil, nil, fmt.Errorf("svm: part %d has %d machines, expected %d", i, len(part.Machines),
				len(whole.Machines))
		}
		for k, machine := range part.Machines {
			if machine == nil {
				continue
			}
			if whole.Machines[k] != nil {
				return nil, nil, fmt.Errorf("svm: machine %d is there twice, in part %d again", k, i)
			}
			if err := machine.Validate(p.Len()); err != nil {
				return nil, nil, fmt.Errorf("svm: machine %d of part %d: %w", k, i, err)
			}
			whole.Machines[k] = machine
		}
		if part.Thresholds != nil {
			whole.Thresholds, whole.AtLeastOne = part.Thresholds, part.AtLeastOne
		}
	}
	for _, group := range groups {
		for _, k := range group {
			if k >= len(whole.Machines) || whole.Machines[k] == nil {
				return nil, nil, fmt.Errorf("svm: machine %d is missing", k)
			}
		}
	}
	if err := whole.Validate(); err != nil {
		return nil, nil, fmt.Errorf("svm: the parts: %w", err)
	}
	report := &Report{Warnings: p.before(&s), Thresholds: whole.Thresholds}
	out := p.model(whole, &s)
	report.count(whole, out)
	report.Warnings = append(report.Warnings, p.after(report)...)
	return out, report, nil
}
