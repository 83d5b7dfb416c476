package doors

import (
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// copied returns the same values in guarded memory.
func copied[T uint8 | uint16 | uint32 | int | int32 | int64 | float32 | float64](p *program, from []T) []T {
	to := guarded[T](p, len(from))
	copy(to, from)
	return to
}

// poisoned returns a guarded slice of NaN.
func poisoned(p *program, n int) []float32 {
	s := guarded[float32](p, n)
	for i := range s {
		s[i] = float32(math.NaN())
	}
	return s
}

func poisoned64(p *program, n int) []float64 {
	s := guarded[float64](p, n)
	for i := range s {
		s[i] = math.NaN()
	}
	return s
}

// matrix draws a valid CSR: no rows, one row, one column, empty rows, rows that are doubled, stored
// zeros, values of any size.
func (p *program) matrix() *sparse.CSR {
	rows := pick(p, 0, 1, 1, 2, 3, 5, 17, 33, 70)
	return p.matrixOf(rows, pick(p, 1, 1, 2, 5, 40, 300))
}

// documents is matrix with one row at least, and no extreme values.
func (p *program) documents() *sparse.CSR {
	return p.matrixOf(pick(p, 1, 2, 3, 7, 16, 33, 65, 130), pick(p, 1, 2, 9, 60, 300))
}

func (p *program) matrixOf(rows, cols int) *sparse.CSR {
	offsets := []int64{0}
	var terms []uint32
	var values []float32
	for i := range rows {
		switch {
		case p.chance(8): // no terms
		case i > 0 && p.chance(5): // an earlier row once more
			k := p.IntN(i)
			terms = append(terms, terms[offsets[k]:offsets[k+1]]...)
			values = append(values, values[offsets[k]:offsets[k+1]]...)
		default:
			for t := range cols {
				if p.IntN(cols) < 6 {
					terms = append(terms, uint32(t))
					values = append(values, float32(1+p.IntN(5)))
				}
			}
		}
		offsets = append(offsets, int64(len(terms)))
	}
	return &sparse.CSR{Cols: cols, Offsets: copied(p, offsets), Terms: copied(p, terms), Values: copied(p, values)}
}

// clone copies a matrix, so that it can be spoilt.
func clone(m *sparse.CSR) *sparse.CSR {
	return &sparse.CSR{Cols: m.Cols, Offsets: slices.Clone(m.Offsets), Terms: slices.Clone(m.Terms),
		Values: slices.Clone(m.Values)}
}

// broken draws a CSR that Validate refuses, and says why.
func (p *program) broken() (*sparse.CSR, string) {
	for {
		m := p.matrixOf(pick(p, 1, 2, 3, 9, 40), pick(p, 3, 9, 60))
		if len(m.Terms) < 4 {
			continue
		}
		m = clone(m)
		last := len(m.Offsets) - 1
		k := p.IntN(len(m.Terms))
		switch p.IntN(15) {
		case 0:
			m.Offsets = nil
			return m, "no offsets"
		case 1:
			m.Offsets[0] = int64(1 + p.IntN(3))
			return m, "first offset above 0"
		case 2:
			m.Offsets[0] = -1
			return m, "first offset below 0"
		case 3:
			m.Offsets[last]++
			return m, "last offset beyond the values"
		case 4:
			m.Offsets[last] = math.MaxInt64
			return m, "last offset 2⁶³-1"
		case 5:
			m.Offsets[last]--
			return m, "last offset before the end of the values"
		case 6:
			if last < 2 {
				continue
			}
			m.Offsets[1] = pick(p, int64(-1), math.MinInt64, m.Offsets[last]+1, math.MaxInt64)
			return m, "an offset out of order"
		case 7:
			m.Values = m.Values[:len(m.Values)-1]
			return m, "a value short"
		case 8:
			m.Terms = m.Terms[:len(m.Terms)-1]
			return m, "a term short"
		case 9:
			m.Terms[k] = pick(p, uint32(m.Cols), uint32(m.Cols)+1, math.MaxUint32)
			return m, "a term that is no column"
		case 10:
			m.Cols = pick(p, 0, -1, math.MinInt)
			return m, "no columns"
		case 11, 12:
			if i := p.longRow(m); i >= 0 {
				lo := m.Offsets[i]
				m.Terms[lo], m.Terms[lo+1] = m.Terms[lo+1], m.Terms[lo]
				return m, "unsorted terms"
			}
		case 13:
			if i := p.longRow(m); i >= 0 {
				m.Terms[m.Offsets[i]+1] = m.Terms[m.Offsets[i]]
				return m, "a term twice"
			}
		case 14:
			m.Values[k] = pick(p, float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)))
			return m, "a value that isn't finite"
		}
	}
}

// longRow returns a row of two values at least, or -1.
func (p *program) longRow(m *sparse.CSR) int {
	for _, i := range p.Perm(m.Rows()) {
		if m.Offsets[i+1]-m.Offsets[i] >= 2 {
			return i
		}
	}
	return -1
}

// corpus draws a valid corpus of documents, with labels of so many classes; some classes may have
// no document.
func (p *program) corpus(classes int) *sparse.Corpus {
	m := p.documents()
	c := &sparse.Corpus{Source: "drawn", Documents: m}
	for k := range classes {
		c.Classes = append(c.Classes, string(rune('a'+k)))
	}
	for range m.Rows() {
		if classes == 0 {
			c.Labels.Add()
		} else {
			c.Labels.Add(int32(p.IntN(classes)))
		}
	}
	return c
}

// brokenCorpus draws a corpus that can't be one, and says why.
func (p *program) brokenCorpus(classes int) (*sparse.Corpus, string) {
	c := p.corpus(classes)
	n := len(c.Labels.IDs)
	switch p.IntN(8) {
	case 0:
		c.Documents = nil
		return c, "no matrix"
	case 1:
		c.Labels.IDs[p.IntN(n)] = pick(p, int32(classes), math.MaxInt32)
		return c, "a class that there isn't"
	case 2:
		c.Labels.IDs[p.IntN(n)] = pick(p, int32(-1), math.MinInt32)
		return c, "a class below 0"
	case 3:
		c.Labels.Offsets = c.Labels.Offsets[:len(c.Labels.Offsets)-1]
		return c, "labels of one document too few"
	case 4:
		c.Labels.IDs = c.Labels.IDs[:n-1]
		return c, "an offset of labels beyond them"
	case 5:
		c.Labels.Offsets[0] = -1
		return c, "an offset of labels below 0"
	case 6:
		c.Labels.Add(0)
		return c, "labels of one document too many"
	default:
		m, why := p.broken()
		c.Documents = m
		c.Labels = sparse.Labels{}
		for range m.Rows() {
			c.Labels.Add(0)
		}
		return c, why
	}
}

// embeddings are those that all values suit that matrixOf draws.
func (p *program) embedding() sparse.Embedding {
	all := sparse.Embeddings()
	return all[p.IntN(len(all))]
}

// embedded embeds documents.
func (p *program) embedded(e sparse.Embedding, m *sparse.CSR) *sparse.Embedded {
	x, err := e.Fit(m).Transform(m)
	if err != nil {
		panic(err)
	}
	return x
}

// kernel draws a kernel of the catalogue, with everything filled in for documents of so many terms.
func (p *program) kernel() engine.Kernel {
	for {
		info := engine.Catalogue()
		examples := info[p.IntN(len(info))].Examples
		spec := examples[p.IntN(len(examples))]
		if !strings.Contains(spec, "hyperbolic") {
			return engine.MustParseKernel(spec)
		}
	}
}

// engineOf makes an engine on documents in the embedding of a kernel.
func (p *program) engineOf(k engine.Kernel) (*engine.Engine, *sparse.Embedded) {
	x := p.embedded(k.Embedding(), p.documents())
	e, err := engine.New(x, p.engineOptions())
	if err != nil {
		panic(err)
	}
	p.wait = append(p.wait, func() { e.Close() })
	return e, x
}

func (p *program) engineOptions() engine.Options {
	return engine.Options{
		ISA:       pick(p, append(isas(), "")...),
		Workers:   p.IntN(4),
		HeadTerms: pick(p, -1, 0, 1, 3, 1000),
	}
}

// numbers draws n integers, and sometimes one out of 0 … below-1; it says whether it did.
func (p *program) indices(n, below int) []int {
	s := guarded[int](p, n)
	for i := range s {
		s[i] = p.IntN(below)
	}
	return s
}

// outside draws an index that isn't from 0 to n-1.
func (p *program) outside(n int) int {
	return pick(p, -1, n, n+1, math.MinInt, math.MaxInt, math.MaxInt32+1)
}

// strange draws a number of any kind.
func (p *program) strange() float64 {
	return pick(p, math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, math.MaxFloat64, -math.MaxFloat64,
		math.SmallestNonzeroFloat64, 1e-300, 1e300, p.NormFloat64())
}

// odd draws an integer of any size.
func (p *program) odd() int {
	return pick(p, math.MinInt, -1<<40, -2, -1, 0, 1, 2, 3, 1000, math.MaxInt32, math.MaxInt32+1, math.MaxInt)
}
