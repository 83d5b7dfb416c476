package corpus

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
)

var (
	tsvFormat = fileFormat{name: FormatTSV, extensions: []string{".tsv"}, read: readTSV,
		matchesLine: func(l []byte) bool { return bytes.IndexByte(l, '\t') >= 0 }}
	linesFormat = fileFormat{name: FormatLines, read: readLines}
)

type parsedTexts struct {
	counter         *termCounter
	labels          parsedLabels
	weights         []float64 // document weights, if there is a column of weights
	groups          nameList  // document groups, if Options.GroupColumn is set; "" for none
	documents       []countedDocument
	lines           []int32 // line of each document, from 0 in the block
	firstLine       int64   // number of the first line of the block
	documentsBefore int     // number of documents before the block
	names           nameList
	blankLines      tally
	badBytes        tally
}

// bytes returns the size of the piece in bytes, without terms, which termCounter counts.
func (p *parsedTexts) bytes() int64 {
	bytes := p.labels.bytes() + 24*int64(len(p.weights)) + int64(p.names.text.Len()+p.groups.text.Len())
	return bytes + nameBytes*int64(len(p.names.ends)+len(p.groups.ends))
}

// nameList holds names or groups of documents.
type nameList struct {
	text strings.Builder // concatenated names
	ends []int           // end of each name in text
}

func (l *nameList) add(name string) {
	l.text.WriteString(oneLine(name))
	l.ends = append(l.ends, l.text.Len())
}

// collectNames returns the names in the lists of all pieces, or nil unless there are n names.
func collectNames(pieces []*parsedTexts, n int, list func(p *parsedTexts) *nameList) []string {
	names := 0
	for _, p := range pieces {
		names += len(list(p).ends)
	}
	if names != n {
		return nil
	}
	out := make([]string, 0, n)
	for _, p := range pieces {
		text, begin := list(p).text.String(), 0
		for _, end := range list(p).ends {
			out = append(out, text[begin:end])
			begin = end
		}
	}
	return out
}

// add adds a text whose label has been added.
func (p *parsedTexts) add(text []byte, line int32) {
	p.counter.add(text)
	p.documents = append(p.documents, p.counter.endDocument())
	p.lines = append(p.lines, line)
}

// addRow adds a row whose label has been added.
func (p *parsedTexts) addRow(fields []string, line int32) *SyntaxError {
	if err := p.counter.addRow(fields); err != nil {
		return rowError(err)
	}
	p.documents = append(p.documents, p.counter.endDocument())
	p.lines = append(p.lines, line)
	return nil
}

// skipBlank reports whether a line is blank, and counts blank lines.
func (p *parsedTexts) skipBlank(l []byte, line int32) bool {
	blank := len(bytes.TrimSpace(l)) == 0
	if blank {
		p.blankLines.add(1, line)
	}
	return blank
}

// addTSV adds a line label[,label...]<TAB>text. Further TABs are treated as white space in the
// text.
func (p *parsedTexts) addTSV(l []byte, line int32) *SyntaxError {
	label, text, tab := bytes.Cut(l, []byte{'\t'})
	switch {
	case !tab && p.skipBlank(l, line):
		return nil
	case !tab:
		return newSyntaxError(quote(l)+" has no TAB", "label<TAB>text")
	}
	if bad := p.labels.add(label); bad != nil {
		return bad
	}
	p.add(text, line)
	return nil
}

func (in *input) checkNotBinary() error {
	if !in.isBinary() {
		return nil
	}
	return newSyntaxError("a NUL byte near the start, as in binary data or UTF-16 without a byte order mark", "text").
		withOption("Encoding", "sets the encoding, such as utf-16").withPosition(in.name, 0)
}

func readTSV(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	head, _ := in.r.Peek(sampleBytes) // an error recurs when the file is read
	line, _ := nextLine(head)
	names := normalizeNames(strings.Split(string(line), "\t"))
	if len(names) > 2 || slices.Contains(names, normalizeName(opt.TrainingFormat.LabelColumn)) {
		opt.applyColumns(names)
	}
	if opt.LabelColumn+opt.TextColumn == "" && len(names) > 2 && findUsualName(names, textNames) != "" {
		opt.LabelColumn = findUsualName(names, labelNames)
	}
	if opt.LabelColumn+opt.TextColumn+opt.GroupColumn+opt.IDColumn+opt.Columns != "" {
		if err := in.addVectors(ctx, opt, '\t'); err != nil {
			return nil, err
		}
		t, err := in.table('\t', opt)
		if err != nil {
			return nil, err
		}
		return readTable(ctx, in, opt, m, t)
	}
	c, err := readTextLines(ctx, in, opt, m, "lines label<TAB>text", (*parsedTexts).addTSV)
	if err == nil {
		c.warnHeader(names[0], strings.Join(names[1:], "\t"), position(in.name, 1))
	}
	return c, err
}

// readTextLines reads a file of texts. It calls add to add each line to a piece.
func readTextLines(
	ctx context.Context, in *input, opt *Options, m *progressMeter, expected string,
	add func(p *parsedTexts, l []byte, line int32) *SyntaxError,
) (*Corpus, error) {
	return readTexts(ctx, in, opt, m, expected, func(p *parsedTexts, check textCheck, data []byte) *SyntaxError {
		clean := check.isClean(data)
		return eachLine(data, opt.MaxLineBytes, func(l []byte, line int32) *SyntaxError {
			if bad := check.checkLine(p, clean, l, line); bad != nil {
				return bad
			}
			return add(p, l, line)
		})
	})
}

// readTexts reads a file of texts. It calls parse to add complete records to a piece.
func readTexts(
	ctx context.Context, in *input, opt *Options, m *progressMeter, expected string,
	parse func(p *parsedTexts, check textCheck, data []byte) *SyntaxError,
) (*Corpus, error) {
	if !opt.Strict {
		if err := in.checkNotBinary(); err != nil {
			return nil, err
		}
	}
	counters, err := newCounters(ctx, opt)
	if err != nil {
		return nil, err
	}
	var pieces []*parsedTexts // joined once, because growing a slice copies it repeatedly
	n := 0                    // number of documents
	var weights []float64
	var warn warnings
	classes := newClassTable()
	check := newTextCheck(in, opt)
	err = scanBlocks(ctx, in, opt, func(w int) parser[*parsedTexts] {
		n := 0 // number of documents of the previous block, as an estimate for the next
		return func(data []byte) (*parsedTexts, *SyntaxError) {
			p := &parsedTexts{counter: counters[w], labels: opt.newParsedLabels(false)}
			p.documents, p.lines = make([]countedDocument, 0, n+n/8), make([]int32, 0, n+n/8)
			bad := parse(p, check, data)
			n = len(p.documents)
			return p, bad
		}
	}, func(p *parsedTexts, firstLine int64) error {
		p.firstLine, p.documentsBefore, pieces = firstLine, n, append(pieces, p)
		n += len(p.documents)
		weights = append(weights, p.weights...)
		warn.addLines(blankMessage, p.blankLines, in.name, firstLine)
		warn.addBadBytes(p.badBytes.count, position(in.name, firstLine+int64(p.badBytes.first)))
		classes.append(&p.labels)
		p.labels = parsedLabels{}
		m.documents.Store(int64(n))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, newSyntaxError("no documents", expected).withPosition(in.name, 0)
	}
	documents := make([]countedDocument, 0, n)
	for _, p := range pieces {
		documents = append(documents, p.documents...)
		p.documents = nil
	}
	c := &Corpus{Source: in.name, Classes: classes.list, Labels: classes.labels, Weights: weights, Warnings: warn}
	if groups := collectNames(pieces, n, func(p *parsedTexts) *nameList { return &p.groups }); groups != nil {
		c.Groups = make([]int64, n)
		ids := map[string]int64{}
		for i, name := range groups {
			id, known := ids[name]
			if name == "" {
				id = int64(-1 - i) // a document without a value is a separate group
			} else if !known {
				id = int64(len(ids))
				ids[name] = id
			}
			c.Groups[i] = id
		}
	}
	at := func(i int) string {
		after, _ := slices.BinarySearchFunc(pieces, i+1, func(p *parsedTexts,
			i int) int {
			return cmp.Compare(p.documentsBefore, i)
		})
		p := pieces[after-1]
		return position(in.name, p.firstLine+int64(p.lines[i-p.documentsBefore]))
	}
	if err := c.setDocuments(ctx, opt, counters, documents, at); err != nil {
		return nil, err
	}
	// The list of names is made last, because the garbage collector scans it.
	if names := collectNames(pieces, n, func(p *parsedTexts) *nameList { return &p.names }); allDistinct(names) {
		c.Names = names
	}
	c.warnSingletonClasses(at)
	if opt.Labels == "" {
		c.warnSplit(classes, opt)
	}
	return c, nil
}

func allDistinct(names []string) bool {
	// Names in order, such as consecutive numbers, need no map.
	if slices.IsSortedFunc(names, func(b, a string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(b, a), -1) // equal names count as out of order
	}) {
		return true
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}
