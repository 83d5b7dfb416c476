package model

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/solver"
)

// magic is the first line of a file, less the version and the line end.
const (
	magic   = "gram model "
	version = "1"
)

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
	head, err := json.Marshal(headerOf(m))
	if err != nil {
		return fmt.Errorf("model: header: %w", err)
	}
	hash := sha256.New()
	out := bufio.NewWriterSize(io.MultiWriter(hash, boundWriter{ctx, w}), pieceBytes)
	fmt.Fprintf(out, "%s%s\n%s\n", magic, version, head)

	lengths := make([]uint32, len(m.Vocabulary))
	for t, term := range m.Vocabulary {
		if int64(len(term)) > math.MaxUint32 {
			return fmt.Errorf("model: can't be written: term %d has %d bytes", t, len(term))
		}
		lengths[t] = uint32(len(term))
	}
	numbers(out, lengths)
	for _, term := range m.Vocabulary {
		out.WriteString(term)
	}
	numbers(out, m.Embedder.Terms)
	numbers(out, m.Embedder.DF)
	numbers(out, m.Embedder.Weights)
	numbers(out, m.Support.Offsets)
	numbers(out, m.Support.Terms)
	numbers(out, m.Support.Values)
	numbers(out, m.SupportDoc)
	numbers(out, m.SupportClass)
	for _, machine := range m.Classifier.Machines {
		binary.Write(out, binary.LittleEndian, recordOf(machine))
	}
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			support := make([]uint32, len(machine.Support))
			for i, s := range machine.Support {
				support[i] = uint32(s)
			}
			numbers(out, support)
		}
	}
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			numbers(out, machine.Coef)
		}
	}
	err = out.Flush() // which tells what went wrong before
	if err == nil {
		_, err = w.Write(hash.Sum(nil))
	}
	if err != nil {
		return fmt.Errorf("model: writing: %w", err)
	}
	return nil
}

// boundWriter writes no more after the end of ctx.
type boundWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (b boundWriter) Write(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.w.Write(p)
}

// pieceBytes is how much is written at a time.
const pieceBytes = 256 << 10

// numbers writes the values of an array. The writer keeps an error.
func numbers[T uint32 | int32 | int64 | float32 | float64](w *bufio.Writer, values []T) {
	for piece := range slices.Chunk(values, 2048) {
		b, _ := binary.Append(w.AvailableBuffer(), binary.LittleEndian, piece) // of a type that it knows
		w.Write(b)
	}
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
