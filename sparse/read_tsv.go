package sparse

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"
)

// textPiece is what one block of label<TAB>text lines becomes.
type textPiece struct {
	labels     labelPiece
	documents  []countedDocument
	lines      []int32 // line of each document, from 0 in the block
	blank      int64   // blank lines
	firstBlank int32
}

// bytes is what the piece takes beside the terms, which their counter counts itself.
func (p *textPiece) bytes() int64 { return p.labels.bytes() }

// tsvParser parses lines label[,label...]<TAB>text; further TABs are white space of the text.
type tsvParser struct {
	maxLine int
	counter *termCounter
}

func (p *tsvParser) parse(data []byte) (*textPiece, *lineError) {
	out := &textPiece{}
	clean := utf8.Valid(data) && bytes.IndexByte(data, 0) < 0
	for line := 0; len(data) > 0; line++ {
		var l []byte
		l, data = nextLine(data)
		if bad := p.parseLine(l, int32(line), clean, out); bad != nil {
			bad.line = line
			return out, bad
		}
	}
	return out, nil
}

func (p *tsvParser) parseLine(l []byte, line int32, clean bool, out *textPiece) *lineError {
	if len(l) > p.maxLine {
		return lineTooLong(p.maxLine)
	}
	if !clean {
		if bad := textFault(l); bad != nil {
			return bad
		}
	}
	tab := bytes.IndexByte(l, '\t')
	if tab < 0 && len(bytes.TrimSpace(l)) == 0 {
		if out.blank == 0 {
			out.firstBlank = line
		}
		out.blank++
		return nil
	}
	if tab < 0 {
		return &lineError{found: quote(l) + " has no TAB", expected: "label<TAB>text"}
	}
	if bad := out.labels.add(l[:tab]); bad != nil {
		return bad
	}
	p.counter.add(l[tab+1:])
	out.documents = append(out.documents, p.counter.endDocument())
	out.lines = append(out.lines, line)
	return nil
}

// textFault says why a line isn't text: bytes that are not UTF-8, or NUL bytes, which stand for a
// binary file or for UTF-16.
func textFault(l []byte) *lineError {
	for i := 0; i < len(l); {
		if l[i] == 0 {
			return &lineError{found: fmt.Sprintf("a NUL byte at byte %d of the line", i+1), expected: "UTF-8 text"}
		}
		r, size := utf8.DecodeRune(l[i:])
		if r == utf8.RuneError && size == 1 {
			return &lineError{
				found:    fmt.Sprintf("byte %#02x, which is not UTF-8, at byte %d of the line", l[i], i+1),
				expected: "UTF-8 text",
			}
		}
		i += size
	}
	return nil
}

func readTSV(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	counters := make([]*termCounter, opt.Workers)
	for w := range counters {
		counters[w] = &termCounter{done: ctx.Done(), memory: opt.memory}
	}
	var documents []countedDocument
	var lines []int64
	var warn warnings
	classes := newClassTable()
	err := scanBlocks(ctx, in, opt, func(w int) parser[*textPiece] {
		return (&tsvParser{maxLine: opt.MaxLineBytes, counter: counters[w]}).parse
	}, func(p *textPiece, firstLine int64) error {
		documents = append(documents, p.documents...)
		for _, line := range p.lines {
			lines = append(lines, firstLine+int64(line))
		}
		warn.add("blank line, skipped", p.blank, place(in.name, firstLine+int64(p.firstBlank)))
		classes.append(&p.labels)
		m.documents.Store(int64(len(documents)))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return nil, &SyntaxError{File: in.name, Found: "no documents", Expected: "lines label<TAB>text"}
	}
	c := &Corpus{Source: in.name, Classes: classes.classes, Labels: classes.labels, Warnings: warn}
	return c, c.fillText(ctx, opt, counters, documents, func(i int) string { return place(in.name, lines[i]) })
}

// fillText gives the corpus its matrix and vocabulary, and warns of what was left out; at names the
// place of a document.
func (c *Corpus) fillText(
	ctx context.Context,
	opt *Options,
	counters []*termCounter,
	documents []countedDocument,
	at func(i int) string,
) error {
	matrix, vocabulary, unknown, first, err := joinCounters(ctx, opt, counters, documents)
	if err != nil {
		return err
	}
	c.Documents, c.Vocabulary = matrix, vocabulary
	warn := warnings(c.Warnings)
	if unknown > 0 {
		warn.add(unknownMessage, unknown, at(first))
	}
	warn.emptyRows(matrix, at)
	c.Warnings = warn
	return nil
}
