package gram

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// An index file consists of a line with the format's name and version, the length of the body (8
// bytes, little-endian), the SHA-256 of the body, and the body.
const (
	indexName, indexVersion = "gram index ", "2"
	indexHeaderBytes        = 8 + sha256.Size
)

// maxDocumentNumber bounds document numbers, so that float64 represents them exactly.
const maxDocumentNumber int64 = 1 << 53

// savedIndex is the body of an index file, encoded by package gob.
type savedIndex struct {
	Embedding, Tokenizer string
	Names                []string
	Weights              sparse.Embedder
	Numbers              []int
	Offsets              []int64
	Terms                []uint32
	Counts               []float32
	Next                 int
}

// Save writes the index to a file atomically: after an error or a crash the old file remains.
func (x *Index) Save(path string) (err error) {
	defer convertError(&err)
	if err := x.check(context.Background()); err != nil {
		return err
	}
	return save(path, x.Write)
}

func save(path string, write func(io.Writer) error) error {
	f, err := atomicfile.Create(path, "")
	if err != nil {
		return fmt.Errorf("gram: %w", err)
	}
	defer f.Abort()
	if err := write(f); err != nil {
		return fmt.Errorf("gram: %s: %w", path, err)
	}
	return f.Commit()
}

// Write writes the index to w in the format of [Index.Save]. [ReadIndex] reads this format.
func (x *Index) Write(w io.Writer) (err error) {
	defer convertError(&err)
	if w == nil {
		return errors.New("gram: writer is nil")
	}
	s, err := x.lockForChange(context.Background())
	if err != nil {
		return err
	}
	defer x.writeMu.Unlock()
	documents := s.currentDocuments()
	m := matrixOf(documents, len(x.vocabulary))
	out := savedIndex{Embedding: x.embedding.String(), Tokenizer: x.tokenizer.String(), Names: x.vocabulary,
		Next:    s.nextNumber,
		Offsets: m.Offsets, Terms: m.Terms, Counts: m.Values,
		Weights: s.fittedEmbedder()}
	out.Weights.Embedding = sparse.Embedding{} // already in savedIndex.Embedding
	for _, d := range documents {
		out.Numbers = append(out.Numbers, d.number)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&out); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	size := binary.LittleEndian.AppendUint64(nil, uint64(b.Len()))
	for _, part := range [][]byte{[]byte(indexName + indexVersion + "\n"), size, sum[:], b.Bytes()} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// LoadIndex reads an index that [Index.Save] wrote. Queries return the same results as in the saved
// index. The file contains the tokenizer and the embedding. Errors about an invalid file wrap
// [ErrFormat], [ErrVersion], [ErrTruncated] or [ErrDamaged].
func LoadIndex(ctx context.Context, path string, o Options) (_ *Index, err error) {
	defer convertError(&err)
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("gram: %w", err)
	}
	defer f.Close()
	x, err := ReadIndex(ctx, f, o)
	if err != nil {
		return nil, fmt.Errorf("gram: %s: %w", path, err)
	}
	return x, nil
}

// ReadIndex is like [LoadIndex] for an index that [Index.Write] wrote. It reads r until EOF. If ctx
// is done during a blocked call of r.Read, ReadIndex returns without waiting for the call.
func ReadIndex(ctx context.Context, r io.Reader, o Options) (_ *Index, err error) {
	defer convertError(&err)
	if err := run.CheckContext(ctx, "gram"); err != nil {
		return nil, err
	}
	if r == nil {
		return nil, errors.New("gram: reader is nil")
	}
	in, stop := run.ContextReader(ctx, "gram: the reader", r)
	defer stop()
	if o.MemoryBytes > 0 && o.MemoryBytes < math.MaxInt64 {
		in = io.LimitReader(in, o.MemoryBytes+1)
	}
	b, err := io.ReadAll(in)
	if err == nil {
		err = run.CheckMemory(int64(len(b)), o.MemoryBytes, "reading the index")
	}
	if err != nil {
		return nil, fmt.Errorf("gram: %w", err)
	}
	return readIndex(ctx, b, o)
}

func readIndex(ctx context.Context, b []byte, o Options) (*Index, error) {
	b, err := indexBody(b)
	if err != nil {
		return nil, err
	}
	var in savedIndex
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&in); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	x := &Index{o: IndexOptions{Options: o}, initialized: true}
	documents, weights, err := in.restore(x)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if err := x.build(ctx, in.Names, documents, weights, in.Next, 0, IndexStats{Documents: len(documents)}); err != nil {
		return nil, err
	}
	return x, nil
}

func indexBody(b []byte) ([]byte, error) {
	line, _, ended := bytes.Cut(b[:min(len(b), len(indexName)+20)], []byte("\n"))
	version, ok := strings.CutPrefix(string(line), indexName)
	if !ok || !ended || version == "" || strings.Trim(version, "0123456789") != "" {
		form := indexName + indexVersion + "\n"
		return nil, fmt.Errorf("%w: the file must begin with %q, got %q", ErrFormat, form, b[:min(len(b), len(form))])
	}
	if version != indexVersion {
		return nil, fmt.Errorf("format version %q, but this program reads version %q: %w", version, indexVersion, ErrVersion)
	}
	rest := b[len(line)+1:]
	if len(rest) < indexHeaderBytes {
		return nil, fmt.Errorf("%w: the file ends within its header", ErrTruncated)
	}
	size, sum, rest := binary.LittleEndian.Uint64(rest), rest[8:indexHeaderBytes], rest[indexHeaderBytes:]
	switch found := sha256.Sum256(rest); {
	case uint64(len(rest)) < size:
		return nil, fmt.Errorf("%w: the file has only %d of %d bytes", ErrTruncated, len(rest), size)
	case uint64(len(rest)) > size:
		return nil, fmt.Errorf("%w: the file has extra data at its end", ErrDamaged)
	case !bytes.Equal(found[:], sum):
		return nil, fmt.Errorf("%w: checksum mismatch", ErrDamaged)
	}
	return rest, nil
}

// restore sets x.embedding and x.tokenizer, and returns the documents and the fitted embedder.
func (in *savedIndex) restore(x *Index) (documents []indexDocument, weights *sparse.Embedder, err error) {
	if x.embedding, err = sparse.ParseEmbedding(in.Embedding); err != nil {
		return nil, nil, err
	}
	if x.tokenizer, err = corpus.ParseTokenizer(in.Tokenizer); err != nil {
		return nil, nil, err
	}
	m := &sparse.CSR{Cols: len(in.Names), Offsets: in.Offsets, Terms: in.Terms, Values: in.Counts}
	if err := m.Validate(); err != nil {
		return nil, nil, err
	}
	in.Weights.Embedding = x.embedding
	weights, err = sparse.RestoreEmbedder(in.Weights)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case len(in.Numbers) != m.Rows():
		return nil, nil, fmt.Errorf("got %d document numbers for %d documents", len(in.Numbers), m.Rows())
	case len(weights.Terms) > len(in.Names):
		return nil, nil, fmt.Errorf("got %d weights for %d terms", len(weights.Terms), len(in.Names))
	case len(columnsOf(in.Names)) != len(in.Names):
		return nil, nil, errors.New("terms must be unique")
	}
	for k, t := range weights.Terms {
		if int(t) != k {
			return nil, nil, fmt.Errorf("weight %d belongs to column %d, but weights must be in column order", k, t)
		}
	}
	if in.Next < 0 || int64(in.Next) > maxDocumentNumber {
		return nil, nil, fmt.Errorf("number of the next document must be between 0 and %d, got %d", maxDocumentNumber,
			in.Next)
	}
	documents = make([]indexDocument, m.Rows())
	for i, n := range in.Numbers {
		if n < 0 || n >= in.Next || i > 0 && n <= in.Numbers[i-1] {
			return nil, nil, fmt.Errorf("document %d has number %d, but numbers must be ascending and below %d", i, n, in.Next)
		}
		terms, counts := m.Row(i)
		documents[i] = indexDocument{number: n, terms: terms, counts: counts}
	}
	return documents, weights, nil
}
