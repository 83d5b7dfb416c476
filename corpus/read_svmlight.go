package corpus

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

var svmLightFormat = fileFormat{name: FormatSVMLight, extensions: []string{".svm", ".svmlight", ".libsvm"},
	matchesLine: isSVMLight, read: readSVMLight}

// isSVMLight reports whether a number and a colon follow the label. A text may start like this, too
// ("spam<TAB>1:30 meeting"), but then a TAB follows the label, and other words follow the number.
func isSVMLight(l []byte) bool {
	text, _, _ := bytes.Cut(l, []byte("#"))
	fields := bytes.Fields(text)
	if len(fields) == 0 {
		fields = bytes.Fields(l)
	}
	label, pairs := fields[0], fields[1:]
	if len(pairs) == 0 {
		pairs = fields
	}
	rest := bytes.TrimLeft(l, " \t")[len(label):]
	other := func(token []byte) bool { return !looksLikePair(token) }
	return looksLikePair(pairs[0]) && !(bytes.HasPrefix(rest, []byte("\t")) && slices.ContainsFunc(pairs, other))
}

// looksLikePair reports whether a token starts like index:value or qid:N.
func looksLikePair(token []byte) bool {
	index, _, colon := bytes.Cut(token, []byte(":"))
	_, number := parseUint(index)
	return colon && (number || string(index) == "qid")
}

// maxIndex bounds the indices in a file, so that the number of columns fits in 32 bits.
const maxIndex = math.MaxUint32 - 1

type parsedVectors struct {
	labels  parsedLabels
	ends    []int64 // end of each row in terms and values
	lines   []int32 // line of each row, from 0 in the block
	terms   []uint32
	values  []float32
	maxTerm uint32  // largest term
	groups  []int64 // qid of each row if Options.GroupColumn is "qid"

	// droppedValues counts values in columns beyond the vocabulary.
	blankLines, ignoredQIDs, droppedValues tally
}

// bytes returns the size of the piece plus the memory for joining it, in bytes. Joining needs the
// offsets, lines and groups of rows, and 1/joinSteps of the terms and values.
func (p *parsedVectors) bytes() int64 {
	four := cap(p.terms) + cap(p.values) + cap(p.lines)
	eight := cap(p.ends) + cap(p.groups) + 2*len(p.ends) + len(p.groups) + len(p.terms)/joinSteps
	return 4*int64(four) + 8*int64(eight) + p.labels.bytes()
}

// svmParser parses lines
//
//	label[,label...] [qid:N] index:value ... [# comment]
//
// with ascending indices, as in svm_learn and svm-train. Index i is column i - base. A line that
// starts with white space and an index has no label, as in LIBSVM's multi-label files. Numeric
// labels are compared by value: +1 and 1.0 are 1.
type svmParser struct {
	maxLine    int
	signed     bool
	base       uint64 // first index: 1 or 0
	maxColumns uint64 // values from this column on are dropped
	nnz        int    // number of values of the previous block, an estimate for the next
	keepGroups bool   // true if qids are kept; every line must then have a qid
	group      int64  // qid of the line, -1 if not yet read
	memory     *allowance
}

func (p *svmParser) parse(data []byte) (*parsedVectors, *SyntaxError) {
	most := p.nnz + p.nnz/8
	out := &parsedVectors{
		labels: parsedLabels{numeric: true, memory: p.memory}, terms: make([]uint32, 0, most),
		values: make([]float32, 0, most),
	}
	bad := eachLine(data, p.maxLine, func(l []byte, line int32) *SyntaxError { return p.parseLine(l, line, out) })
	p.nnz = len(out.terms)
	return out, bad
}

func (p *svmParser) parseLine(l []byte, line int32, out *parsedVectors) *SyntaxError {
	l, _, comment := bytes.Cut(l, []byte{'#'})
	start := skipSpace(l, 0)
	if start == len(l) {
		if !comment {
			out.blankLines.add(1, line)
		}
		return nil
	}
	label := tokenAt(l, start)
	i := start + len(label)
	if bytes.IndexByte(label, ':') >= 0 {
		if start == 0 {
			const expected = "label index:value ... (a line without a label must start with a space)"
			return newSyntaxError(quote(label)+" instead of a label", expected)
		}
		out.labels.addUnlabelled()
		i = start
	} else if bad := out.labels.add(label); bad != nil {
		return bad
	}
	p.group = -1
	bad := p.parsePairs(l, i, line, out)
	if bad == nil && p.keepGroups && p.group < 0 {
		bad = newSyntaxError("no qid", "label qid:N index:value ...").withOption("GroupColumn", "requires it")
	}
	if bad != nil {
		return bad
	}
	if p.keepGroups {
		out.groups = append(out.groups, p.group)
	}
	out.ends = append(out.ends, int64(len(out.terms)))
	out.lines = append(out.lines, line)
	return nil
}

// parsePairs appends the index:value pairs of l[i:] to out if all of them are valid.
func (p *svmParser) parsePairs(l []byte, i int, line int32, out *parsedVectors) *SyntaxError {
	terms, values := out.terms, out.values
	before := int64(-1)
	for {
		if i = skipSpace(l, i); i == len(l) {
			out.terms, out.values = terms, values
			return nil
		}
		index, digits := scanUint(l[i:])
		if colon := i + digits; digits == 0 || colon == len(l) || l[colon] != ':' {
			token := tokenAt(l, i)
			if before < 0 && bytes.HasPrefix(token, []byte("qid:")) {
				if !p.keepGroups {
					out.ignoredQIDs.add(1, line)
				} else if bad := p.setGroup(token); bad != nil {
					return bad
				}
				i += len(token)
				continue
			}
			return pairError(token)
		}
		switch {
		case index > maxIndex:
			return newSyntaxError("index "+string(shorten(l[i:i+digits])), "an index up to "+strconv.FormatUint(maxIndex, 10))
		case index < p.base:
			return newSyntaxError("index 0", "indices from 1").withOption("ZeroBased", "true counts them from 0")
		case int64(index) <= before:
			return newSyntaxError(fmt.Sprintf("index %d is not above %d", index, before), "ascending indices")
		}
		i += digits + 1
		v, n, ok := scanFloat(l[i:])
		if !ok || v < 0 && !p.signed || i+n < len(l) && !isSpace(l[i+n]) {
			token := tokenAt(l, i)
			var bad *SyntaxError
			if v, bad = parseValue(token, p.signed); bad != nil {
				bad.Found = fmt.Sprintf("index %d: %s", index, bad.Found)
				return bad
			}
			n = len(token)
		}
		i += n
		before = int64(index)
		column := index - p.base
		if column >= p.maxColumns {
			out.droppedValues.add(1, line)
			continue
		}
		out.maxTerm = max(out.maxTerm, uint32(column))
		terms, values = append(terms, uint32(column)), append(values, v+0) // + 0 turns −0 into 0
	}
}

func (p *svmParser) setGroup(token []byte) *SyntaxError {
	switch group, ok := parseUint(token[len("qid:"):]); {
	case !ok || group > math.MaxInt64:
		return newSyntaxError(quote(token), "qid: and a whole number")
	case p.group >= 0:
		return newSyntaxError(quote(token)+" after another qid", "one qid per line")
	default:
		p.group = int64(group)
		return nil
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func skipSpace(l []byte, i int) int {
	for i < len(l) && isSpace(l[i]) {
		i++
	}
	return i
}

func tokenAt(l []byte, i int) []byte {
	end := i
	for end < len(l) && !isSpace(l[end]) {
		end++
	}
	return l[i:end]
}

func shorten(b []byte) []byte { return b[:min(len(b), 40)] }

func pairError(token []byte) *SyntaxError {
	switch index, _, colon := bytes.Cut(token, []byte(":")); {
	case !colon:
		return newSyntaxError(quote(token)+" has no colon", "index:value")
	case len(index) > 1 && index[0] == '-':
		return newSyntaxError("index "+string(shorten(index)), "a nonnegative index")
	}
	return newSyntaxError(quote(token), "index:value")
}

func readSVMLight(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	columns := uint64(maxIndex) + 1
	if opt.Vocabulary != nil {
		columns = uint64(len(opt.Vocabulary))
	}
	base := uint64(1)
	if opt.ZeroBased == "true" {
		base = 0
	}
	var pieces []*parsedVectors
	var starts, lines []int64 // index of the first value of each piece, and line of each row
	c, matrix := &Corpus{Source: in.name}, &sparse.CSR{Offsets: []int64{0}}
	c.Documents = matrix
	warn, classes := c.warningList(), newClassTable()
	err := scanBlocks(ctx, in, opt, func(int) parser[*parsedVectors] {
		return (&svmParser{
			maxLine: opt.MaxLineBytes, signed: opt.Signed, base: base, maxColumns: columns,
			keepGroups: opt.GroupColumn == "qid", memory: opt.memory,
		}).parse
	}, func(p *parsedVectors, firstLine int64) error {
		start := matrix.Offsets[matrix.Rows()]
		pieces, starts = append(pieces, p), append(starts, start)
		for i, end := range p.ends {
			matrix.Offsets, lines = append(matrix.Offsets, start+end), append(lines, firstLine+int64(p.lines[i]))
		}
		if len(p.terms) > 0 {
			matrix.Cols = max(matrix.Cols, int(p.maxTerm)+1)
		}
		c.Groups = append(c.Groups, p.groups...)
		warn.addLines(blankMessage, p.blankLines, in.name, firstLine)
		warn.addLines("qid, ignored", p.ignoredQIDs, in.name, firstLine)
		warn.addLines("value in a column beyond the vocabulary, ignored", p.droppedValues, in.name, firstLine)
		classes.append(&p.labels)
		p.labels, p.ends, p.lines, p.groups = parsedLabels{}, nil, nil, nil
		m.documents.Store(int64(matrix.Rows()))
		return nil
	})
	if err != nil {
		return nil, err
	}
	if matrix.Rows() == 0 {
		return nil, newSyntaxError("no documents", "lines label index:value ...").withPosition(in.name, 0)
	}
	nnz := matrix.Offsets[matrix.Rows()]
	matrix.Offsets, matrix.Terms, matrix.Values = slices.Clip(matrix.Offsets), make([]uint32, nnz), make([]float32, nnz)
	err = opt.joinInSteps(len(pieces), 8*nnz, func(lo, hi int) error {
		return run.Parallel(ctx, opt.Workers, hi-lo, func(k int) {
			k += lo
			copy(matrix.Terms[starts[k]:], pieces[k].terms)
			copy(matrix.Values[starts[k]:], pieces[k].values)
			pieces[k] = nil
		})
	})
	if err != nil {
		return nil, err
	}
	c.Classes, c.Labels = classes.list, classes.labels
	limitVectors(c, opt)
	warn.addRowWarnings(matrix, func(i int) string { return position(in.name, lines[i]) })
	return c, nil
}
