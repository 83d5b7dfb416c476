package sparse

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// noLabel stands for no class where a format needs something to stand there.
const noLabel = "-"

// labelPiece holds the labels of the documents of one block, with a table of names of its own.
type labelPiece struct {
	// labels that are numbers are the same class however they are written, as svm-train takes them:
	// "+1" and "1.0" are "1"
	numbers bool

	names  []string
	index  map[string]int32
	ids    []int32
	counts []int32 // labels of each document
	last   string  // the field before, which is often the same again
	lastN  int
}

const labelExpected = `a label, several with commas between, or "-" for none`

// add appends a document whose label field is given: names with commas between.
func (p *labelPiece) add(field []byte) *lineError {
	if len(p.counts) > 0 && string(field) == p.last {
		p.ids = append(p.ids, p.ids[len(p.ids)-p.lastN:]...)
		p.counts = append(p.counts, int32(p.lastN))
		return nil
	}
	start := len(p.ids)
	if s := string(bytes.TrimSpace(field)); s != noLabel {
		if !utf8.ValidString(s) {
			return &lineError{found: "label " + quote(s) + " is not UTF-8", expected: "UTF-8"}
		}
		for name := range strings.SplitSeq(s, ",") {
			if name = strings.TrimSpace(name); name == "" || name == noLabel {
				p.ids = p.ids[:start]
				return &lineError{found: "label " + quote(s), expected: labelExpected}
			}
			if p.numbers {
				name = canonicalNumber(name)
			}
			id := p.id(name)
			for _, other := range p.ids[start:] {
				if other == id {
					p.ids = p.ids[:start]
					return &lineError{
						found:    "label " + quote(name) + " twice",
						expected: "every label of a document once",
					}
				}
			}
			p.ids = append(p.ids, id)
		}
	}
	p.last, p.lastN = string(field), len(p.ids)-start
	p.counts = append(p.counts, int32(p.lastN))
	return nil
}

// canonicalNumber returns the shortest form of a finite number, and any other name as it is.
func canonicalNumber(name string) string {
	v, err := strconv.ParseFloat(name, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return name
	}
	return strconv.FormatFloat(v+0, 'g', -1, 64) // + 0 turns -0 into 0
}

// addNone appends a document without a label.
func (p *labelPiece) addNone() {
	p.last, p.lastN = noLabel, 0
	p.counts = append(p.counts, 0)
}

// bytes is what the piece takes, and its part of the labels of the corpus.
func (p *labelPiece) bytes() int64 {
	const aName = 64 // in slices and maps, beside its text
	bytes := 4*int64(cap(p.ids)+cap(p.counts)) + 4*int64(len(p.ids)) + 8*int64(len(p.counts))
	for _, name := range p.names {
		bytes += aName + int64(len(name))
	}
	return bytes
}

func (p *labelPiece) id(name string) int32 {
	id, ok := p.index[name]
	if !ok {
		if p.index == nil {
			p.index = map[string]int32{}
		}
		id = int32(len(p.names))
		p.names = append(p.names, name)
		p.index[name] = id
	}
	return id
}

// classTable gathers labels of all documents; classes are numbered in the order in which they are
// met.
type classTable struct {
	classes []string
	index   map[string]int32
	labels  Labels
}

func newClassTable() *classTable {
	return &classTable{index: map[string]int32{}, labels: Labels{Offsets: []int64{0}}}
}

func (t *classTable) id(name string) int32 {
	id, ok := t.index[name]
	if !ok {
		id = int32(len(t.classes))
		t.classes = append(t.classes, name)
		t.index[name] = id
	}
	return id
}

// append adds the documents of a block; blocks come in the order of the file.
func (t *classTable) append(p *labelPiece) {
	ids := make([]int32, len(p.names))
	for i, name := range p.names {
		ids[i] = t.id(name)
	}
	for _, id := range p.ids {
		t.labels.IDs = append(t.labels.IDs, ids[id])
	}
	end := t.labels.Offsets[len(t.labels.Offsets)-1]
	for _, n := range p.counts {
		end += int64(n)
		t.labels.Offsets = append(t.labels.Offsets, end)
	}
}
