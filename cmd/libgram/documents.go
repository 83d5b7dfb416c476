//go:build cgo

package main

import (
	"cmp"
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

// check fails unless exactly one representation of the documents is set.
func (d *documents) check(what string) error {
	if d == nil {
		return fmt.Errorf("gram: documents %s must not be NULL", what)
	}
	n := 0
	for _, there := range []bool{d.corpus != 0, d.matrix != nil, d.texts != nil, d.table != nil, d.terms != nil} {
		if there {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("gram: documents %s must set exactly one of corpus, matrix, texts, table and terms, got %d",
			what, n)
	}
	return nil
}

// corpusOf converts documents to a corpus with labels. The corpus may share memory with the caller.
// Texts are tokenised with the options in read. what names the documents in errors.
func (c *call) corpusOf(d *documents, what string, read gram.ReadOptions) (*corpus.Corpus, error) {
	if err := d.check(what); err != nil {
		return nil, err
	}
	out, err := c.unlabelled(d, what, read)
	if err == nil && d.corpus == 0 {
		err = d.setLabels(out)
	}
	if err == nil && (d.groups != nil || d.groupCount != 0) {
		groups, wrong := span[int64]{d.groups, d.groupCount}.sliceN(int64(out.Documents.Rows()), "groups")
		out.Groups, err = slices.Clone(groups), wrong
	}
	return out, err
}

func (c *call) unlabelled(d *documents, what string, read gram.ReadOptions) (*corpus.Corpus, error) {
	switch {
	case d.corpus != 0:
		o, err := objectOf[*dataset](c, d.corpus)
		if err != nil {
			return nil, err
		}
		own := *o.Corpus
		return &own, nil
	case d.matrix != nil:
		m, err := d.matrix.csr()
		return &corpus.Corpus{Source: "the matrix " + what, Documents: m}, err
	case d.texts != nil:
		texts, err := d.texts.list("texts")
		if err != nil {
			return nil, err
		}
		return gram.FromTexts(c.ctx, texts, nil, read)
	case d.table != nil:
		return d.table.corpus(c, read)
	}
	lists, err := d.termLists()
	if err != nil {
		return nil, err
	}
	out, err := gram.FromTerms(lists, nil)
	if err != nil {
		return nil, err
	}
	for i, t := range out.Vocabulary {
		out.Vocabulary[i] = strings.Clone(t)
	}
	return out, nil
}

// termLists returns the terms of each document, without copying the caller's memory.
func (d *documents) termLists() ([][]string, error) {
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

// offsetsOf returns the offsets of n lists. It fails unless the offsets are nondecreasing from 0 to
// elements.
func offsetsOf(data *int64, n, elements int64, what string) ([]int64, error) {
	if n < 0 || n == math.MaxInt64 {
		return nil, fmt.Errorf("gram: number of documents for %s must not be negative, got %d", what, n)
	}
	offsets, err := span[int64]{data, n + 1}.slice(what)
	if err != nil {
		return nil, err
	}
	if offsets[0] != 0 || offsets[n] != elements || !slices.IsSorted(offsets) {
		return nil, fmt.Errorf("gram: %s must increase from 0 to %d, got %d to %d", what, elements, offsets[0], offsets[n])
	}
	return offsets, nil
}

// csr converts the matrix to CSR format, and checks it. The result shares the caller's memory if
// the element types match.
func (m *matrix) csr() (*sparse.CSR, error) {
	switch {
	case m.rows < 0 || m.columns < 0 || m.rows >= math.MaxInt64/16:
		return nil, fmt.Errorf("gram: invalid matrix size: %d rows and %d columns", m.rows, m.columns)
	case m.offsets == nil && m.indices != nil:
		return nil, errors.New("gram: a matrix with indices requires offsets; a dense matrix has neither")
	}
	values, err := numbersOf[float32, float32, float64](m.values, m.stored, m.valueBits, "values")
	if err != nil {
		return nil, err
	}
	if m.offsets == nil {
		out, err := sparse.FromDense(int(m.rows), int(m.columns), values)
		return out, m.addPosition(err)
	}
	out := &sparse.CSR{Cols: int(m.columns), Values: values}
	if out.Offsets, err = numbersOf[int64, int32, int64](m.offsets, m.rows+1, m.offsetBits, "offsets"); err != nil {
		return nil, err
	}
	if out.Terms, err = numbersOf[uint32, uint32, int64](m.indices, m.stored, m.indexBits, "indices"); err != nil {
		return nil, err
	}
	if m.indexBits == 64 {
		err = checkIndices(unsafe.Slice((*int64)(m.indices), m.stored), m.columns)
	}
	if err == nil {
		err = m.addPosition(out.Validate())
	}
	if err != nil && m.indexBits == 32 {
		err = cmp.Or(checkIndices(unsafe.Slice((*int32)(m.indices), m.stored), m.columns), err)
	}
	return out, err
}

// checkIndices returns an error for the first index that isn't in [0, columns).
func checkIndices[T int32 | int64](indices []T, columns int64) error {
	for k, index := range indices {
		if index < 0 || int64(index) >= columns {
			return fmt.Errorf("gram: indices[%d] must be a column in [0, %d], got %d", k, columns-1, index)
		}
	}
	return nil
}

// addPosition adds the row and column to an error about a matrix element.
func (m *matrix) addPosition(err error) error {
	var value *sparse.ValueError
	if !errors.As(err, &value) {
		return err
	}
	if m.valueBits == 64 && math.IsInf(float64(value.Value), 0) {
		value.Expected = fmt.Sprintf("at most %.3g to fit in float32", math.MaxFloat32)
	}
	return fmt.Errorf("gram: row %d, column %d: value must be %s, got %v", value.Row, value.Term, value.Expected,
		value.Value)
}

// number is the constraint for the elements of numeric arrays.
type number interface {
	int | int32 | int64 | uint32 | float32 | float64
}

// convert returns the numbers converted to type T. If S is T, it returns the same slice.
func convert[T, S number](all []S) []T {
	if same, ok := any(all).([]T); ok {
		return same
	}
	out := make([]T, len(all))
	for i, v := range all {
		out[i] = T(v)
	}
	return out
}

// numbersOf converts n numbers to T. data points to type A if bits is 32, or to B if bits is 64.
func numbersOf[T, A, B number](data unsafe.Pointer, n int64, bits int32, what string) ([]T, error) {
	switch bits {
	case 32:
		all, err := span[A]{(*A)(data), n}.slice(what)
		return convert[T](all), err
	case 64:
		all, err := span[B]{(*B)(data), n}.slice(what)
		return convert[T](all), err
	}
	return nil, fmt.Errorf("gram: %s must have 32 or 64 bits, got %d", what, bits)
}

func (d *documents) setLabels(c *corpus.Corpus) error {
	n := int64(c.Documents.Rows())
	c.Labels, c.Classes = sparse.Labels{}, nil
	if d.targets != nil || d.targetCount != 0 {
		if d.classes != nil || d.labels != nil {
			return errors.New("gram: targets and labels cannot be combined")
		}
		targets, err := span[float64]{d.targets, d.targetCount}.sliceN(n, "targets")
		if err != nil {
			return err
		}
		return labelNumbers(c, targets)
	}
	if d.labels == nil && d.labelCount == 0 && d.classes == nil {
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
		err = fmt.Errorf("gram: labels must have length %d, got %d", n, d.labelCount)
	}
	if err != nil {
		return err
	}
	return labelClasses(c, names, labels, offsets)
}

// labelClasses sets the labels of all documents. It omits classes without documents. If offsets is
// nil, each document has one label, or none if the label is negative.
func labelClasses(c *corpus.Corpus, names []string, labels []int32, offsets []int64) error {
	used, seen := make([]bool, len(names)), map[string]bool{}
	for k, id := range labels {
		if int(id) >= len(names) || id < 0 && offsets != nil {
			return fmt.Errorf("gram: labels[%d] is %d, but there are only %d classes", k, id, len(names))
		}
		if id >= 0 {
			used[id] = true
		}
	}
	place := make([]int32, len(names))
	for id, name := range names {
		switch {
		case !utf8.ValidString(name):
			return fmt.Errorf("gram: the name of class %d, %q, is not valid UTF-8", id, name)
		case name == "":
			return fmt.Errorf("gram: the name of class %d is empty", id)
		case seen[name]:
			return fmt.Errorf("gram: class names must be unique, but class %d repeats %q", id, name)
		case used[id]:
			place[id] = int32(len(c.Classes))
			c.Classes = append(c.Classes, strings.Clone(name))
		}
		seen[name] = true
	}
	for i := range c.Documents.Rows() {
		own := labels[i : i+1]
		if offsets != nil {
			own = labels[offsets[i]:offsets[i+1]]
		}
		var ids []int32
		for _, id := range own {
			if id >= 0 {
				ids = append(ids, place[id])
			}
		}
		slices.Sort(ids)
		c.Labels.Add(slices.Compact(ids)...)
	}
	return nil
}

// labelNumbers labels documents with targets. Each label is the shortest decimal number that parses
// to the target.
func labelNumbers(c *corpus.Corpus, targets []float64) error {
	place := map[float64]int32{}
	for i, v := range targets {
		if v-v != 0 {
			return fmt.Errorf("gram: target of row %d must be finite, got %v", i, v)
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
