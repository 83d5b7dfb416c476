package model

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

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
	e := &encoder{ctx: ctx, w: w, hash: sha256.New()}
	e.text(magic + version + "\n")
	e.text(string(head))
	e.text("\n")

	lengths := make([]uint32, len(m.Vocabulary))
	for t, term := range m.Vocabulary {
		if int64(len(term)) > math.MaxUint32 {
			return fmt.Errorf("model: can't be written: term %d has %d bytes", t, len(term))
		}
		lengths[t] = uint32(len(term))
	}
	numbers(e, lengths)
	for _, term := range m.Vocabulary {
		e.text(term)
	}
	numbers(e, m.Embedder.Terms)
	numbers(e, m.Embedder.DF)
	numbers(e, m.Embedder.Weights)
	numbers(e, m.Support.Offsets)
	numbers(e, m.Support.Terms)
	numbers(e, m.Support.Values)
	numbers(e, m.SupportDoc)
	numbers(e, m.SupportClass)
	for _, machine := range m.Classifier.Machines {
		e.record(machine)
	}
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			support := make([]uint32, len(machine.Support))
			for i, s := range machine.Support {
				support[i] = uint32(s)
			}
			numbers(e, support)
		}
	}
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			numbers(e, machine.Coef)
		}
	}
	return e.close()
}

// encoder gathers bytes, hashes and writes them. After an error it does nothing.
type encoder struct {
	ctx  context.Context
	w    io.Writer
	hash hash.Hash
	buf  []byte
	err  error
}

const pieceBytes = 256 << 10

func (e *encoder) flush() {
	if e.err == nil {
		e.err = e.ctx.Err()
	}
	if e.err == nil {
		e.hash.Write(e.buf)
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

func (e *encoder) flushFull() {
	if len(e.buf) >= pieceBytes {
		e.flush()
	}
}

func (e *encoder) text(s string) {
	e.buf = append(e.buf, s...)
	e.flushFull()
}

// numbers writes the values of an array, none of them wider than 8 bytes.
func numbers[T uint32 | int32 | int64 | float32 | float64](e *encoder, values []T) {
	for len(values) > 0 && e.err == nil {
		n := min(len(values), pieceBytes/8)
		e.buf, e.err = binary.Append(e.buf, binary.LittleEndian, values[:n])
		values = values[n:]
		e.flushFull()
	}
}

// record writes the record of a machine, which may be nil.
func (e *encoder) record(m *solver.Machine) {
	var r record
	if m != nil {
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
	}
	if e.err == nil {
		e.buf, e.err = binary.Append(e.buf, binary.LittleEndian, &r)
	}
	e.flushFull()
}

// close writes what is left and the checksum.
func (e *encoder) close() error {
	e.flush()
	if e.err == nil {
		_, e.err = e.w.Write(e.hash.Sum(nil))
	}
	if e.err != nil {
		return fmt.Errorf("model: writing: %w", e.err)
	}
	return nil
}
