package corpus

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/sparse"
)

var numPyFormat = fileFormat{name: FormatNumPy, magic: []string{npyMagic, zipMagic}, read: readNumPy}

const (
	npyMagic = "\x93NUMPY"
	zipMagic = "PK\x03\x04"
)

// A .npy file has a magic number, a two-byte version, the length of a header, the header (a Python
// dictionary), and the values. A .npz file is a zip of such files; scipy.sparse.save_npz writes
// format.npy, shape.npy, indptr.npy, indices.npy and data.npy. Source:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.

// readNumPy reads a dense matrix in a .npy file, or a SciPy CSR matrix in a .npz file. If a .npz
// file isn't a regular file, it is read into memory first.
func readNumPy(ctx context.Context, in *input, opt *Options, m *progressMeter) (*Corpus, error) {
	r := &arrayReader{ctx: ctx, in: in, opt: opt, name: in.name}
	head, _ := in.r.Peek(len(zipMagic))
	var documents *sparse.CSR
	var err error
	if string(head) == zipMagic {
		documents, err = r.readCSR()
	} else if a, bad := r.readHeader(in.r); bad == nil {
		documents, err = r.readDense(a, 1)
	} else {
		err = bad
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, err
	}
	m.documents.Store(int64(documents.Rows()))
	return newVectorCorpus(in.name, documents, opt, "columns", "row", 0)
}

type arrayReader struct {
	ctx  context.Context
	in   *input
	opt  *Options
	name string // name of the file, and of the member of a .npz file
}

func (r *arrayReader) syntaxError(found, expected string) error {
	return newSyntaxError(found, expected).withPosition(r.name, 0)
}

// npyArray holds the header of an array and a reader of its values.
type npyArray struct {
	r           io.Reader
	kind        byte // type of the values: b, i, u or f; S or U for texts
	size        int  // bytes per value
	order       binary.ByteOrder
	columnMajor bool
	shape       []int64
}

var npyHeader = regexp.MustCompile(`^\s*\{\s*'descr'\s*:\s*'([<>|=]?)([a-zA-Z])(\d{1,4})'\s*,` +
	`\s*'fortran_order'\s*:\s*(True|False)\s*,` +
	`\s*'shape'\s*:\s*\(([0-9,\s]*)\)\s*,?\s*\}\s*$`)

func (r *arrayReader) readHeader(from io.Reader) (*npyArray, error) {
	const expected = "a .npy file"
	begin := make([]byte, 8)
	if _, err := io.ReadFull(from, begin); err != nil {
		return nil, r.readError(err, expected)
	}
	if string(begin[:6]) != npyMagic {
		return nil, r.syntaxError(fmt.Sprintf("the first bytes % x", begin), expected)
	}
	length := make([]byte, 2)
	if begin[6] > 1 {
		length = make([]byte, 4)
	}
	if _, err := io.ReadFull(from, length); err != nil {
		return nil, r.readError(err, expected)
	}
	n := binary.LittleEndian.Uint32(append(slices.Clone(length), 0, 0)[:4])
	if n > 64<<10 {
		return nil, r.syntaxError(fmt.Sprintf("a header of %d bytes", n), "at most 64 KiB")
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(from, text); err != nil {
		return nil, r.readError(err, expected)
	}
	found := npyHeader.FindStringSubmatch(string(text))
	if found == nil {
		return nil, r.syntaxError("the header "+quote(bytes.TrimSpace(text)),
			"descr, fortran_order and shape of an array of numbers")
	}
	a := &npyArray{r: from, kind: found[2][0], columnMajor: found[4] == "True", order: binary.LittleEndian}
	if found[1] == ">" {
		a.order = binary.BigEndian
	}
	a.size, _ = strconv.Atoi(found[3])
	for part := range strings.SplitSeq(found[5], ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil || n > math.MaxInt32*int64(1<<16) {
			return nil, r.syntaxError("a dimension of "+quote(part), "a size that fits in memory")
		}
		a.shape = append(a.shape, n)
	}
	good := map[string][]int{"b": {1}, "i": {1, 2, 4, 8}, "u": {1, 2, 4, 8}, "f": {4, 8}}[string(a.kind)]
	if a.kind == 'U' {
		a.size *= 4
	}
	if !slices.Contains(good, a.size) && a.kind != 'S' && a.kind != 'U' {
		return nil, r.syntaxError(fmt.Sprintf("values of type %c%d", a.kind, a.size), "b1, i1 to i8, u1 to u8, f4 or f8")
	}
	return a, nil
}

func (r *arrayReader) readError(err error, expected string) error {
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return r.syntaxError("the end of the file", expected)
	case r.name != r.in.name:
		return (&SyntaxError{Found: err.Error(), Expected: "an undamaged zip file", Err: err}).withPosition(r.name, 0)
	}
	return r.in.readError(0, err)
}

// checkEnd checks that no data follow the values. Reading to the end also verifies the checksum of
// compressed data.
func (r *arrayReader) checkEnd(from io.Reader, last string) error {
	switch n, err := io.ReadFull(from, make([]byte, 1)); {
	case n > 0:
		return r.syntaxError("data after "+last, "the end of the file, according to the header")
	case err != io.EOF:
		return r.readError(err, "")
	}
	return nil
}

// decode decodes a value. Integers beyond ±2⁵³ are rounded.
func (a *npyArray) decode(b []byte) float64 {
	var bits uint64
	switch a.size {
	case 1:
		bits = uint64(b[0])
	case 2:
		bits = uint64(a.order.Uint16(b))
	case 4:
		bits = uint64(a.order.Uint32(b))
	case 8:
		bits = a.order.Uint64(b)
	}
	switch {
	case a.kind == 'f' && a.size == 4:
		return float64(math.Float32frombits(uint32(bits)))
	case a.kind == 'f':
		return math.Float64frombits(bits)
	case a.kind == 'i':
		shift := 64 - 8*a.size
		return float64(int64(bits<<shift) >> shift)
	}
	return float64(bits)
}

// eachValue calls f for the n values in file order.
func (r *arrayReader) eachValue(a *npyArray, n int64, f func(i int64, v float64) error) error {
	if a.kind == 'S' || a.kind == 'U' {
		return r.syntaxError("an array of texts", "numbers")
	}
	buffer := make([]byte, min(n, 8<<10)*int64(a.size))
	for i := int64(0); i < n; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		part := buffer[:min(int64(len(buffer)), (n-i)*int64(a.size))]
		if _, err := io.ReadFull(a.r, part); err != nil {
			return r.readError(err, fmt.Sprintf("%d values, according to the header", n))
		}
		for at := 0; at < len(part); at += a.size {
			if err := f(i, a.decode(part[at:at+a.size])); err != nil {
				return err
			}
			i++
		}
		if r.opt.memory.exceeded() {
			return r.opt.memory.check(r.name)
		}
	}
	return nil
}

func (r *arrayReader) checkValue(row, column int64, v float64) (float32, error) {
	u := float32(v)
	finite := !math.IsNaN(v) && !math.IsInf(float64(u), 0)
	if finite && (v >= 0 || r.opt.Signed) {
		return u + 0, nil // + 0 turns −0 into 0
	}
	found := fmt.Sprintf("value %v in row %d and column %d", v, row, column)
	if finite {
		return 0, negativeError(found).withPosition(r.name, 0)
	}
	return 0, r.syntaxError(found, "a finite number")
}

// Memory per row and per value in bytes, while the matrix grows.
const numPyRowBytes, numPyValueBytes = 36, 28

// readDense reads a two-dimensional array, and divides the values by divisor.
func (r *arrayReader) readDense(a *npyArray, divisor float64) (*sparse.CSR, error) {
	if len(a.shape) != 2 || a.shape[0] < 1 || a.shape[1] < 1 || a.shape[0] > math.MaxInt32 || a.shape[1] > maxIndex+1 {
		return nil, r.syntaxError(fmt.Sprintf("an array of shape %v", a.shape), "a matrix: rows and columns")
	}
	rows, cols := a.shape[0], a.shape[1]
	if rows > math.MaxInt64/16/cols {
		return nil, r.syntaxError(fmt.Sprintf("an array of shape %v", a.shape), "a size that fits in memory")
	}
	short := cols // values per row or, in column-major order, per column
	if a.columnMajor {
		short = rows
	}
	out := &sparse.CSR{Cols: int(short), Offsets: []int64{0}}
	value := int64(numPyValueBytes)
	err := r.eachValue(a, rows*cols, func(i int64, v float64) error {
		if i == numPySampleValues && r.mostlyDense(out, a, rows*cols) {
			value = 0 // counted by mostlyDense
			if err := r.opt.memory.check(r.name); err != nil {
				return err
			}
			out.Terms = slices.Grow(out.Terms, int(rows*cols-i))
			out.Values = slices.Grow(out.Values, int(rows*cols-i))
		}
		stored, at := i/short, i%short
		row, column := stored, at
		if a.columnMajor {
			row, column = at, stored
		}
		u, err := r.checkValue(row, column, v/divisor)
		if err != nil {
			return err
		}
		if u != 0 {
			out.Terms, out.Values = append(out.Terms, uint32(at)), append(out.Values, u)
			r.opt.memory.add(value)
		}
		if at == short-1 {
			out.Offsets = append(out.Offsets, int64(len(out.Values)))
			r.opt.memory.add(numPyRowBytes)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.checkEnd(r.in.r, "the values"); err != nil {
		return nil, err
	}
	if a.columnMajor {
		r.opt.memory.add(numPyRowBytes*rows + 8*out.NNZ())
		if err := r.opt.memory.check(r.name); err != nil {
			return nil, err
		}
		return r.transpose(out)
	}
	out.Offsets, out.Terms, out.Values = slices.Clip(out.Offsets), slices.Clip(out.Terms), slices.Clip(out.Values)
	return out, nil
}

// numPySampleValues is the number of values read before memory for the other values is reserved.
const numPySampleValues = 1 << 18

// mostlyDense reports whether at least half of the first values are nonzero, and the file is long
// enough for all n values. If so, it counts the memory of the whole matrix.
func (r *arrayReader) mostlyDense(m *sparse.CSR, a *npyArray, n int64) bool {
	f, ok := r.in.file.(*os.File)
	if !ok || len(m.Values) < numPySampleValues/2 || n < 4*numPySampleValues {
		return false
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() < n*int64(a.size) {
		return false
	}
	r.opt.memory.add(8*n - numPyValueBytes*int64(len(m.Values)))
	return true
}

func (r *arrayReader) transpose(m *sparse.CSR) (*sparse.CSR, error) {
	t := &sparse.CSR{Cols: m.Rows(), Offsets: make([]int64, m.Cols+1)}
	for _, j := range m.Terms {
		t.Offsets[j+1]++
	}
	t.Allocate()
	next := slices.Clone(t.Offsets)
	for i := range m.Rows() {
		terms, values := m.Row(i)
		for k, j := range terms {
			t.Terms[next[j]], t.Values[next[j]] = uint32(i), values[k]
			next[j]++
		}
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
	}
	return t, nil
}
