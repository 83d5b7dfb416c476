package corpus

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/sparse"
)

var matrixMarketFormat = fileFormat{name: FormatMatrixMarket, endings: []string{".mtx", ".mm"},
	magic: []string{matrixMarketBanner}, read: readMatrixMarket}

const matrixMarketBanner = "%%MatrixMarket"

// marketHeader is the header of a MatrixMarket file.
type marketHeader struct {
	pattern, integer    bool
	array               bool   // dense array, column by column, rather than coordinates
	symmetry            string // general, symmetric or skew-symmetric; the latter store the lower triangle
	rows, cols, entries uint64
	signed              bool // accept negative values
}

// begin returns the first stored row of a column of an array.
func (h *marketHeader) begin(col uint64) uint64 {
	switch h.symmetry {
	case "symmetric":
		return col
	case "skew-symmetric":
		return col + 1
	}
	return 0
}

// entryPiece holds the entries of one block.
type entryPiece struct {
	rows, cols []uint32 // from 0
	values     []float32
	blank      []int32 // lines without an entry, numbered from 0 in the block
	firstLine  int64
}

// bytes returns the memory of the piece, including its part of the matrix.
func (p *entryPiece) bytes() int64 {
	return 4*int64(cap(p.rows)+cap(p.cols)+cap(p.values)+2*cap(p.blank)) + 8*int64(len(p.rows))
}

// line returns the line number of entry k.
func (p *entryPiece) line(k int) int64 {
	line := k
	for _, b := range p.blank {
		if int(b) <= line {
			line++
		}
	}
	return p.firstLine + int64(line)
}

// A matrix may have maxEmptyRows rows regardless of its entries. Larger matrices need at least one
// entry per rowsAnEntry rows, so that a mistaken or malicious header can't exhaust memory.
const (
	maxEmptyRows = 1 << 20
	rowsAnEntry  = 8
)

// readMarketHeader reads the banner, the comments and the size line.
func (in *input) readMarketHeader(maxLine int) (h marketHeader, err error) {
	fail := func(found, expected string) error {
		return fault(found, expected).at(in.name, in.line)
	}
	l, err := in.headerLine(maxLine)
	if err != nil {
		return h, err
	}
	words := strings.Fields(strings.ToLower(string(l)))
	if len(words) != 5 || words[0] != strings.ToLower(matrixMarketBanner) {
		return h, fail(quote(l), matrixMarketBanner+" matrix coordinate real general, or the like")
	}
	for i, allowed := range [][]string{
		{"matrix"}, {"coordinate", "array"}, {"real", "double", "integer", "pattern"},
		{"general", "symmetric", "skew-symmetric"},
	} {
		if word := words[i+1]; !slices.Contains(allowed, word) {
			return h, fail("a MatrixMarket file of "+quote(word), strings.Join(allowed, ", "))
		}
	}
	h.array, h.integer, h.pattern, h.symmetry = words[2] == "array", words[3] == "integer", words[3] == "pattern", words[4]
	if h.array && h.pattern {
		return h, fail("an array of \"pattern\"", "real or integer")
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
	fields, sizes, names := bytes.Fields(l), []*uint64{&h.rows, &h.cols, &h.entries}, "rows columns entries"
	if h.array {
		sizes, names = sizes[:2], "rows columns"
	}
	if len(fields) != len(sizes) {
		return h, fail(quote(l), names)
	}
	for i, to := range sizes {
		var ok bool
		if *to, ok = parseUint(fields[i]); !ok {
			return h, fail(quote(l), names)
		}
	}
	switch {
	case h.symmetry != "general" && h.rows != h.cols:
		return h, fail(fmt.Sprintf("%d rows and %d columns of a %s matrix", h.rows, h.cols, h.symmetry), "as many of each")
	case h.rows == 0 || h.rows > 1<<31-1:
		return h, fail(fmt.Sprintf("%s rows", fields[0]), "from 1 to 2147483647")
	case h.cols > maxIndex+1:
		return h, fail(fmt.Sprintf("%s columns", fields[1]), "at most "+strconv.FormatUint(maxIndex+1, 10))
	case h.array && h.cols == 0:
		return h, fail("0 columns", "at least 1")
	case h.array:
		if h.entries = h.rows * h.cols; h.symmetry != "general" {
			h.entries = (h.entries-h.rows)/2 + h.rows - h.begin(0)*h.rows
		}
	case h.rows > maxEmptyRows && h.rows/rowsAnEntry > h.entries:
		return h, fail(fmt.Sprintf("%d rows for %d entries", h.rows, h.entries),
			fmt.Sprintf("at most %d rows, or an entry for every %d rows", maxEmptyRows, rowsAnEntry))
	}
	in.line++
	return h, nil
}

// headerLine returns the next line, which is valid until the next read.
func (in *input) headerLine(maxLine int) ([]byte, error) {
	line, err := in.r.ReadSlice('\n')
	switch l, _ := nextLine(line); {
	case len(l) > maxLine || err == bufio.ErrBufferFull:
		return nil, lineTooLong(min(maxLine, in.r.Size())).at(in.name, in.line)
	case len(line) == 0 && err == io.EOF:
		return nil, fault("the end of the file", "a MatrixMarket banner and a line rows columns entries").at(in.name, in.line)
	case err != nil && err != io.EOF:
		return nil, in.readError(in.line, err)
	default:
		return l, nil
	}
}

// parse parses a line with row, column and, unless it is a pattern, value.
func (h *marketHeader) parse(l []byte, line int32, out *entryPiece) *SyntaxError {
	l = bytes.TrimRight(l, " \t")
	if h.array {
		token := bytes.TrimLeft(l, " \t")
		if len(token) == 0 {
			out.blank = append(out.blank, line)
			return nil
		}
		return h.value(token, out)
	}
	row, i := h.index(l, 0)
	if i == len(l) && len(bytes.TrimLeft(l, " \t")) == 0 {
		out.blank = append(out.blank, line)
		return nil
	}
	col, j := h.index(l, i)
	if i == 0 || j == i {
		return h.badEntry(l)
	}
	var token []byte
	if !h.pattern {
		j = skipSpace(l, j)
		if token = tokenAt(l, j); len(token) == 0 {
			return h.badEntry(l)
		}
		j += len(token)
	}
	switch {
	case j < len(l):
		return h.badEntry(l)
	case row == 0 || row > h.rows:
		return fault(fmt.Sprintf("row %d", row), fmt.Sprintf("from 1 to %d", h.rows))
	case col == 0 || col > h.cols:
		return fault(fmt.Sprintf("column %d", col), fmt.Sprintf("from 1 to %d", h.cols))
	case row-1 < h.begin(col-1):
		return fault(fmt.Sprintf("row %d, column %d of a %s matrix", row, col, h.symmetry),
			"entries of the lower triangle")
	}
	if bad := h.value(token, out); bad != nil {
		return bad
	}
	out.rows, out.cols = append(out.rows, uint32(row-1)), append(out.cols, uint32(col-1))
	return nil
}

// value appends the value of an entry; 1 for a pattern.
func (h *marketHeader) value(token []byte, out *entryPiece) *SyntaxError {
	value := float32(1)
	if !h.pattern {
		var bad *SyntaxError
		if value, bad = parseValue(token, h.signed); bad != nil {
			return bad
		}
		if h.integer && bytes.ContainsAny(token, ".eE") {
			return fault("value "+quote(token), "a whole number, as the banner says")
		}
		if value > 0 && h.symmetry == "skew-symmetric" && !h.signed {
			_, bad = parseValue(append([]byte("-"), token...), false) // mirrored above the diagonal
			return bad
		}
	}
	out.values = append(out.values, value)
	return nil
}

// index reads white space and a number from l[i:]. It returns the end of the number, or i if there
// is none.
func (h *marketHeader) index(l []byte, i int) (uint64, int) {
	start := skipSpace(l, i)
	x, digits := scanUint(l[start:])
	if end := start + digits; digits > 0 && (end == len(l) || space(l[end])) {
		return x, end
	}
	return 0, i
}

func (h *marketHeader) badEntry(l []byte) *SyntaxError {
	if h.pattern {
		return fault(quote(l), "row column")
	}
	return fault(quote(l), "row column value")
}

func readMatrixMarket(ctx context.Context, in *input, opt *Options, m *meter) (*Corpus, error) {
	h, err := in.readMarketHeader(opt.MaxLineBytes)
	if err != nil {
		return nil, err
	}
	h.signed = opt.Signed
	// Memory per row: offsets, position of the next entry, and labels. Memory per entry: as read,
	// and in the matrix.
	const aRow = 24
	anEntry := int64(20)
	if h.symmetry != "general" {
		anEntry += 8 // in the other triangle
	}
	values := int64(min(h.entries, 1<<50))
	size := Size{Documents: int(h.rows), Terms: int(min(int64(h.cols), values)), Values: values,
		Longest: int(min(longest*float64(h.entries)/float64(max(h.rows, 1)), float64(h.cols)))}
	if err := opt.memory.fits(in.name, aRow*int64(h.rows)+anEntry*values, size); err != nil {
		return nil, err
	}
	opt.memory.add(aRow * int64(h.rows))
	var pieces []*entryPiece
	var warn warnings
	var entries uint64
	row, col := h.begin(0), uint64(0) // position of the next value of an array
	expected := fmt.Sprintf("%d entries, as the header says", h.entries)
	err = scanBlocks(ctx, in, opt, func(int) parser[*entryPiece] {
		return func(data []byte) (*entryPiece, *SyntaxError) {
			p := &entryPiece{}
			return p, eachLine(data, opt.MaxLineBytes, func(l []byte, line int32) *SyntaxError { return h.parse(l, line, p) })
		}
	}, func(p *entryPiece, firstLine int64) error {
		p.firstLine = firstLine
		if n := len(p.blank); n > 0 {
			warn.lines(blankMessage, tally{int64(n), p.blank[0]}, in.name, firstLine)
		}
		pieces = append(pieces, p)
		n := min(uint64(len(p.values)), h.entries-entries)
		entries += n
		for k := uint64(0); h.array && k < n; k++ {
			p.rows, p.cols = append(p.rows, uint32(row)), append(p.cols, uint32(col))
			if row++; row == h.rows {
				col++
				row = h.begin(col)
			}
		}
		if n < uint64(len(p.values)) {
			line := p.line(int(n))
			p.rows, p.cols, p.values = p.rows[:n], p.cols[:n], p.values[:n]
			return fault("one entry more", expected).at(in.name, line)
		}
		return nil
	})
	if err == nil && entries < h.entries {
		err = fault(fmt.Sprintf("the end of the file after %d entries", entries), expected).at(in.name, in.line)
	}
	if err != nil {
		return nil, err
	}
	matrix, err := joinEntries(ctx, in.name, opt, &h, pieces)
	if err != nil {
		return nil, err
	}
	m.documents.Store(int64(h.rows))
	return vectorCorpus(in.name, matrix, opt, warn, "columns", "row", 1)
}

// joinEntries sorts the entries into rows. It fails if an entry is repeated.
func joinEntries(
	ctx context.Context, file string, opt *Options, h *marketHeader, pieces []*entryPiece,
) (*sparse.CSR, error) {
	m := &sparse.CSR{Cols: int(h.cols), Offsets: make([]int64, h.rows+1)}
	mirrored := func(row, col uint32) bool { return h.symmetry != "general" && row != col }
	sign := float32(1)
	if h.symmetry == "skew-symmetric" {
		sign = -1
	}
	for _, p := range pieces {
		for k, row := range p.rows {
			m.Offsets[row+1]++
			if col := p.cols[k]; mirrored(row, col) {
				m.Offsets[col+1]++
			}
		}
	}
	m.Allocate()
	next := slices.Clone(m.Offsets)
	for _, p := range pieces {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for k, row := range p.rows {
			col := p.cols[k]
			at := next[row]
			next[row]++
			m.Terms[at], m.Values[at] = col, p.values[k]
			if mirrored(row, col) {
				at = next[col]
				next[col]++
				m.Terms[at], m.Values[at] = row, sign*p.values[k]
			}
		}
	}
	return m, sortRows(ctx, opt.Workers, m, func(row int, column uint32) error {
		return h.repeated(file, uint32(row), column, pieces)
	})
}

// repeated returns the error for a repeated entry.
func (h *marketHeader) repeated(file string, row, col uint32, pieces []*entryPiece) error {
	if h.symmetry != "general" {
		row, col = max(row, col), min(row, col)
	}
	bad, before := fault(fmt.Sprintf("row %d, column %d again", row+1, col+1), "every entry once"), false
	for _, p := range pieces {
		for k := range p.rows {
			if p.rows[k] != row || p.cols[k] != col {
				continue
			}
			if before {
				return bad.at(file, p.line(k))
			}
			before = true
		}
	}
	return bad.at(file, 0)
}
