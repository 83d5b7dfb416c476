package corpus

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/sparse"
)

// noLabel means "no class" in formats that require a value.
const noLabel = "-"

// nameTable assigns IDs to distinct names in order of occurrence.
type nameTable struct {
	list  []string
	index map[string]int32
}

func (t *nameTable) id(name string) int32 {
	id, known := t.index[name]
	if !known {
		if t.index == nil {
			t.index = map[string]int32{}
		}
		id = int32(len(t.list))
		t.list = append(t.list, name)
		t.index[name] = id
	}
	return id
}

// parsedLabels holds the labels of the documents in one block, and a table of the labels' names.
type parsedLabels struct {
	numeric bool // true if numbers are compared by value, as in svm-train: "+1" and "1.0" equal "1"

	separator    string // separator of labels; "" for a comma
	multiLabel   bool   // true if at least one field has several labels
	commaExample string // first field with a comma and a space, which may be part of a name
	memory       *allowance

	nameTable
	lastIndex []int // index in ids of the last occurrence of each name
	ids       []int32
	counts    []int32 // number of labels of each document
}

const expectedLabel = `a label, several with commas between, or "-" for none`

func (p *parsedLabels) add(field []byte) *SyntaxError {
	start := len(p.ids)
	separator := []byte(cmp.Or(p.separator, ","))
	if id, known := p.index[string(field)]; known && !bytes.Contains(field, separator) {
		p.lastIndex[id] = start
		p.ids = append(p.ids, id)
		p.endDocument(start)
		return nil
	}
	if !p.memory.canAllocate(nameBytes * int64(1+bytes.Count(field, separator))) {
		p.addUnlabelled() // the memory limit is exceeded, so the block will be discarded
		return nil
	}
	if s := bytes.TrimSpace(field); string(s) != noLabel {
		if !utf8.Valid(s) {
			return invalidNameError(s)
		}
		if p.separator == "" && p.commaExample == "" && bytes.Contains(s, []byte(", ")) {
			p.commaExample = quote(s)
		}
		for name := range bytes.SplitSeq(s, separator) {
			if name = bytes.TrimSpace(name); len(name) == 0 || string(name) == noLabel {
				return newSyntaxError("label "+quote(s), expectedLabel)
			}
			if p.numeric {
				if v, err := strconv.ParseFloat(string(name), 64); err == nil && v-v != 0 {
					return newSyntaxError("label "+quote(name), "a name or a finite number")
				}
				name = []byte(canonicalNumber(string(name)))
			}
			if bad := p.addLabel(name, start); bad != nil {
				return bad
			}
		}
	}
	p.multiLabel = p.multiLabel || len(p.ids)-start > 1
	p.endDocument(start)
	return nil
}

func invalidNameError(name []byte) *SyntaxError {
	return newSyntaxError("label "+quote(name)+" is not UTF-8", "UTF-8").
		withOption("Encoding", "sets the encoding, such as windows-1252")
}

func (o *Options) newParsedLabels(numeric bool) parsedLabels {
	p := parsedLabels{numeric: numeric, separator: o.LabelSeparator, memory: o.memory}
	if p.separator == "none" {
		p.separator = "\xff" // a byte that UTF-8 never contains
	}
	return p
}

// addLabel adds a label to the document whose labels start at index start.
func (p *parsedLabels) addLabel(name []byte, start int) *SyntaxError {
	id, known := p.index[string(name)] // the lookup doesn't copy the name
	if !known {
		if id = p.id(oneLine(string(name))); int(id) == len(p.lastIndex) {
			p.lastIndex = append(p.lastIndex, -1)
		}
	}
	if at := p.lastIndex[id]; at >= start && at < len(p.ids) && p.ids[at] == id {
		return newSyntaxError("duplicate label "+quote(name), "distinct labels in each document")
	}
	p.lastIndex[id] = len(p.ids)
	p.ids = append(p.ids, id)
	return nil
}

// oneLine replaces each run of white space by a space if the name contains a line break or a TAB,
// because prediction files have one label per line.
func oneLine(name string) string {
	if !strings.ContainsAny(name, "\t\n\v\f\r\u0085\u2028\u2029") {
		return name
	}
	return strings.Join(strings.Fields(name), " ")
}

// endDocument completes the document whose labels start at index start.
func (p *parsedLabels) endDocument(start int) {
	p.counts = append(p.counts, int32(len(p.ids)-start))
}

func (p *parsedLabels) addNames(names []string) *SyntaxError {
	start := len(p.ids)
	for _, name := range names {
		if bad := p.addLabel([]byte(name), start); bad != nil {
			return bad
		}
	}
	p.endDocument(start)
	return nil
}

// canonicalNumber returns the shortest form of a finite number, and other names unchanged. Integers
// keep all their digits.
func canonicalNumber(name string) string {
	if n, err := strconv.ParseInt(name, 10, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	if len(name) > 1000 { // converting long numbers is slow
		return name
	}
	if whole, ok := new(big.Int).SetString(name, 10); ok {
		return whole.String()
	}
	v, err := strconv.ParseFloat(name, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return name
	}
	if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
		return strconv.FormatFloat(v+0, 'f', 0, 64) // + 0 turns −0 into 0
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

func (p *parsedLabels) addUnlabelled() { p.endDocument(len(p.ids)) }

// nameBytes is the maximum memory per name in bytes, without its text. It includes spare capacity.
const nameBytes = 192

// bytes returns the memory in bytes for the block's labels, in p and later in the corpus. It
// includes the spare capacity of slices.
func (p *parsedLabels) bytes() int64 {
	bytes := 4*int64(cap(p.ids)+cap(p.counts)) + 9*int64(len(p.ids)) + 18*int64(len(p.counts))
	for _, name := range p.list {
		bytes += nameBytes + int64(len(name))
	}
	return bytes
}

// classTable collects the labels of all documents.
type classTable struct {
	nameTable
	labels       sparse.Labels
	multiLabel   bool // true if at least one field has several labels
	commaExample string
}

func newClassTable() *classTable {
	return &classTable{labels: sparse.Labels{Offsets: []int64{0}}}
}

func (t *classTable) add(class string) {
	t.labels.Add(t.id(class))
}

// append adds the documents of a block. Blocks must come in the order of the file.
func (t *classTable) append(p *parsedLabels) {
	ids := make([]int32, len(p.list))
	for i, name := range p.list {
		ids[i] = t.id(name)
	}
	t.multiLabel, t.commaExample = t.multiLabel || p.multiLabel, cmp.Or(t.commaExample, p.commaExample)
	for _, id := range p.ids {
		t.labels.IDs = append(t.labels.IDs, ids[id])
	}
	end := t.labels.Offsets[len(t.labels.Offsets)-1]
	for _, n := range p.counts {
		end += int64(n)
		t.labels.Offsets = append(t.labels.Offsets, end)
	}
}

// warnSplit warns about commas that may be part of label names: commas followed by a space, or any
// commas if none of the separated labels occurs alone.
func (c *Corpus) warnSplit(t *classTable, opt *Options) {
	if opt.LabelSeparator != "" || !t.multiLabel {
		return
	}
	several, example, alone := int64(0), t.commaExample, map[int32]bool{}
	for i := range c.Documents.Rows() {
		if ids := c.Labels.Classes(i); len(ids) == 1 {
			alone[ids[0]] = true
		}
	}
	for i := range c.Documents.Rows() {
		if ids := c.Labels.Classes(i); len(ids) > 1 {
			if t.commaExample == "" && slices.ContainsFunc(ids, func(id int32) bool { return alone[id] }) {
				return
			}
			several++
			example = cmp.Or(example, quote(c.Classes[ids[0]]+","+c.Classes[ids[1]]))
		}
	}
	c.warningList().addWithOption("label with a comma, such as "+example+", is read as several labels", several, "",
		"LabelSeparator", "none keeps it as one label")
}

func (c *Corpus) readLabels(ctx context.Context, opt *Options) error {
	in, err := openInput(ctx, opt.Labels, opt.decoding, &progressMeter{}, nil)
	if err != nil {
		return err
	}
	defer in.close()
	n, table := c.Documents.Rows(), newClassTable()
	expected := fmt.Sprintf("%d lines, one for each document of %s", n, c.Source)
	if head, _ := in.r.Peek(len(npyMagic)); string(head) == npyMagic {
		return newSyntaxError("a NumPy array",
			"a text file with "+expected+"; numpy.savetxt(FILE, labels, \"%s\") writes it").
			withPosition(in.name, 0)
	}
	err = scanBlocks(ctx, in, opt, func(int) parser[*parsedLabels] {
		return func(data []byte) (*parsedLabels, *SyntaxError) {
			p := opt.newParsedLabels(c.Vocabulary == nil)
			return &p, eachLine(data, opt.MaxLineBytes, func(l []byte, _ int32) *SyntaxError {
				if len(bytes.TrimSpace(l)) == 0 {
					p.addUnlabelled()
					return nil
				}
				label, _, _ := bytes.Cut(l, []byte{'\t'}) // a TAB ends the labels, as in a TSV file
				return p.add(label)
			})
		}
	}, func(p *parsedLabels, firstLine int64) error {
		if left := n + 1 - len(table.labels.Offsets); len(p.counts) > left {
			return newSyntaxError("another line", expected).withPosition(in.name, firstLine+int64(left))
		}
		table.append(p)
		return nil
	})
	if err == nil && len(table.labels.Offsets) <= n {
		err = newSyntaxError("the end of the file", expected).withPosition(in.name, in.line)
	}
	if err != nil {
		return err
	}
	c.Classes, c.Labels = table.list, table.labels
	c.warnSplit(table, opt)
	return nil
}
