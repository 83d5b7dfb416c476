package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/solver"
)

// Place says where trainings, validations and searches keep the rows of the matrix and the scores
// of their variables.
type Place int

const (
	// PlaceAuto is the processor; the device, for large problems whose rows it computes, when that is
	// measured to be faster.
	PlaceAuto Place = iota

	// PlaceProcessor is the machine's memory, whatever computes the rows.
	PlaceProcessor

	// PlaceDevice is the device. Where that is impossible, it is an error.
	PlaceDevice
)

// residentLeast is the number of documents from which on PlaceAuto takes the device: by counting some
// 4,096, since a round reads up to 256 rows once, n·1 KiB, for which a processor takes about 0.05 µs
// per document, and each of a round's five steps waits some tens of microseconds for a device. None
// has been measured: until then PlaceAuto takes the processor. A variable for the tests.
var residentLeast = math.MaxInt

// forDevice returns the matrix of a kernel whose problems are to be solved on the device, nil for
// the processor. Pairs of classes are small and share documents: they are better off in the matrix
// that the device computes as a whole. No device computes sets of points, and some other kernels.
func (p *Problem) forDevice(s *Settings, k engine.Kernel) (*engine.Matrix, error) {
	if p.opt.Place == PlaceProcessor {
		return nil, nil
	}
	must := p.opt.Place == PlaceDevice
	pairs := s.Type.Classifies() && s.Scheme == solver.OneVsOne && len(p.corpus.classes) > 2
	if !must && (pairs || p.Len() < residentLeast) {
		return nil, nil
	}
	if p.computed(k) {
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

// placed is a matrix where its rows are kept: in the machine's memory, or on the device, with the
// solver's scores.
type placed struct {
	matrix solver.Matrix
	scores func(docs []int, copies int) (solver.DeviceScores, error) // nil in the machine's memory
	close  func() error

	solvedOn string // the device, "" for the machine
	unplaced string // why it isn't on the device, where that is the place for it
}

// place returns the matrix of a kernel where its problems are best solved. Document i of it is
// order[i] of the problem; order nil is the problem's own order. The caller closes it. host makes
// the matrix in the machine's memory.
func (p *Problem) place(
	s *Settings, k engine.Kernel, order []int, host func() (solver.Matrix, func() error, error),
) (*placed, error) {
	own, err := p.forDevice(s, k)
	if err != nil {
		return nil, err
	}
	var r device.Resident
	out := &placed{}
	if own != nil {
		r, err = own.Resident()
		if err != nil && (p.opt.Place == PlaceDevice || !errors.Is(err, device.ErrMemory)) {
			return nil, err
		}
		if err != nil { // its memory doesn't hold a working set's rows
			out.unplaced = fmt.Sprintf("the solver works on the processor: %v", err)
		}
	}
	if own == nil || err != nil {
		out.matrix, out.close, err = host()
		return out, err
	}
	out.solvedOn, out.matrix, out.close = p.Engine().Backend(), own, r.Close
	out.scores = func(docs []int, copies int) (solver.DeviceScores, error) { return r.NewScores(docs, copies) }
	if order != nil {
		rows, err := newDeviceRows(own, r, order)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		out.matrix, out.scores, out.close = rows, rows.newScores, rows.close
	}
	return out, nil
}

// place returns the matrix of a kernel, in the order of f, where its problems are best solved. It
// makes the other matrices of f invalid. All folds and all parameters of the solver share the rows.
func (f *folded) place(ctx context.Context, k engine.Kernel) (*placed, error) {
	return f.p.place(f.s, k, f.order, func() (solver.Matrix, func() error, error) {
		m, err := f.matrix(ctx, k)
		return m, func() error { return nil }, err
	})
}

// deviceRows is a matrix whose rows stay on a device, its documents in an order of their own. Parts
// of rows that are asked for are computed there, if they aren't there, and read back.
type deviceRows struct {
	resident device.Resident
	order    []int
	diagonal []float32

	mu     sync.Mutex
	all    solver.DeviceScores // of all documents, to read rows by
	places []int32             // its arguments, kept from call to call
	values []float32
	scores []float64 // ignored
}

// readRows is how many rows are read at a time.
const readRows = 64

// newDeviceRows makes the matrix whose document i is order[i] of m. The caller must close it, which
// also closes r.
func newDeviceRows(m *engine.Matrix, r device.Resident, order []int) (*deviceRows, error) {
	d := &deviceRows{
		resident: r, order: order, diagonal: pick(m.Diagonal(), order), scores: make([]float64, len(order)),
	}
	var err error
	if d.all, err = r.NewScores(order, 1); err != nil {
		return nil, fmt.Errorf("svm: reading rows of the device: %w", err)
	}
	return d, nil
}

// newScores makes the scores of a problem.
func (d *deviceRows) newScores(docs []int, copies int) (solver.DeviceScores, error) {
	return d.resident.NewScores(pick(d.order, docs), copies)
}

func (d *deviceRows) close() error { return errors.Join(d.all.Close(), d.resident.Close()) }

// Len implements solver.Matrix.
func (d *deviceRows) Len() int { return len(d.order) }

// Whole says whether the device has room for all rows.
func (d *deviceRows) Whole() bool { return d.resident.Rows() >= d.Len() }

// Diagonal implements solver.Matrix.
func (d *deviceRows) Diagonal() []float32 { return d.diagonal }

// Rows implements solver.Matrix.
func (d *deviceRows) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.places = d.places[:0]
	for _, c := range columns {
		for j := c[0]; j < c[1]; j++ {
			d.places = append(d.places, int32(j))
		}
	}
	width := len(d.places)
	for some := range slices.Chunk(rows, min(readRows, d.resident.Rows())) {
		for _, i := range some {
			d.places = append(d.places, int32(i))
		}
		if need := len(some) * width; len(d.values) < need {
			d.values = make([]float32, need)
		}
		values := d.values[:len(some)*width]
		if _, err := d.all.Pick(ctx, d.places[width:], d.places[:width], values, d.scores); err != nil {
			return err
		}
		for r := range some {
			copy(dst[r], values[r*width:(r+1)*width])
		}
		d.places, dst = d.places[:width], dst[len(some):]
	}
	return nil
}
