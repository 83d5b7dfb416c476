package model

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// decode makes the model of a header and the arrays behind it, whose sizes together are those that
// the header says.
func (h *header) decode(arrays []byte) (*Model, error) {
	m, err := h.model()
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	d := &decoder{arrays}
	if h.Vocabulary != nil {
		if m.Vocabulary, err = d.vocabulary(*h.Vocabulary); err != nil {
			return nil, damaged("vocabulary: %v", err)
		}
	}
	embedding, err := sparse.ParseEmbedding(h.Embedding)
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	fitted := sparse.Embedder{Embedding: embedding, Documents: int(h.Fitted), Open: h.Open, Terms: array[uint32](d, h.Terms), DF: array[int32](d, h.Terms)}
	if embedding.Weighting == sparse.TFIDF {
		fitted.Weights = array[float64](d, h.Terms)
	}
	if m.Embedder, err = sparse.RestoreEmbedder(fitted); err != nil {
		return nil, damaged("embedding: %v", err)
	}
	m.Support = &sparse.CSR{Cols: int(h.Columns), Offsets: array[int64](d, h.Vectors+1), Terms: array[uint32](d, h.Values), Values: array[float32](d, h.Values)}
	m.SupportDoc, m.SupportClass = array[int64](d, h.Vectors), array[int32](d, h.Vectors)
	if m.Classifier.Machines, err = d.machines(h.Machines, h.Coefficients); err != nil {
		return nil, damaged("machines: %v", err)
	}
	if err := m.Validate(); err != nil {
		return nil, damaged("%v", err)
	}
	return m, nil
}

// decoder takes values from the begin of bytes that are known to hold them.
type decoder struct{ b []byte }

func (d *decoder) bytes(n int64) []byte {
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// array takes the next n values.
func array[T uint32 | int32 | int64 | float32 | float64](d *decoder, n int64) []T {
	values := make([]T, n)
	used, err := binary.Decode(d.b, binary.LittleEndian, values)
	if err != nil {
		panic(err) // the caller has measured
	}
	d.b = d.b[used:]
	return values
}

// vocabulary takes lengths and texts; all terms share one string.
func (d *decoder) vocabulary(size vocabularySize) ([]string, error) {
	lengths := array[uint32](d, size.Terms)
	text := string(d.bytes(size.Bytes))
	terms := make([]string, len(lengths))
	for t, n := range lengths {
		if uint64(n) > uint64(len(text)) {
			return nil, fmt.Errorf("term %d has %d bytes, and %d are left of %d", t, n, len(text), size.Bytes)
		}
		terms[t], text = text[:n], text[n:]
	}
	if len(text) > 0 {
		return nil, fmt.Errorf("%d of %d bytes belong to no term", len(text), size.Bytes)
	}
	return terms, nil
}

// machines takes records and coefficients; all machines share two arrays.
func (d *decoder) machines(n, coefficients int64) ([]*solver.Machine, error) {
	machines := make([]*solver.Machine, n)
	sizes := make([]int64, n)
	left := coefficients
	for i := range machines {
		var r [recordBytes / 8]uint64
		for k := range r {
			r[k] = binary.LittleEndian.Uint64(d.bytes(8))
		}
		if r[1]&flagThere == 0 {
			if r != [len(r)]uint64{} {
				return nil, fmt.Errorf("machine %d isn't there, and its record isn't 0", i)
			}
			continue
		}
		if r[1]&^flagsKnown != 0 {
			return nil, fmt.Errorf("machine %d has flags %#x", i, r[1])
		}
		if r[0] > uint64(left) || r[5] > math.MaxInt || r[6] > math.MaxInt {
			return nil, fmt.Errorf("machine %d has %d coefficients, of which %d are left, %d iterations, %d coefficients at their bound", i, r[0], left, r[5], r[6])
		}
		m := &solver.Machine{
			Rho: math.Float64frombits(r[2]), Objective: math.Float64frombits(r[3]), Gap: math.Float64frombits(r[4]),
			Iterations: int(r[5]), Bounded: int(r[6]), Converged: r[1]&flagConverged != 0,
		}
		if r[1]&flagSigmoid != 0 {
			m.Sigmoid = &solver.Sigmoid{A: math.Float64frombits(r[7]), B: math.Float64frombits(r[8])}
		} else if r[7] != 0 || r[8] != 0 {
			return nil, fmt.Errorf("machine %d has no sigmoid, and its record says one", i)
		}
		machines[i], sizes[i] = m, int64(r[0])
		left -= sizes[i]
	}
	if left > 0 {
		return nil, fmt.Errorf("%d of %d coefficients belong to no machine", left, coefficients)
	}
	support := make([]int, coefficients)
	for i, s := range array[uint32](d, coefficients) {
		support[i] = int(s)
	}
	coef := array[float64](d, coefficients)
	for i, m := range machines {
		if m != nil {
			k := sizes[i]
			m.Support, support = support[:k:k], support[k:]
			m.Coef, coef = coef[:k:k], coef[k:]
		}
	}
	return machines, nil
}
