// Package shards stores a corpus in shards, so that all workers read exactly the data of the
// planning host. Each worker reads all shards of a corpus, because embeddings depend on all
// documents.
//
// The documents form one stream of bytes, with little-endian numbers,
//
//	Documents.Offsets, Terms, Values         int64, uint32, bits of float32
//	Labels.Offsets, Labels.IDs, Groups       int64, int32, int64
//	Hashes                                   uint64
//	Vocabulary, Classes, Names               uint32 length and bytes of each text
//
// divided into shards of [ShardBytes]. The JSON object meta holds the counts and the SHA-256 of
// each shard. The SHA-256 of meta is the digest of the corpus. Objects are named
// corpora/DIGEST/meta and corpora/DIGEST/00000, 00001, ….
package shards

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/minio/sha256-simd"
)

// Prefix is the common prefix of the object names of all corpora.
const Prefix = "corpora/"

// ShardBytes is the size of each shard except the last.
const ShardBytes = 64 << 20

const version = 2

type metadata struct {
	Version   int              `json:"version"`
	Source    string           `json:"source"`
	Format    corpus.Format    `json:"format,omitempty"`
	Tokenizer corpus.Tokenizer `json:"tokenizer"`
	Rows      int64            `json:"rows"`
	Cols      int64            `json:"cols"`
	Values    int64            `json:"values"`
	Labels    int64            `json:"labels"` // total number of labels; -1 if Labels.Offsets is empty
	Groups    bool             `json:"groups,omitempty"`
	Hashes    bool             `json:"hashes,omitempty"`
	Texts     [3]int64         `json:"texts"`  // numbers of terms, classes and names; -1 for a nil list
	Bytes     int64            `json:"bytes"`  // size of the stream in bytes
	Shards    []string         `json:"shards"` // SHA-256 of each shard
}

func newMetadata(c *corpus.Corpus) metadata {
	m := metadata{
		Version: version, Source: c.Source, Format: c.Format, Tokenizer: c.Tokenizer, Rows: int64(c.Documents.Rows()),
		Cols: int64(c.Documents.Cols), Values: c.Documents.NNZ(), Labels: -1, Groups: c.Groups != nil,
		Hashes: c.Hashes != nil,
	}
	if len(c.Labels.Offsets) > 0 {
		m.Labels = int64(len(c.Labels.IDs))
	}
	m.Bytes = m.fixedBytes()
	for i, list := range textLists(c) {
		m.Texts[i] = -1
		if *list == nil {
			continue
		}
		m.Texts[i] = int64(len(*list))
		for _, s := range *list {
			m.Bytes += 4 + int64(len(s))
		}
	}
	return m
}

// textLists returns pointers to the string lists of c, in the order of the stream.
func textLists(c *corpus.Corpus) [3]*[]string {
	return [3]*[]string{&c.Vocabulary, &c.Classes, &c.Names}
}

// fixedBytes returns the size in bytes of the stream before the texts.
func (m *metadata) fixedBytes() int64 {
	n := 8*(m.Rows+1) + 8*m.Values
	if m.Labels >= 0 {
		n += 8*(m.Rows+1) + 4*m.Labels
	}
	if m.Groups {
		n += 8 * m.Rows
	}
	if m.Hashes {
		n += 8 * m.Rows
	}
	return n
}

// check checks that the counts match the size of the shards. Wrong counts could cause huge
// allocations.
func (m *metadata) check() error {
	if m.Version != version {
		return fmt.Errorf("format version is %d, but this program reads version %d", m.Version, version)
	}
	const most = math.MaxInt64 / 64
	least := int64(0)
	for _, n := range append([]int64{m.Rows, m.Cols, m.Values, m.Bytes, m.Labels + 1}, 1+m.Texts[0], 1+m.Texts[1],
		1+m.Texts[2]) {
		if n < 0 || n > most {
			return fmt.Errorf("metadata value must be between 0 and %d, got %d", int64(most), n)
		}
	}
	for _, n := range m.Texts {
		least += 4 * max(n, 0)
	}
	if least += m.fixedBytes(); least > m.Bytes {
		return fmt.Errorf("the shards have %d bytes, but need at least %d", m.Bytes, least)
	}
	if want := (m.Bytes + ShardBytes - 1) / ShardBytes; int64(len(m.Shards)) != want {
		return fmt.Errorf("%d bytes need %d shards, got %d", m.Bytes, want, len(m.Shards))
	}
	return nil
}

// CorpusBytes returns the approximate size of a corpus in memory, in bytes.
func CorpusBytes(c *corpus.Corpus) int64 {
	m := newMetadata(c)
	return m.corpusBytes()
}

// readBytes estimates the memory for reading a corpus in bytes: the corpus plus one shard.
func (m *metadata) readBytes() int64 { return m.corpusBytes() + min(m.Bytes, ShardBytes) }

func (m *metadata) corpusBytes() int64 {
	n := m.Bytes
	for _, count := range m.Texts {
		n += 16 * max(count, 0)
	}
	return n
}

// Write stores a corpus and returns its digest. It omits fields that aren't in the stream or meta,
// such as Warnings. It fails if Weights is set. It holds at most two shards in memory.
func Write(ctx context.Context, s *store.Store, c *corpus.Corpus) (digest string, err error) {
	if err := c.Validate(); err != nil {
		return "", err
	}
	if c.Weights != nil {
		return "", errors.New("corpus: document weights cannot be stored")
	}
	m := newMetadata(c)
	// Object names contain the digest of all shards, so the stream must be generated twice.
	err = writeShards(ctx, c, &m, func(b []byte) error {
		sum := sha256.Sum256(b)
		m.Shards = append(m.Shards, hex.EncodeToString(sum[:]))
		return nil
	})
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	digest = hex.EncodeToString(sum[:])
	count := 0
	err = writeShards(ctx, c, &m, func(b []byte) error {
		_, err := s.Put(ctx, shardName(digest, count), b)
		count++
		return err
	})
	if err != nil {
		return "", err
	}
	// Write meta last, so that a corpus is complete if its meta exists.
	_, err = s.Put(ctx, metadataName(digest), text)
	return digest, err
}

func metadataName(digest string) string { return Prefix + digest + "/meta" }

func shardName(digest string, i int) string { return fmt.Sprintf("%s%s/%05d", Prefix, digest, i) }

func writeShards(ctx context.Context, c *corpus.Corpus, m *metadata, yield func(b []byte) error) error {
	w := &splitter{ctx: ctx, buf: make([]byte, 0, min(m.Bytes, ShardBytes)), yield: yield}
	d := c.Documents
	offsets := d.Offsets
	if len(offsets) == 0 {
		offsets = []int64{0}
	}
	writeList(w, offsets)
	writeList(w, d.Terms)
	writeList(w, d.Values)
	if m.Labels >= 0 {
		writeList(w, c.Labels.Offsets)
		writeList(w, c.Labels.IDs)
	}
	if m.Groups {
		writeList(w, c.Groups)
	}
	if m.Hashes {
		writeList(w, c.Hashes)
	}
	for _, list := range textLists(c) {
		for _, s := range *list {
			writeList(w, []uint32{uint32(len(s))})
			w.Write([]byte(s))
		}
	}
	if len(w.buf) > 0 {
		w.flush()
	}
	return w.err
}

// GetFunc returns the contents of an object, as [store.Store.Get] does. The caller owns the
// contents.
type GetFunc func(ctx context.Context, name string) ([]byte, error)

func readMetadata(ctx context.Context, get GetFunc, digest string) (*metadata, error) {
	text, err := get(ctx, metadataName(digest))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	if found := hex.EncodeToString(sum[:]); found != digest {
		return nil, fmt.Errorf("corpus: object %s is damaged: digest must match the name, got %s",
			metadataName(digest), found)
	}
	m := &metadata{}
	r := json.NewDecoder(bytes.NewReader(text))
	r.DisallowUnknownFields()
	if err := r.Decode(m); err != nil {
		return nil, fmt.Errorf("corpus: %s: %w", metadataName(digest), err)
	}
	if err := m.check(); err != nil {
		return nil, fmt.Errorf("corpus: %s: %w", metadataName(digest), err)
	}
	return m, nil
}

// Read returns the corpus with the given digest, as stored by [Write]. memory is the memory limit
// in bytes, or 0 for no limit. Read fails if get fails, if the corpus is invalid, or with a
// *[run.MemoryError] if memory is insufficient.
func Read(ctx context.Context, get GetFunc, digest string, memory int64) (*corpus.Corpus, error) {
	m, err := readMetadata(ctx, get, digest)
	if err != nil {
		return nil, err
	}
	if need := m.readBytes(); memory > 0 && need > memory {
		return nil, &run.MemoryError{
			Computation: "corpus: reading the documents of " + m.Source, Source: m.Source, NeedBytes: need, LimitBytes: memory,
		}
	}
	count := 0
	c, err := m.read(&joiner{next: func() ([]byte, error) {
		if count == len(m.Shards) {
			return nil, io.EOF
		}
		name := shardName(digest, count)
		b, err := get(ctx, name)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(b)
		if found := hex.EncodeToString(sum[:]); found != m.Shards[count] {
			return nil, fmt.Errorf("object %s is damaged: its digest must be %s, got %s", name, m.Shards[count], found)
		}
		count++
		return b, ctx.Err()
	}})
	if err != nil {
		return nil, fmt.Errorf("corpus: %s: %w", m.Source, err)
	}
	return c, nil
}

func (m *metadata) read(r *joiner) (*corpus.Corpus, error) {
	if m.Cols > math.MaxInt || m.Rows >= math.MaxInt {
		return nil, fmt.Errorf("matrix has %d rows and %d columns, but the limit is %d", m.Rows, m.Cols, math.MaxInt-1)
	}
	d := &sparse.CSR{Cols: int(m.Cols)}
	c := &corpus.Corpus{Source: m.Source, Format: m.Format, Tokenizer: m.Tokenizer, Documents: d}
	d.Offsets = readList[int64](r, m.Rows+1)
	d.Terms = readList[uint32](r, m.Values)
	d.Values = readList[float32](r, m.Values)
	if m.Labels >= 0 {
		c.Labels.Offsets = readList[int64](r, m.Rows+1)
		c.Labels.IDs = readList[int32](r, m.Labels)
	}
	if m.Groups {
		c.Groups = readList[int64](r, m.Rows)
	}
	if m.Hashes {
		c.Hashes = readList[uint64](r, m.Rows)
	}
	left := m.Bytes - m.fixedBytes()
	for i, list := range textLists(c) {
		if m.Texts[i] < 0 {
			continue
		}
		*list = make([]string, 0, m.Texts[i])
		for range m.Texts[i] {
			n := int64(0)
			if length := readList[uint32](r, 1); r.err == nil {
				n = int64(length[0])
			}
			if left -= 4 + n; r.err == nil && left < 0 {
				r.err = fmt.Errorf("a text of %d bytes extends beyond the end of the stream", n)
			}
			if r.err != nil {
				return nil, r.err
			}
			*list = append(*list, string(readList[byte](r, n)))
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	if d.Views, r.err = corpus.TokenizerViews(c.Tokenizer, c.Vocabulary); r.err != nil {
		return nil, r.err
	}
	if left != 0 {
		return nil, fmt.Errorf("the stream has %d extra bytes after the last text", left)
	}
	return c, c.Validate()
}
