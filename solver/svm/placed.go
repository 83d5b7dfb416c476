package svm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/solver"
)

// placed is a matrix where its rows are kept: in the machine's memory, or on the device, with the
// solver's scores.
type placed struct {
	matrix solver.Matrix
	board  func(docs []int, copies int) (solver.DeviceScores, error) // nil in the machine's memory
	close  func() error

	unplaced string // why it isn't on the device, where that is the place for it
}

// place returns the matrix of a kernel, in the order of f, where its problems are best solved; the
// other matrices of f aren't valid any more. The caller closes it. All folds and all parameters of
// the solver share the rows.
func (f *folded) place(ctx context.Context, k engine.Kernel) (*placed, error) {
	own, r, unplaced, err := f.p.resident(f.s, k)
	if err != nil {
		return nil, err
	}
	if r == nil {
		m, err := f.matrix(ctx, k)
		return &placed{matrix: m, close: func() error { return nil }, unplaced: unplaced}, err
	}
	rows, err := newDeviceRows(own, r, f.order)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &placed{matrix: rows, board: rows.newBoard, close: rows.close}, nil
}

// backend names the device that has the rows, "" where the machine has them.
func (m *placed) backend(p *Problem) string {
	if m.board == nil {
		return ""
	}
	return p.Engine().Backend()
}

// deviceRows is a matrix whose rows stay on a device, its documents in an order of their own. What
// is asked for of a row is brought from there; the row is computed if it isn't there.
type deviceRows struct {
	resident device.Resident
	order    []int
	diagonal []float32

	mu     sync.Mutex
	board  device.Board // of all documents, to read rows by
	places []int32      // what it is asked for, kept from call to call
	values []float32
	scores []float64 // which nobody looks at
}

// readRows is how many rows are brought at a time.
const readRows = 64

// newDeviceRows makes the matrix whose document i is order[i] of m. It belongs to it who closes it,
// and r with it.
func newDeviceRows(m *engine.Matrix, r device.Resident, order []int) (*deviceRows, error) {
	d := &deviceRows{resident: r, order: order, diagonal: pick(m.Diagonal(), order), scores: make([]float64, len(order))}
	var err error
	if d.board, err = r.Board(order, 1); err != nil {
		return nil, fmt.Errorf("svm: reading rows of the device: %w", err)
	}
	return d, nil
}

// newBoard makes a board for a problem on the rows.
func (d *deviceRows) newBoard(docs []int, copies int) (solver.DeviceScores, error) {
	return d.resident.Board(pick(d.order, docs), copies)
}

func (d *deviceRows) close() error { return errors.Join(d.board.Close(), d.resident.Close()) }

// Len returns the number of documents.
func (d *deviceRows) Len() int { return len(d.order) }

// Whole says whether the device has room for all rows.
func (d *deviceRows) Whole() bool { return d.resident.Rows() >= d.Len() }

// Diagonal returns the diagonal.
func (d *deviceRows) Diagonal() []float32 { return d.diagonal }

// Rows implements solver.Matrix.
func (d *deviceRows) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	width := 0
	d.places = d.places[:0]
	for _, c := range columns {
		for j := c[0]; j < c[1]; j++ {
			d.places = append(d.places, int32(j))
		}
		width += c[1] - c[0]
	}
	for some := range slices.Chunk(rows, min(readRows, d.resident.Rows())) {
		for _, i := range some {
			d.places = append(d.places, int32(i))
		}
		if need := len(some) * width; len(d.values) < need {
			d.values = make([]float32, need)
		}
		values := d.values[:len(some)*width]
		if _, err := d.board.Pick(ctx, d.places[width:], d.places[:width], values, d.scores); err != nil {
			return err
		}
		for r := range some {
			copy(dst[r], values[r*width:(r+1)*width])
		}
		d.places, dst = d.places[:width], dst[len(some):]
	}
	return nil
}
