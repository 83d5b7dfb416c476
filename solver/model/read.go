package model

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// ErrDamaged is wrapped by the errors of [Read] for a file that was changed, isn't complete, or
// never was a model.
var ErrDamaged = errors.New("not a model, or a damaged one")

// VersionError says that a file is of a version that this program doesn't know.
type VersionError struct{ Found string }

func (e *VersionError) Error() string {
	return fmt.Sprintf(
		"version %q of the form, expected %q: another version of this program wrote it", e.Found, version,
	)
}

// Bounds on what Read takes from a reader that never ends.
const (
	mostHeader = 256 << 20 // header, in bytes
	mostBytes  = 1 << 49   // the whole file
)

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r: anything after the model is an error.
//
// Memory: the bytes of the file and about as much again for the model. A file that claims to be
// larger than it is makes Read allocate no more than what is there.
//
// Errors: a *[VersionError], one that wraps [ErrDamaged] and says which part is damaged, those of
// r, and ctx.Err() within a second of cancellation, unless r blocks.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errNothingGiven
	}
	m, err := read(ctx, r, -1, nil)
	if err != nil {
		return nil, fmt.Errorf("model: %w", err)
	}
	return m, nil
}

// read reads a file of a number of bytes, -1 where that isn't known. It calls early, if not nil, once
// the header is read.
func read(ctx context.Context, r io.Reader, size int64, early func(sparse.Tokenizer)) (*Model, error) {
	in := bufio.NewReaderSize(boundReader{ctx, r}, 64<<10)
	first, err := firstLine(in)
	if err != nil {
		return nil, err
	}
	line, err := readLine(in, mostHeader)
	if err != nil {
		return nil, err
	}
	h, err := parseHeader(line)
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	parts, sum, err := h.sections(mostBytes)
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	if early != nil {
		t, err := sparse.ParseTokenizer(h.Tokenizer)
		if err != nil {
			return nil, damaged("header: %v", err)
		}
		early(t)
	}
	begin := int64(len(first) + len(line))
	total := begin + sum + sha256.Size
	var rest bytes.Buffer
	if size == total { // so much is known to be there
		rest.Grow(int(total-begin) + bytes.MinRead)
	}
	have, err := rest.ReadFrom(io.LimitReader(in, total-begin+1))
	if err != nil {
		return nil, err
	}
	if have += begin; have != total {
		return nil, damaged("%s: %d bytes, expected %d", where(parts, begin, have), have, total)
	}
	arrays, found := rest.Bytes()[:sum], rest.Bytes()[sum:]
	sum256 := sha256.New()
	sum256.Write(first)
	sum256.Write(line)
	for piece := range slices.Chunk(arrays, 16<<20) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum256.Write(piece)
	}
	if expected := sum256.Sum(nil); !bytes.Equal(found, expected) {
		return nil, damaged(
			"checksum: found %x, expected %x for what is there: header, arrays or the checksum itself were changed",
			found[:8], expected[:8],
		)
	}
	return h.decode(arrays)
}

// where names the part in which a file of so many bytes ends, if it isn't longer.
func where(parts []section, begin, size int64) string {
	for _, p := range parts {
		if begin += p.bytes; size < begin {
			return "it ends in its part " + p.name
		}
	}
	if size < begin+sha256.Size {
		return "it ends in its checksum"
	}
	return "something follows its end"
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// boundReader reads no more after the end of ctx, and so little at a time that this is soon found.
type boundReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements io.Reader.
func (b boundReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	return b.r.Read(p[:min(len(p), 1<<20)])
}

// firstLine reads the first line, which has the version.
func firstLine(in *bufio.Reader) ([]byte, error) {
	begin, err := in.Peek(len(magic) + len(version) + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	shown := string(begin)
	line, err := readLine(in, len(magic)+20)
	if err != nil && !errors.Is(err, ErrDamaged) {
		return nil, err
	}
	found, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), magic)
	if err != nil || !ok || found == "" || strings.Trim(found, "0123456789") != "" {
		return nil, damaged("it begins with %q, expected %q", shown, magic+version+"\n")
	}
	if found != version {
		return nil, &VersionError{found}
	}
	return line, nil
}

// readLine reads a line of the header with its end.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF):
			return nil, damaged("it ends in its header, after %d bytes of a line", len(line))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > most:
			return nil, damaged("header: no end of the line in %d bytes", len(line))
		}
	}
}

// decode makes the model of a header and the arrays after it, whose sizes the caller has checked.
func (h *header) decode(arrays []byte) (*Model, error) {
	m, err := h.model()
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	d := &decoder{arrays}
	if h.Vocabulary != nil {
		if m.Vocabulary, err = d.vocabulary(*h.Vocabulary); err != nil {
			return nil, damaged("vocabulary: %v", err)
		}
	}
	embedding, err := sparse.ParseEmbedding(h.Embedding)
	if err != nil {
		return nil, damaged("header: %v", err)
	}
	fitted := sparse.Embedder{
		Embedding: embedding, Documents: int(h.Fitted), Open: h.Open, Terms: array[uint32](d, h.Terms),
		DF: array[int32](d, h.Terms),
	}
	if embedding.Weighting.IDF() {
		fitted.Weights = array[float64](d, h.Terms)
	}
	if m.Embedder, err = sparse.RestoreEmbedder(fitted); err != nil {
		return nil, damaged("embedding: %v", err)
	}
	m.Support = &sparse.CSR{
		Cols: int(h.Columns), Offsets: array[int64](d, h.Vectors+1), Terms: array[uint32](d, h.Values),
		Values: array[float32](d, h.Values),
	}
	m.SupportDoc, m.SupportClass = array[int64](d, h.Vectors), array[int32](d, h.Vectors)
	if m.Classifier.Machines, err = d.machines(h.Machines, h.Coefficients); err != nil {
		return nil, damaged("machines: %v", err)
	}
	if err := m.Validate(); err != nil {
		return nil, damaged("%v", err)
	}
	return m, nil
}

// decoder takes values from the start of bytes that are known to hold them.
type decoder struct{ b []byte }

func (d *decoder) bytes(n int64) []byte {
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

// array takes the next n values.
func array[T uint32 | int32 | int64 | float32 | float64](d *decoder, n int64) []T {
	values := make([]T, n)
	used, err := binary.Decode(d.b, binary.LittleEndian, values)
	if err != nil {
		panic(err) // the caller has measured
	}
	d.b = d.b[used:]
	return values
}

// vocabulary takes lengths and texts; all terms share one string.
func (d *decoder) vocabulary(size vocabularySize) ([]string, error) {
	lengths := array[uint32](d, size.Terms)
	text := string(d.bytes(size.Bytes))
	terms := make([]string, len(lengths))
	for t, n := range lengths {
		if uint64(n) > uint64(len(text)) {
			return nil, fmt.Errorf("term %d has %d bytes, and %d are left of %d", t, n, len(text), size.Bytes)
		}
		terms[t], text = text[:n], text[n:]
	}
	if len(text) > 0 {
		return nil, fmt.Errorf("%d of %d bytes belong to no term", len(text), size.Bytes)
	}
	return terms, nil
}

// machines takes records and coefficients; all machines share two arrays.
func (d *decoder) machines(n, coefficients int64) ([]*solver.Machine, error) {
	machines := make([]*solver.Machine, n)
	sizes := make([]int64, n)
	left := coefficients
	for i := range machines {
		raw, r := d.bytes(recordBytes), record{}
		if _, err := binary.Decode(raw, binary.LittleEndian, &r); err != nil {
			panic(err) // the caller has measured
		}
		if r.Flags&flagThere == 0 {
			if len(bytes.Trim(raw, "\x00")) > 0 {
				return nil, fmt.Errorf("machine %d isn't there, and its record isn't 0", i)
			}
			continue
		}
		if r.Flags&^flagsKnown != 0 {
			return nil, fmt.Errorf("machine %d has flags %#x", i, r.Flags)
		}
		if r.Coefficients > uint64(left) || r.Iterations > math.MaxInt || r.Bounded > math.MaxInt {
			return nil, fmt.Errorf(
				"machine %d has %d coefficients, of which %d are left, %d iterations, %d coefficients at their bound",
				i, r.Coefficients, left, r.Iterations, r.Bounded,
			)
		}
		m := &solver.Machine{
			Rho: r.Rho, Objective: r.Objective, Gap: r.Gap, Iterations: int(r.Iterations), Bounded: int(r.Bounded),
			Converged: r.Flags&flagConverged != 0,
		}
		if r.Flags&flagSigmoid != 0 {
			m.Sigmoid = &r.Sigmoid
		} else if math.Float64bits(r.Sigmoid.A)|math.Float64bits(r.Sigmoid.B) != 0 {
			return nil, fmt.Errorf("machine %d has no sigmoid, and its record says one", i)
		}
		machines[i], sizes[i] = m, int64(r.Coefficients)
		left -= sizes[i]
	}
	if left > 0 {
		return nil, fmt.Errorf("%d of %d coefficients belong to no machine", left, coefficients)
	}
	support := make([]int, coefficients)
	for i, s := range array[uint32](d, coefficients) {
		support[i] = int(s)
	}
	coef := array[float64](d, coefficients)
	for i, m := range machines {
		if m != nil {
			k := sizes[i]
			m.Support, support = support[:k:k], support[k:]
			m.Coef, coef = coef[:k:k], coef[k:]
		}
	}
	return machines, nil
}
