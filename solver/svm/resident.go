package svm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/solver"
)

// Place says where trainings, validations and searches keep the rows of the matrix and the scores
// of their variables.
type Place int

const (
	// PlaceAuto is the device for large problems whose rows it computes, as far as its memory holds
	// what they take, otherwise the processor, which also has the pairs of more than two classes.
	PlaceAuto Place = iota

	// PlaceProcessor is the machine's memory, whatever computes the rows.
	PlaceProcessor

	// PlaceDevice is the device; where it can't be, that is an error.
	PlaceDevice
)

// residentLeast is the number of documents from which on a problem is worth a place on the device.
// On either side a round reads the rows that moved once, up to 256 of them: n·1 KiB, which a
// processor does in about 0.05 µs a document from its memory. On the device that takes next to
// nothing, but each of a round's five steps, all of which the search waits for, costs some tens of
// microseconds: as much as some thousand documents. Reckoned, not measured; a variable for the
// tests.
var residentLeast = 4096

// forDevice returns the matrix of a kernel whose problems are to be solved on the device, nil where
// they are to be on the processor: problems of two classes out of several, which are small, share
// documents, and have a better place in the matrix that the device computes as a whole; those of
// sets of points, and of kernels that no device computes.
func (p *Problem) forDevice(s *Settings, k engine.Kernel) (*engine.Matrix, error) {
	if p.opt.Place == PlaceProcessor {
		return nil, nil
	}
	must := p.opt.Place == PlaceDevice
	pairs := s.Type.Classifies() && s.Scheme == solver.OneVsOne && len(p.corpus.classes) > 2
	if !must && (pairs || p.Len() < residentLeast) {
		return nil, nil
	}
	if _, sets := engine.HyperbolicOf(k); !sets {
		m, err := p.cached.Matrix(k)
		if err != nil {
			return nil, err
		}
		if there, err := m.OnDevice(); there || err != nil {
			return m, err
		}
	}
	if must {
		return nil, fmt.Errorf("svm: no device that computes the kernel %s for the solver", k)
	}
	return nil, nil
}

// onMachine says whether problems of any of the kernels are to be solved on the processor.
func (p *Problem) onMachine(s *Settings, kernels ...engine.Kernel) (bool, error) {
	some := false
	for _, k := range kernels {
		m, err := p.forDevice(s, k)
		if err != nil {
			return false, err
		}
		some = some || m == nil
	}
	return some, nil
}

// resident is a place on the device, nil where the problems of a kernel are to be solved on the
// processor.
//
// Where a device's memory doesn't hold a working set's rows, unplaced says so.
func (p *Problem) resident(s *Settings, k engine.Kernel) (m *engine.Matrix, r device.Resident, unplaced string, err error) {
	if m, err = p.forDevice(s, k); m == nil || err != nil {
		return nil, nil, "", err
	}
	r, err = m.Resident()
	if p.opt.Place != PlaceDevice && errors.Is(err, device.ErrMemory) {
		return nil, nil, fmt.Sprintf("the solver works on the processor: %v", err), nil
	}
	return m, r, "", err
}

// trainWith trains the machines on the device where that is the place for it, otherwise on a matrix
// that is computed first where it fits into memory.
func (p *Problem) trainWith(ctx context.Context, k engine.Kernel, s *Settings, rows int64, report *Report) (c *solver.Classifier, err error) {
	own, r, unplaced, err := p.resident(s, k)
	if err != nil {
		return nil, err
	}
	if report.Unplaced = unplaced; unplaced != "" {
		report.Warnings = append(report.Warnings, unplaced)
	}
	begin := time.Now()
	var m solver.Matrix = own
	opt := p.solverOptions(s)
	opt.RowBytes = rows
	if r == nil {
		if m, err = p.matrix(ctx, k); err != nil {
			return nil, err
		}
		if ready, ok := m.(*engine.Ready); ok {
			defer ready.Close() // the next training has its room
		}
		report.Gram = time.Since(begin)
	} else {
		defer func() { err = errors.Join(err, r.Close()) }()
		report.SolvedOn = p.Engine().Backend()
		opt.DeviceScores = func(docs []int, copies int) (solver.DeviceScores, error) { return r.Board(docs, copies) }
	}
	begin = time.Now()
	p.training.Store(true)
	defer p.training.Store(false)
	c, err = p.classifier(ctx, m, s, opt)
	report.Solve = time.Since(begin)
	return c, err
}
