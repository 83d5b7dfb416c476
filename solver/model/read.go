package model

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

// ErrDamaged is wrapped by the errors of [Read] for a file that was changed, isn't complete, or
// never was a model.
var ErrDamaged = archive.ErrDamaged

// VersionError says that a file is of a version that this program doesn't know.
type VersionError = archive.VersionError

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r: anything after the model is an error.
//
// Memory: the bytes of the file, a little more for each machine, and on a processor that stores the
// highest byte first as much again. A file that claims to be larger than it is makes Read allocate no
// more than what is there.
//
// Errors: a *[VersionError], one that wraps [ErrDamaged] and says which part is damaged, those of
// r, and ctx.Err() within a second of cancellation, unless r blocks.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errNothingGiven
	}
	m, err := archive.Read(ctx, r, -1, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// Take implements archive.Header.
func (h *header) Take(m *Model, d *archive.Arrays) (err error) {
	if m.Vocabulary, err = h.TakeVocabulary(d); err != nil {
		return err
	}
	if m.Embedder, err = h.TakeEmbedding(d); err != nil {
		return err
	}
	m.Support = &sparse.CSR{
		Cols: int(h.Columns), Offsets: archive.Array[int64](d, h.Vectors+1), Terms: archive.Array[uint32](d, h.Values),
		Values: archive.Array[float32](d, h.Values),
	}
	m.SupportDoc, m.SupportClass = archive.Array[int64](d, h.Vectors), archive.Array[int32](d, h.Vectors)
	if m.Classifier.Machines, err = takeMachines(d, h.Machines, h.Coefficients); err != nil {
		return fmt.Errorf("machines: %w", err)
	}
	return m.Validate()
}

// takeMachines takes records and coefficients; all machines share two arrays.
func takeMachines(d *archive.Arrays, n, coefficients int64) ([]*solver.Machine, error) {
	machines := make([]*solver.Machine, n)
	sizes := make([]int64, n)
	left := coefficients
	for i := range machines {
		raw, r := d.Bytes(recordBytes), record{}
		if _, err := binary.Decode(raw, binary.LittleEndian, &r); err != nil {
			panic(err) // the caller has measured
		}
		if r.Flags&flagThere == 0 {
			if len(bytes.Trim(raw, "\x00")) > 0 {
				return nil, fmt.Errorf("machine %d isn't there, and its record isn't 0", i)
			}
			continue
		}
		if r.Flags&^flagsKnown != 0 {
			return nil, fmt.Errorf("machine %d has flags %#x", i, r.Flags)
		}
		if r.Coefficients > uint64(left) || r.Iterations > math.MaxInt || r.Bounded > math.MaxInt {
			return nil, fmt.Errorf(
				"machine %d has %d coefficients, of which %d are left, %d iterations, %d coefficients at their bound",
				i, r.Coefficients, left, r.Iterations, r.Bounded,
			)
		}
		m := &solver.Machine{
			Rho: r.Rho, Objective: r.Objective, Gap: r.Gap, Iterations: int(r.Iterations), Bounded: int(r.Bounded),
			Converged: r.Flags&flagConverged != 0,
		}
		if r.Flags&flagSigmoid != 0 {
			m.Sigmoid = &r.Sigmoid
		} else if math.Float64bits(r.Sigmoid.A)|math.Float64bits(r.Sigmoid.B) != 0 {
			return nil, fmt.Errorf("machine %d has no sigmoid, and its record says one", i)
		}
		machines[i], sizes[i] = m, int64(r.Coefficients)
		left -= sizes[i]
	}
	if left > 0 {
		return nil, fmt.Errorf("%d of %d coefficients belong to no machine", left, coefficients)
	}
	support := make([]int, coefficients)
	for i, s := range archive.Array[uint32](d, coefficients) {
		support[i] = int(s)
	}
	coef := archive.Array[float64](d, coefficients)
	for i, m := range machines {
		if m != nil {
			k := sizes[i]
			m.Support, support = support[:k:k], support[k:]
			m.Coef, coef = coef[:k:k], coef[k:]
		}
	}
	return machines, nil
}
