package model

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
)

// form names the form of the files.
var form = archive.Form{Name: "gram model ", Version: "1"}

var errNothingGiven = errors.New("model: a nil context, reader or writer, expected one")

// Flags in the record of a machine.
const (
	flagThere = 1 << iota
	flagConverged
	flagSigmoid
	flagsKnown = flagThere | flagConverged | flagSigmoid
)

// Write writes the model in the project's own form, in pieces of 256 KiB. It writes nothing of a
// model that [Model.Validate] refuses. Other errors are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil {
		return errNothingGiven
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("model: can't be written: %w", err)
	}
	out, err := archive.NewWriter(ctx, w, form, headerOf(m))
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}
	archive.WriteVocabulary(out, m.Vocabulary)
	archive.WriteEmbedding(out, m.Embedder)
	archive.Numbers(out, m.Support.Offsets)
	archive.Numbers(out, m.Support.Terms)
	archive.Numbers(out, m.Support.Values)
	archive.Numbers(out, m.SupportDoc)
	archive.Numbers(out, m.SupportClass)
	for _, machine := range m.Classifier.Machines {
		binary.Write(out, binary.LittleEndian, recordOf(machine))
	}
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			support := make([]uint32, len(machine.Support))
			for i, s := range machine.Support {
				support[i] = uint32(s)
			}
			archive.Numbers(out, support)
		}
	}
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			archive.Numbers(out, machine.Coef)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("model: writing: %w", err)
	}
	return nil
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
