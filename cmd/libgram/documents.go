//go:build cgo

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/sparse"
)

// documents has the layout of gram_documents.
type documents struct {
	corpus       uintptr
	matrix       *matrix
	texts        *stringList
	table        *table
	terms        *stringList
	termOffsets  *int64
	documents    int64
	classes      *stringList
	labels       *int32
	labelOffsets *int64
	labelCount   int64
	targets      *float64
	targetCount  int64
	weights      *float64
	weightCount  int64
	groups       *int64
	groupCount   int64
}

// matrix has the layout of gram_matrix.
type matrix struct {
	rows, columns                    int64
	offsets, indices, values         unsafe.Pointer
	stored                           int64
	offsetBits, indexBits, valueBits int32
}

// check fails unless documents are given in exactly one form.
func (d *documents) check(what string) error {
	if d == nil {
		return fmt.Errorf("gram: NULL for the documents %s, expected some", what)
	}
	n := 0
	for _, there := range []bool{d.corpus != 0, d.matrix != nil, d.texts != nil, d.table != nil, d.terms != nil} {
		if there {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("gram: documents %s of %d kinds, expected one of corpus, matrix, texts, table and terms", what, n)
	}
	return nil
}

// corpusOf returns documents as a corpus with labels. It may share memory with the caller, except
// for terms. read holds the options for tokenising texts; what is the argument's name.
func (c *call) corpusOf(d *documents, what string, read gram.ReadOptions) (*corpus.Corpus, error) {
	if err := d.check(what); err != nil {
		return nil, err
	}
	if d.corpus != 0 {
		o, err := objectOf[*dataset](c, d.corpus)
		if err != nil {
			return nil, err
		}
		return d.grouped(o.Corpus)
	}
	out, err := c.unlabelled(d, read)
	if err != nil {
		return nil, err
	}
	if err := d.label(out); err != nil {
		return nil, err
	}
	return d.grouped(out)
}

// grouped returns the corpus with the groups of the documents, if there are any.
func (d *documents) grouped(c *corpus.Corpus) (*corpus.Corpus, error) {
	if d.groups == nil && d.groupCount == 0 {
		return c, nil
	}
	given, err := span[int64]{d.groups, d.groupCount}.exactly(int64(c.Documents.Rows()), "groups")
	out := *c
	out.Groups = slices.Clone(given)
	return &out, err
}

func (c *call) unlabelled(d *documents, read gram.ReadOptions) (*corpus.Corpus, error) {
	switch {
	case d.matrix != nil:
		m, err := d.matrix.csr()
		return &corpus.Corpus{Source: "the matrix", Documents: m}, err
	case d.texts != nil:
		texts, err := d.texts.list("texts")
		if err != nil {
			return nil, err
		}
		return gram.Texts(c.ctx, texts, nil, read)
	case d.table != nil:
		return d.table.corpus(c, read)
	}
	lists, err := d.lists()
	if err != nil {
		return nil, err
	}
	out, err := gram.Terms(lists, nil)
	if err != nil {
		return nil, err
	}
	for i, t := range out.Vocabulary {
		out.Vocabulary[i] = strings.Clone(t)
	}
	return out, nil
}

// lists returns the terms per document, in the caller's memory.
func (d *documents) lists() ([][]string, error) {
	terms, err := d.terms.list("terms")
	if err != nil {
		return nil, err
	}
	offsets, err := offsetsOf(d.termOffsets, d.documents, int64(len(terms)), "term_offsets")
	if err != nil {
		return nil, err
	}
	out := make([][]string, d.documents)
	for i := range out {
		out[i] = terms[offsets[i]:offsets[i+1]]
	}
	return out, nil
}

// offsetsOf checks and returns the offsets of n lists with the given total length.
func offsetsOf(data *int64, n, elements int64, what string) ([]int64, error) {
	if n < 0 || n == math.MaxInt64 {
		return nil, fmt.Errorf("gram: %s of %d documents, expected 0 or more", what, n)
	}
	offsets, err := span[int64]{data, n + 1}.slice(what)
	if err != nil {
		return nil, err
	}
	if offsets[0] != 0 || offsets[n] != elements || !slices.IsSorted(offsets) {
		return nil, fmt.Errorf("gram: %s from %d to %d, expected them to rise from 0 to %d", what, offsets[0], offsets[n],
			elements)
	}
	return offsets, nil
}

// csr returns the matrix after checking it. It shares the caller's memory if the types match.
func (m *matrix) csr() (*sparse.CSR, error) {
	switch {
	case m.rows < 0 || m.columns < 0 || m.rows >= math.MaxInt64/16:
		return nil, fmt.Errorf("gram: a matrix of %d rows and %d columns, expected 0 or more", m.rows, m.columns)
	case m.offsets == nil && m.indices != nil:
		return nil, errors.New("gram: a matrix of indices without offsets, expected both, or none where it is dense")
	}
	values, err := m.narrow()
	if err != nil {
		return nil, err
	}
	var out *sparse.CSR
	if m.offsets == nil {
		out, err = sparse.FromDense(int(m.rows), int(m.columns), values)
		return out, m.named(err)
	}
	out = &sparse.CSR{Cols: int(m.columns), Values: values}
	if out.Offsets, err = wide(m.offsets, m.rows+1, m.offsetBits); err != nil {
		return nil, err
	}
	if out.Terms, err = m.terms(); err != nil {
		return nil, err
	}
	return out, m.named(out.Validate())
}

// named rewrites an error in the terms of a matrix.
func (m *matrix) named(err error) error {
	var value *sparse.ValueError
	switch {
	case errors.As(err, &value):
		return fmt.Errorf("gram: row %d, column %d: found %v, expected %s", value.Row, value.Term,
			value.Value, value.Expected)
	case err != nil && m.indices != nil && m.indexBits == 32:
		for k, index := range unsafe.Slice((*int32)(m.indices), m.stored) {
			if index < 0 {
				return m.outside(int64(k), int64(index))
			}
		}
	}
	return err
}

func (m *matrix) outside(k, index int64) error {
	return fmt.Errorf("gram: index %d at %d, expected a column from 0 to %d", index, k, m.columns-1)
}

// bits returns the error for an unsupported width.
func bits(what string, found int32) error {
	return fmt.Errorf("gram: %s of %d bits, expected 32 or 64", what, found)
}

// wide returns offsets as int64.
func wide(data unsafe.Pointer, n int64, width int32) ([]int64, error) {
	switch width {
	case 32:
		narrow, err := span[int32]{(*int32)(data), n}.slice("offsets")
		out := make([]int64, len(narrow))
		for i, v := range narrow {
			out[i] = int64(v)
		}
		return out, err
	case 64:
		return span[int64]{(*int64)(data), n}.slice("offsets")
	}
	return nil, bits("offsets", width)
}

// terms returns the column indices as uint32.
func (m *matrix) terms() ([]uint32, error) {
	switch m.indexBits {
	case 32:
		return span[uint32]{(*uint32)(m.indices), m.stored}.slice("indices") // negative indices become large
	case 64:
		all, err := span[int64]{(*int64)(m.indices), m.stored}.slice("indices")
		out := make([]uint32, len(all))
		for k, t := range all {
			if t < 0 || t >= min(m.columns, 1<<32) {
				return nil, m.outside(int64(k), t)
			}
			out[k] = uint32(t)
		}
		return out, err
	}
	return nil, bits("indices", m.indexBits)
}

// narrow returns the values as float32.
func (m *matrix) narrow() ([]float32, error) {
	switch m.valueBits {
	case 32:
		return span[float32]{(*float32)(m.values), m.stored}.slice("values")
	case 64:
		all, err := span[float64]{(*float64)(m.values), m.stored}.slice("values")
		out := make([]float32, len(all))
		for k, v := range all {
			if out[k] = float32(v); math.IsInf(float64(out[k]), 0) && !math.IsInf(v, 0) {
				return nil, fmt.Errorf("gram: value %d: found %v, expected at most %.3g, which 32 bits hold", k, v,
					math.MaxFloat32)
			}
		}
		return out, err
	}
	return nil, bits("values", m.valueBits)
}

// label adds the labels or targets to a corpus.
func (d *documents) label(c *corpus.Corpus) error {
	n := int64(c.Documents.Rows())
	c.Labels, c.Classes = sparse.Labels{}, nil
	switch {
	case d.targets != nil || d.targetCount != 0:
		if d.classes != nil || d.labels != nil {
			return errors.New("gram: targets and labels, expected one of them")
		}
		targets, err := span[float64]{d.targets, d.targetCount}.exactly(n, "targets")
		if err != nil {
			return err
		}
		return labelNumbers(c, targets)
	case d.labels == nil && d.labelCount == 0 && d.classes == nil:
		return nil
	}
	names, err := d.classes.list("classes")
	if err != nil {
		return err
	}
	labels, err := span[int32]{d.labels, d.labelCount}.slice("labels")
	if err != nil {
		return err
	}
	var offsets []int64
	if d.labelOffsets != nil {
		offsets, err = offsetsOf(d.labelOffsets, n, d.labelCount, "label_offsets")
	} else if d.labelCount != n {
		err = fmt.Errorf("gram: labels: a length of %d, expected %d", d.labelCount, n)
	}
	if err != nil {
		return err
	}
	return labelClasses(c, names, labels, offsets)
}

// weighted returns a copy of the weights of n documents, or nil if there are none.
func (d *documents) weighted(n int) ([]float64, error) {
	if d.weights == nil && d.weightCount == 0 {
		return nil, nil
	}
	given, err := span[float64]{d.weights, d.weightCount}.exactly(int64(n), "weights")
	return slices.Clone(given), err
}

// labelClasses sets the labels of all documents. Classes without documents are left out.
func labelClasses(c *corpus.Corpus, names []string, labels []int32, offsets []int64) error {
	for k, id := range labels {
		if int(id) >= len(names) || id < 0 && offsets != nil {
			return fmt.Errorf("gram: label %d at %d, expected one of %d classes", id, k, len(names))
		}
	}
	for k, name := range names {
		if !utf8.ValidString(name) {
			return fmt.Errorf("gram: class %d, %q, isn't UTF-8", k, name)
		}
	}
	place, seen := make([]int32, len(names)), map[string]bool{}
	for _, id := range labels {
		if id >= 0 {
			place[id] = 1
		}
	}
	for id, there := range place {
		switch {
		case names[id] == "":
			return fmt.Errorf("gram: class %d has an empty name, which stands for no class", id)
		case seen[names[id]]:
			return fmt.Errorf("gram: class %d is %q, expected names that differ", id, names[id])
		case there == 1:
			place[id] = int32(len(c.Classes))
			c.Classes = append(c.Classes, strings.Clone(names[id]))
		}
		seen[names[id]] = true
	}
	for i := range c.Documents.Rows() {
		lo, hi := int64(i), int64(i)+1
		if offsets != nil {
			lo, hi = offsets[i], offsets[i+1]
		}
		var own []int32
		for _, id := range labels[lo:hi] {
			if id >= 0 {
				own = append(own, place[id])
			}
		}
		slices.Sort(own)
		c.Labels.Add(slices.Compact(own)...)
	}
	return nil
}

// labelNumbers makes each target a class name, the shortest text that parses back to it.
func labelNumbers(c *corpus.Corpus, targets []float64) error {
	place := map[float64]int32{}
	for i, v := range targets {
		if v-v != 0 {
			return fmt.Errorf("gram: target of row %d: found %v, expected a finite number", i, v)
		}
		at, ok := place[v]
		if !ok {
			at = int32(len(c.Classes))
			place[v], c.Classes = at, append(c.Classes, strconv.FormatFloat(v, 'g', -1, 64))
		}
		c.Labels.Add(at)
	}
	return nil
}
