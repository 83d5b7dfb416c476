package sparse

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

const matrixMarketBanner = "%%MatrixMarket"

// marketHeader is what the begin of a MatrixMarket file says.
type marketHeader struct {
	pattern, integer    bool
	rows, cols, entries uint64
}

// entryPiece is what one block of entry lines becomes.
type entryPiece struct {
	rows, cols []uint32 // from 0
	values     []float32
	blank      []int32 // lines without an entry, from 0 in the block
	firstLine  int64
}

// bytes is what the piece takes, and its part of the matrix.
func (p *entryPiece) bytes() int64 {
	return 4*int64(cap(p.rows)+cap(p.cols)+cap(p.values)+cap(p.blank)) + 8*int64(len(p.rows))
}

// line returns the line of entry k, from 0 in the block.
func (p *entryPiece) line(k int) int {
	for _, b := range p.blank {
		if int(b) <= k {
			k++
		}
	}
	return k
}

// A matrix may have maxEmptyRows rows whatever it holds. Above it there must be an entry for every
// rowsAnEntry rows: a mistaken header, or one that means harm, must not take all memory.
const (
	maxEmptyRows = 1 << 20
	rowsAnEntry  = 8
)

// plausible tells whether so many rows may belong to so many entries.
func plausible(rows, entries uint64) bool { return rows <= maxEmptyRows || rows/rowsAnEntry <= entries }

// readMarketHeader reads the banner, the comments and the line of sizes.
func (in *input) readMarketHeader(maxLine int) (h marketHeader, err error) {
	fail := func(found, expected string) error {
		return &SyntaxError{File: in.name, Line: in.line, Found: found, Expected: expected}
	}
	l, err := in.headerLine(maxLine)
	if err != nil {
		return h, err
	}
	const banner = matrixMarketBanner + " matrix coordinate real|integer|pattern general"
	words := strings.Fields(strings.ToLower(string(l)))
	if len(words) != 5 || words[0] != strings.ToLower(matrixMarketBanner) || words[1] != "matrix" ||
		words[2] != "coordinate" ||
		words[4] != "general" {
		return h, fail(quote(l), banner)
	}
	switch words[3] {
	case "real":
	case "integer":
		h.integer = true
	case "pattern":
		h.pattern = true
	default:
		return h, fail(quote(l), banner)
	}
	in.line++
	for {
		if l, err = in.headerLine(maxLine); err != nil {
			return h, err
		}
		if l = bytes.TrimSpace(l); len(l) > 0 && l[0] != '%' {
			break
		}
		in.line++
	}
	fields := bytes.Fields(l)
	if len(fields) != 3 {
		return h, fail(quote(l), "rows columns entries")
	}
	for i, to := range []*uint64{&h.rows, &h.cols, &h.entries} {
		x, digits := scanUint(fields[i])
		if digits == 0 || digits != len(fields[i]) {
			return h, fail(quote(l), "rows columns entries")
		}
		*to = x
	}
	switch {
	case h.rows == 0 || h.rows > 1<<31-1:
		return h, fail(fmt.Sprintf("%s rows", fields[0]), "from 1 to 2147483647")
	case h.cols > maxIndex+1:
		return h, fail(fmt.Sprintf("%s columns", fields[1]), "at most "+strconv.FormatUint(maxIndex+1, 10))
	case !plausible(h.rows, h.entries):
		return h, fail(
			fmt.Sprintf("%d rows for %d entries", h.rows, h.entries),
			fmt.Sprintf("at most %d rows, or an entry for every %d rows", maxEmptyRows, rowsAnEntry),
		)
	}
	in.line++
	return h, nil
}

// headerLine returns the next line.
func (in *input) headerLine(maxLine int) ([]byte, error) {
	switch line, err := boundedLine(in.r, maxLine); err {
	case nil:
		return line, nil
	case bufio.ErrTooLong:
		return nil, lineTooLong(maxLine).at(in.name, in.line)
	case io.EOF:
		return nil, &SyntaxError{
			File:     in.name,
			Line:     in.line,
			Found:    "the end of the file",
			Expected: "a MatrixMarket banner and a line rows columns entries",
		}
	default:
		return nil, in.readError(in.line, err)
	}
}

// marketParser parses lines row column [value].
type marketParser struct {
	header  marketHeader
	maxLine int
	signed  bool
}

func (p *marketParser) parse(data []byte) (*entryPiece, *lineError) {
	out := &entryPiece{}
	for line := 0; len(data) > 0; line++ {
		var l []byte
		l, data = nextLine(data)
		if bad := p.parseLine(l, int32(line), out); bad != nil {
			bad.line = line
			return out, bad
		}
	}
	return out, nil
}

func (p *marketParser) parseLine(l []byte, line int32, out *entryPiece) *lineError {
	if len(l) > p.maxLine {
		return lineTooLong(p.maxLine)
	}
	l = bytes.TrimRight(l, " \t")
	row, i := p.index(l, 0)
	if i == len(l) && len(bytes.TrimLeft(l, " \t")) == 0 {
		out.blank = append(out.blank, line)
		return nil
	}
	col, j := p.index(l, i)
	if i == 0 || j == i {
		return p.badEntry(l)
	}
	value := float32(1)
	if !p.header.pattern {
		for j < len(l) && space(l[j]) {
			j++
		}
		token := tokenAt(l, j)
		if len(token) == 0 {
			return p.badEntry(l)
		}
		var bad *lineError
		if value, bad = parseFloat(token); bad != nil {
			return bad
		}
		if p.header.integer && bytes.ContainsAny(token, ".eE") {
			return &lineError{found: "value " + quote(token), expected: "a whole number, as the banner says"}
		}
		if value, bad = checkSign(value, p.signed); bad != nil {
			return bad
		}
		j += len(token)
	}
	switch {
	case j < len(l):
		return p.badEntry(l)
	case row == 0 || row > p.header.rows:
		return &lineError{found: fmt.Sprintf("row %d", row), expected: fmt.Sprintf("from 1 to %d", p.header.rows)}
	case col == 0 || col > p.header.cols:
		return &lineError{found: fmt.Sprintf("column %d", col), expected: fmt.Sprintf("from 1 to %d", p.header.cols)}
	}
	out.rows, out.cols, out.values = append(
		out.rows,
		uint32(row-1),
	), append(
		out.cols,
		uint32(col-1),
	), append(
		out.values,
		value,
	)
	return nil
}

// index reads a number and the white space before it from l[i:], and returns where it ends, or i
// where there is none.
func (p *marketParser) index(l []byte, i int) (uint64, int) {
	start := i
	for i < len(l) && space(l[i]) {
		i++
	}
	x, digits := scanUint(l[i:])
	if end := i + digits; digits > 0 && (end == len(l) || space(l[end])) {
		return x, end
	}
	return 0, start
}

func (p *marketParser) badEntry(l []byte) *lineError {
	if p.header.pattern {
		return &lineError{found: quote(l), expected: "row column"}
	}
	return &lineError{found: quote(l), expected: "row column value"}
}

func readMatrixMarket(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	h, err := in.readMarketHeader(opt.MaxLineBytes)
	if err != nil {
		return nil, err
	}
	// offsets, where the next entry goes, and labels; an entry as it is read and in the matrix
	const aRow, anEntry = 24, 20
	if err := opt.memory.fits(in.name, aRow*int64(h.rows)+anEntry*int64(min(h.entries, 1<<50))); err != nil {
		return nil, err
	}
	opt.memory.add(aRow * int64(h.rows))
	var pieces []*entryPiece
	var warn warnings
	var entries uint64
	err = scanBlocks(ctx, in, opt, func(int) parser[*entryPiece] {
		return (&marketParser{header: h, maxLine: opt.MaxLineBytes, signed: opt.Signed}).parse
	}, func(p *entryPiece, firstLine int64) error {
		p.firstLine = firstLine
		if len(p.blank) > 0 {
			warn.add("blank line, skipped", int64(len(p.blank)), place(in.name, firstLine+int64(p.blank[0])))
		}
		pieces = append(pieces, p)
		if entries+uint64(len(p.rows)) > h.entries {
			k := int(h.entries - entries)
			line := firstLine + int64(p.line(k))
			p.rows, p.cols, p.values = p.rows[:k], p.cols[:k], p.values[:k]
			return &SyntaxError{
				File:     in.name,
				Line:     line,
				Found:    "one entry more",
				Expected: fmt.Sprintf("%d entries, as the header says", h.entries),
			}
		}
		entries += uint64(len(p.rows))
		return nil
	})
	if err == nil && entries < h.entries {
		err = &SyntaxError{
			File:     in.name,
			Line:     in.line,
			Found:    fmt.Sprintf("the end of the file after %d entries", entries),
			Expected: fmt.Sprintf("%d entries, as the header says", h.entries),
		}
	}
	var matrix *CSR
	var duplicate *SyntaxError
	var stopped error
	if plausible(h.rows, entries) {
		matrix, duplicate, stopped = joinEntries(ctx, opt, h, pieces)
	} else { // the file ended early, or has an error: what the header says must not be allocated
		duplicate, stopped = firstOfFew(ctx, pieces)
	}
	if stopped != nil {
		return nil, stopped
	}
	if duplicate != nil { // lies before any other error
		duplicate.File = in.name
		return nil, duplicate
	}
	if err != nil {
		return nil, err
	}
	m.documents.Store(int64(h.rows))
	c := &Corpus{Source: in.name, Documents: matrix, Labels: Labels{Offsets: make([]int64, h.rows+1)}}
	if opt.Vocabulary != nil {
		if n := uint64(len(opt.Vocabulary)); n != h.cols {
			return nil, &SyntaxError{
				File:     in.name,
				Found:    fmt.Sprintf("%d columns", h.cols),
				Expected: fmt.Sprintf("%d, one for each term of the vocabulary", n),
			}
		}
	}
	limitVectors(c, opt)
	warn.emptyRows(matrix, func(i int) string { return fmt.Sprintf("%s, row %d", in.name, i+1) })
	c.Warnings = warn
	return c, nil
}

// joinEntries sorts the entries into rows. Where an entry occurs twice it reports the first that
// repeats another.
func joinEntries(ctx context.Context, opt *Options, h marketHeader, pieces []*entryPiece) (*CSR, *SyntaxError, error) {
	m := &CSR{Cols: int(h.cols), Offsets: make([]int64, h.rows+1)}
	for _, p := range pieces {
		for _, row := range p.rows {
			m.Offsets[row+1]++
		}
	}
	for i := range h.rows {
		m.Offsets[i+1] += m.Offsets[i]
	}
	nnz := m.Offsets[h.rows]
	m.Terms, m.Values = make([]uint32, nnz), make([]float32, nnz)
	next := slices.Clone(m.Offsets)
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		for k, row := range p.rows {
			at := next[row]
			next[row]++
			m.Terms[at], m.Values[at] = p.cols[k], p.values[k]
		}
	}
	var repeated atomic.Bool
	const chunk = 1024
	err := parallel(ctx, opt.Workers, (m.Rows()+chunk-1)/chunk, func(c int) {
		var s rowSorter
		for i := c * chunk; i < min(m.Rows(), (c+1)*chunk) && ctx.Err() == nil; i++ {
			terms, values := m.Row(i)
			s.sort(terms, values)
			for k := 1; k < len(terms); k++ {
				if terms[k] == terms[k-1] {
					repeated.Store(true)
				}
			}
		}
	})
	if err != nil || !repeated.Load() {
		return m, nil, err
	}
	return nil, firstRepeated(m, pieces), nil
}

// firstOfFew finds the first entry of the file that repeats another, where there are few entries
// for the rows.
func firstOfFew(ctx context.Context, pieces []*entryPiece) (*SyntaxError, error) {
	seen := map[[2]uint32]struct{}{}
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k, row := range p.rows {
			entry := [2]uint32{row, p.cols[k]}
			if _, twice := seen[entry]; twice {
				return p.again(k), nil
			}
			seen[entry] = struct{}{}
		}
	}
	return nil, nil
}

// again is the error of an entry that repeats another.
func (p *entryPiece) again(k int) *SyntaxError {
	return &SyntaxError{
		Line:     p.firstLine + int64(p.line(k)),
		Found:    fmt.Sprintf("row %d, column %d again", p.rows[k]+1, p.cols[k]+1),
		Expected: "every entry once",
	}
}

// firstRepeated finds the first entry of the file that repeats another; in m, sorted, the two are
// neighbours.
func firstRepeated(m *CSR, pieces []*entryPiece) *SyntaxError {
	met := map[[2]uint32]bool{} // the entries that occur twice, true once one of them was met
	for i := range m.Rows() {
		terms, _ := m.Row(i)
		for k := 1; k < len(terms); k++ {
			if terms[k] == terms[k-1] {
				met[[2]uint32{uint32(i), terms[k]}] = false
			}
		}
	}
	for _, p := range pieces {
		for k, row := range p.rows {
			entry := [2]uint32{row, p.cols[k]}
			switch before, twice := met[entry]; {
			case before:
				return p.again(k)
			case twice:
				met[entry] = true
			}
		}
	}
	return nil
}
