package model

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gramengine/gram/learn/internal/archive"
	"github.com/gramengine/gram/solver"
)

// record is a machine without its support vectors and coefficients, as a file has it; all of it is 0
// where the machine isn't there.
type record struct {
	Coefficients, Flags uint64
	Rho, Objective, Gap float64
	Iterations, Bounded uint64
	Sigmoid             solver.Sigmoid
}

// recordBytes is the size of a record.
const recordBytes = 72

// Flags in the record of a machine.
const (
	flagThere = 1 << iota
	flagConverged
	flagSigmoid
	flagsKnown = flagThere | flagConverged | flagSigmoid
)

// describeMachines describes n machines, some of which may not be there, and their coefficients. When
// they are read, all machines share two arrays.
func describeMachines(f *archive.File, machines *[]*solver.Machine, n, coefficients int) {
	all := *machines
	var sizes []int
	each := func(do func(i int, m *solver.Machine)) {
		for i, m := range all {
			if m != nil {
				do(i, m)
			}
		}
	}
	f.Part("machines", recordBytes, int64(n), func(w *archive.Writer) {
		for _, m := range all {
			_ = binary.Write(w, binary.LittleEndian, recordOf(m)) // the writer keeps an error
		}
	}, func(b []byte) (err error) {
		all, sizes, err = takeMachines(b, coefficients)
		*machines = all
		return err
	})
	f.Part("coefficients", 4, int64(coefficients), func(w *archive.Writer) {
		each(func(_ int, m *solver.Machine) {
			support := make([]uint32, len(m.Support))
			for i, s := range m.Support {
				support[i] = uint32(s)
			}
			archive.Numbers(w, support)
		})
	}, func(b []byte) error {
		support := make([]int, coefficients)
		for i, s := range archive.Values[uint32](b) {
			support[i] = int(s)
		}
		each(func(i int, m *solver.Machine) { m.Support, support = support[:sizes[i]:sizes[i]], support[sizes[i]:] })
		return nil
	})
	f.Part("coefficients", 8, int64(coefficients), func(w *archive.Writer) {
		each(func(_ int, m *solver.Machine) { archive.Numbers(w, m.Coef) })
	}, func(b []byte) error {
		coef := archive.Values[float64](b)
		each(func(i int, m *solver.Machine) { m.Coef, coef = coef[:sizes[i]:sizes[i]], coef[sizes[i]:] })
		return nil
	})
}

// recordOf makes the record of a machine, which may be nil.
func recordOf(m *solver.Machine) (r record) {
	if m == nil {
		return r
	}
	r = record{
		Coefficients: uint64(len(m.Coef)), Flags: flagThere, Rho: m.Rho, Objective: m.Objective, Gap: m.Gap,
		Iterations: uint64(m.Iterations), Bounded: uint64(m.Bounded),
	}
	if m.Converged {
		r.Flags |= flagConverged
	}
	if m.Sigmoid != nil {
		r.Flags |= flagSigmoid
		r.Sigmoid = *m.Sigmoid
	}
	return r
}

// takeMachines takes records, and the coefficients that each machine has.
func takeMachines(b []byte, coefficients int) (machines []*solver.Machine, sizes []int, err error) {
	machines = make([]*solver.Machine, len(b)/recordBytes)
	sizes = make([]int, len(machines))
	left := coefficients
	for i := range machines {
		raw, r := b[i*recordBytes:][:recordBytes], record{}
		if _, err := binary.Decode(raw, binary.LittleEndian, &r); err != nil {
			panic(err) // it is as long
		}
		if r.Flags&flagThere == 0 {
			if len(bytes.Trim(raw, "\x00")) > 0 {
				return nil, nil, fmt.Errorf("machine %d isn't there, and its record isn't 0", i)
			}
			continue
		}
		if r.Flags&^flagsKnown != 0 {
			return nil, nil, fmt.Errorf("machine %d has flags %#x", i, r.Flags)
		}
		if r.Coefficients > uint64(left) || r.Iterations > math.MaxInt || r.Bounded > math.MaxInt {
			return nil, nil, fmt.Errorf(
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
			return nil, nil, fmt.Errorf("machine %d has no sigmoid, and its record says one", i)
		}
		machines[i], sizes[i] = m, int(r.Coefficients)
		left -= sizes[i]
	}
	if left > 0 {
		return nil, nil, fmt.Errorf("%d of %d coefficients are not used by any machine", left, coefficients)
	}
	return machines, sizes, nil
}
