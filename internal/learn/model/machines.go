package model

import (
	"errors"
	"fmt"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
)

// entry is a machine in a file: a record, and its support vectors and coefficients among those of all machines.
// All of the record is 0 if the machine is missing.
type entry struct {
	size           int
	there, squeeze bool // squeeze: it has a sigmoid
	sigmoid        solver.Sigmoid
	solver.Machine
}

func (e *entry) record() archive.Record {
	return archive.Record{
		&e.size, archive.Flags{&e.there, &e.Converged, &e.squeeze}, &e.Rho, &e.Objective, &e.Gap, &e.Iterations,
		&e.Bounded, &e.sigmoid.A, &e.sigmoid.B,
	}
}

// machine returns the machine of an entry that was read, nil if it is missing.
func (e *entry) machine() (*solver.Machine, error) {
	if !e.there {
		for _, field := range e.record() {
			switch p := field.(type) {
			case *int:
				e.there = e.there || *p != 0
			case *float64:
				e.there = e.there || *p != 0
			}
		}
		if e.there || e.Converged || e.squeeze {
			return nil, errors.New("is missing, and its record isn't 0")
		}
		return nil, nil
	}
	if !e.squeeze && e.sigmoid != (solver.Sigmoid{}) {
		return nil, errors.New("has no sigmoid, and its record has one")
	}
	if e.squeeze {
		e.Sigmoid = &e.sigmoid
	}
	return &e.Machine, nil
}

// describeMachines describes n machines, some of which may be missing, and their coefficients. When they are read,
// all machines share two arrays.
func describeMachines(f *archive.File, machines *[]*solver.Machine, n, coefficients int) {
	var entries []*entry
	for _, m := range *machines {
		e := &entry{}
		if m != nil {
			e.size, e.there, e.Machine = len(m.Coef), true, *m
			if m.Sigmoid != nil {
				e.squeeze, e.sigmoid = true, *m.Sigmoid
			}
		}
		entries = append(entries, e)
	}
	archive.Records(f, "machines", n, func(i int) archive.Record {
		if i == len(entries) { // of a file that is read
			entries = append(entries, &entry{})
		}
		return entries[i].record()
	})
	f.Part("coefficients", 4, int64(coefficients), func(w *archive.Writer) {
		for _, e := range entries {
			support := make([]uint32, len(e.Support))
			for i, s := range e.Support {
				support[i] = uint32(s)
			}
			archive.Numbers(w, support)
		}
	}, func(b []byte) error {
		support := make([]int, coefficients)
		for i, s := range archive.Values[uint32](b) {
			support[i] = int(s)
		}
		for i, e := range entries[:n] {
			if e.size > len(support) {
				return fmt.Errorf("machine %d has %d coefficients, and %d are left of %d", i, e.size, len(support), coefficients)
			}
			if e.there {
				e.Support = support[:e.size:e.size]
			}
			support = support[e.size:]
		}
		if len(support) > 0 {
			return fmt.Errorf("%d of %d coefficients are not used by any machine", len(support), coefficients)
		}
		return nil
	})
	f.Part("coefficients", 8, int64(coefficients), func(w *archive.Writer) {
		for _, e := range entries {
			archive.Numbers(w, e.Coef)
		}
	}, func(b []byte) error {
		coef := archive.Values[float64](b)
		*machines = make([]*solver.Machine, n)
		for i, e := range entries[:n] {
			if e.there {
				e.Coef, coef = coef[:e.size:e.size], coef[e.size:]
			}
			var err error
			if (*machines)[i], err = e.machine(); err != nil {
				return fmt.Errorf("machine %d %w", i, err)
			}
		}
		return nil
	})
}
