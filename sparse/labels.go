package sparse

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
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

// Sets says which vectors of a corpus belong together, where what is to be compared are sets of
// points: each is one bag of vectors, with at most one class.
type Sets struct {
	Names   []string // of the sets, in the order of their first point
	Of      []int32  // Of[i] is the set of point i, an index into Names
	Class   []int32  // Class[s] is the class of set s, an index into Classes, or -1 for none
	Classes []string // in the order of their first point
}

// setTable collects sets.
type setTable struct {
	sets    Sets
	index   map[string]int32
	classes map[string]int32
	labels  []string // the class of each set as written
}

// add appends a point; class is empty where it has none. It returns the class that the points of
// its set had before where that is another one.
func (t *setTable) add(name, class string) (before string, ok bool) {
	id, seen := t.index[name]
	if !seen {
		if t.index == nil {
			t.index, t.classes = map[string]int32{}, map[string]int32{}
		}
		id = int32(len(t.sets.Names))
		t.index[name] = id
		t.sets.Names, t.labels = append(t.sets.Names, name), append(t.labels, class)
		at := int32(-1)
		if class != "" {
			if at, seen = t.classes[class]; !seen {
				at = int32(len(t.sets.Classes))
				t.classes[class] = at
				t.sets.Classes = append(t.sets.Classes, class)
			}
		}
		t.sets.Class = append(t.sets.Class, at)
	} else if t.labels[id] != class {
		return t.labels[id], false
	}
	t.sets.Of = append(t.sets.Of, id)
	return "", true
}

func orNone(class string) string {
	if class == "" {
		return "none"
	}
	return class
}

// label returns the class of document i; several are an error.
func (c *Corpus) label(i int) (string, error) {
	switch ids := c.Labels.Of(i); len(ids) {
	case 0:
		return "", nil
	case 1:
		return c.Classes[ids[0]], nil
	default:
		return "", fmt.Errorf("sparse: point %d of %s has %d classes, expected one at most", i+1, c.Source, len(ids))
	}
}

// SetsByGroup takes the vectors of one qid (see Options.Groups) for a set, of the class that their
// labels name: an error where these differ, or where there is no qid, and where [Corpus.Validate]
// has one.
func (c *Corpus) SetsByGroup() (*Sets, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if c.Groups == nil {
		return nil, fmt.Errorf("sparse: %s has no qid, which svmlight files alone have", c.Source)
	}
	var t setTable
	for i, group := range c.Groups {
		class, err := c.label(i)
		if err != nil {
			return nil, err
		}
		name := strconv.FormatInt(group, 10)
		if before, ok := t.add(name, class); !ok {
			return nil, fmt.Errorf(
				"sparse: point %d of %s, qid %s, has the class %s, expected that of the points before, %s",
				i+1,
				c.Source,
				name,
				orNone(class),
				orNone(before),
			)
		}
	}
	return &t.sets, nil
}

// SetsByLabel takes the vectors of one label for a set, which then has no class; every vector must
// have one label. An error of [Corpus.Validate] is one here, too.
func (c *Corpus) SetsByLabel() (*Sets, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	var t setTable
	for i := range c.Documents.Rows() {
		name, err := c.label(i)
		if err != nil {
			return nil, err
		}
		if name == "" {
			return nil, fmt.Errorf("sparse: point %d of %s has no label, expected one, the name of its set",
				i+1, c.Source)
		}
		t.add(name, "")
	}
	return &t.sets, nil
}

// ReadSets reads which of so many points belong to which set: a file with a line for each point, in
// their order,
//
//	set[<TAB>class]
//
// with names in UTF-8 of any kind, but not empty. All points of a set have the same class. The file
// may be gzipped. Of opt, MaxLineBytes counts, but the rest must be as [Read] takes it.
//
// Errors: a [*SyntaxError] for the first bad line, and where there are fewer lines or more than
// points; an error of the operating system, or ctx.Err().
func ReadSets(ctx context.Context, file string, points int, opt Options) (*Sets, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := opt.check(); err != nil {
		return nil, err
	}
	if points < 0 {
		return nil, fmt.Errorf("sparse: %s: sets of %d points, expected at least 0", file, points)
	}
	if opt.MaxLineBytes == 0 {
		opt.MaxLineBytes = defaultMaxLineBytes
	}
	m := startMeter(nil, nil)
	in, err := openInput(ctx, file, m, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err() // at the end of ctx the file is closed, which isn't what went wrong
		}
		return nil, err
	}
	defer in.close()
	defer context.AfterFunc(ctx, in.close)() // a pipe may block for ever
	s, err := in.sets(ctx, points, opt.MaxLineBytes)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return s, err
}

func (in *input) sets(ctx context.Context, points, maxLine int) (*Sets, error) {
	fail := func(found, expected string) error {
		return &SyntaxError{File: in.name, Line: in.line, Found: found, Expected: expected}
	}
	var t setTable
	for {
		if in.line%1024 == 0 {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
		}
		line, err := boundedLine(in.r, maxLine)
		switch {
		case err == bufio.ErrTooLong:
			return nil, lineTooLong(maxLine).at(in.name, in.line)
		case err == io.EOF:
			if len(t.sets.Of) < points {
				return nil, fail("the end of the file", fmt.Sprintf("%d lines, one a point", points))
			}
			return &t.sets, nil
		case err != nil:
			return nil, in.readError(in.line, err)
		case len(t.sets.Of) == points:
			return nil, fail("another line", fmt.Sprintf("%d lines, one a point", points))
		case !utf8.Valid(line):
			return nil, fail(quote(line)+" is not UTF-8", "UTF-8")
		}
		name, class, _ := bytes.Cut(line, []byte{'\t'})
		name, class = bytes.TrimSpace(name), bytes.TrimSpace(class)
		if len(name) == 0 {
			return nil, fail(quote(line), "set<TAB>class, or a set alone")
		}
		if before, ok := t.add(string(name), string(class)); !ok {
			return nil, fail(fmt.Sprintf("set %s with the class %s",
				quote(name), orNone(string(class))), "that of its points before, "+orNone(before))
		}
		in.line++
	}
}
