package shards

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"github.com/minio/sha256-simd"
)

func corpora(t testing.TB) map[string]*corpus.Corpus {
	t.Helper()
	texts := musttest.Get(corpus.FromTexts(t.Context(), []string{"a cat sat", "the cat ran", "", "dogs ran"},
		[]string{"x", "y", "x", "z"}, corpus.Options{
			MinDF: 1, Tokenizer: corpus.Tokenizer{MinN: 1, MaxN: 2, StopWords: "the"},
		}))(t)
	random, err := corpus.Read(t.Context(), "synthetic:docs=3000,terms=500,length=20,classes=3,seed=1", corpus.Options{})
	musttest.NoError(t, err)
	named := *random
	named.Names, named.Groups = make([]string, 3000), make([]int64, 3000)
	for i := range named.Names {
		named.Names[i], named.Groups[i] = string(rune('a'+i%26)), int64(i)-7
	}
	return map[string]*corpus.Corpus{
		"texts": texts, "random": random, "named": &named,
		"unlabelled": {Documents: random.Documents, Source: "here"},
		"empty": {
			Documents:  &sparse.CSR{Offsets: []int64{0}, Terms: []uint32{}, Values: []float32{}},
			Vocabulary: []string{},
		},
	}
}

// Read restores a corpus except for its warnings. Equal corpora have equal digests.
func TestRoundTrip(t *testing.T) {
	for name, c := range corpora(t) {
		s := store.New(&storetest.MemoryBucket{})
		digest := musttest.Get(Write(t.Context(), s, c))(t)
		again, err := Write(t.Context(), s, c)
		if err != nil || again != digest {
			t.Errorf("%s: digest %s, then %s, error %v", name, digest, again, err)
		}
		got, err := Read(t.Context(), getter(s), digest, 0)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := *c
		want.Warnings = nil
		// nil and empty lists are restored as such, because JSON distinguishes them
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v comes back as %+v", name, want, *got)
		}
		info, err := readMetadata(t.Context(), getter(s), digest)
		if err != nil || info.Rows != int64(c.Documents.Rows()) || info.Source != c.Source {
			t.Fatalf("%s: it begins with %+v, error %v", name, info, err)
		}
		// a copy that is smaller than a shard, and the headers of texts
		memory := 2*info.Bytes + 16*int64(len(c.Vocabulary)+len(c.Classes)+len(c.Names))
		if info.readBytes() != memory {
			t.Errorf("%s: %d bytes of memory, expected %d", name, info.readBytes(), memory)
		}
		musttest.WantError(Read(t.Context(), getter(s), digest, memory-1))(t, name+" in a byte less than it takes")
	}
}

func getter(s *store.Store) GetFunc {
	return func(ctx context.Context, name string) ([]byte, error) { return s.Get(ctx, name, nil) }
}

// If a part is missing or has different contents, the error names the part.
func TestPartsAreChecked(t *testing.T) {
	c := corpora(t)["random"]
	m := &storetest.MemoryBucket{}
	s := store.New(m)
	digest := musttest.Get(Write(t.Context(), s, c))(t)
	for _, name := range []string{metadataName(digest), shardName(digest, 0)} {
		whole := m.Get(name + ".a0")
		musttest.NoError(t, m.Delete(t.Context(), name+".a0"))
		musttest.WantError(Read(t.Context(), getter(s), digest, 0))(t, name+" is missing", store.ErrMissing)
		musttest.Get(s.Put(t.Context(), name, []byte("{}")))(t)
		musttest.WantError(Read(t.Context(), getter(s), digest, 0))(t, name+" has other bytes", "digest must ")
		m.Set(name+".a0", whole)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(Read(ctx, getter(s), digest, 0))(t, "after the end", context.Canceled)
}

// parts returns the meta and the stream of a corpus of up to one shard.
func parts(t testing.TB, c *corpus.Corpus) (metadata, []byte) {
	t.Helper()
	m := newMetadata(c)
	var all []byte
	musttest.NoError(t, writeShards(t.Context(), c, &m, func(b []byte) error { all = append(all, b...); return nil }))
	return m, all
}

// stored returns a GetFunc for a meta text and a stream, and the digest of the corpus.
func stored(text, data []byte) (GetFunc, string) {
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	return func(_ context.Context, name string) ([]byte, error) {
		if name == metadataName(digest) {
			return text, nil
		}
		return data, nil
	}, digest
}

// sealed sets the digest of a nonempty stream in m, and returns the text of m.
func sealed(t testing.TB, m metadata, data []byte) []byte {
	t.Helper()
	sum := sha256.Sum256(data)
	m.Shards = append([]string{hex.EncodeToString(sum[:])}, m.Shards...)
	return musttest.Get(json.Marshal(m))(t)
}

// Invalid contents with correct digests are rejected before memory is allocated.
func TestContents(t *testing.T) {
	c := corpora(t)["texts"]
	_, data := parts(t, c)
	rows, last := c.Documents.Rows(), len(c.Classes[len(c.Classes)-1])
	terms, texts := 8*(rows+1), 8*(rows+1)+8*int(c.Documents.NNZ())+8*(rows+1)+4*len(c.Labels.IDs)+8*rows
	for want, change := range map[string]func(m *metadata, data []byte) []byte{
		"format version is 1, but this program reads": func(m *metadata, b []byte) []byte { m.Version = 1; return b },
		"between 0 and 144115188075855871, got -1":    func(m *metadata, b []byte) []byte { m.Rows = -1; return b },
		"between 0 and 144115188075855871, got 2305843009213693952": func(m *metadata, b []byte) []byte {
			m.Values = 1 << 61
			return b
		},
		"bytes, but need at least": func(m *metadata, b []byte) []byte { m.Values += 1 << 40; return b },
		"need 1 shards, got 2": func(m *metadata, b []byte) []byte {
			m.Shards = []string{"another"}
			return b
		},
		"unexpected EOF": func(_ *metadata, b []byte) []byte { return b[:len(b)-1] },
		"a text of 4294967295 bytes extends beyond": func(_ *metadata, b []byte) []byte {
			copy(b[texts:], "\xff\xff\xff\xff")
			return b
		},
		"1 extra bytes after the last text": func(_ *metadata, b []byte) []byte { b[len(b)-last-4]--; return b },
		"but indices must increase": func(_ *metadata,
			b []byte) []byte {
			copy(b[terms:], "\xff\xff\xff\x7f")
			return b
		},
	} {
		m, _ := parts(t, c)
		changed := change(&m, bytes.Clone(data))
		get, digest := stored(sealed(t, m, changed), changed)
		musttest.WantError(Read(t.Context(), get, digest, 0))(t, "a damaged corpus", want)
	}
	m, _ := parts(t, c)
	text := sealed(t, m, data)
	get, digest := stored(append([]byte(`{"more":1,`), text[1:]...), data)
	musttest.WantError(Read(t.Context(), get, digest, 0))(t, "an unknown field", `unknown field "more"`)
	get, digest = stored(text, data) // ignores the context
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(Read(ended, get, digest, 0))(t, "after the end", context.Canceled)
}

// For an invalid corpus, or after ctx is done, nothing is written.
func TestNothingIsWritten(t *testing.T) {
	c := corpora(t)["random"]
	wrong := *c
	wrong.Documents = &sparse.CSR{Cols: 1, Offsets: []int64{0, 1}, Terms: []uint32{1}, Values: []float32{1}}
	wrong.Labels = sparse.Labels{}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for what, write := range map[string]func(s *store.Store) error{
		"not valid": func(s *store.Store) error { _, err := Write(t.Context(), s, &wrong); return err },
		"cancelled": func(s *store.Store) error { _, err := Write(ended, s, c); return err },
	} {
		s := store.New(&storetest.MemoryBucket{})
		musttest.WantError(write(s))(t, what)
		err := s.List(t.Context(), Prefix, func(o store.Object) error { return fmt.Errorf("%s is there", o.Name) })
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// An error of the store is returned unchanged, even if the error wraps io.EOF, as for a lost
// connection.
func TestErrorOfTheStore(t *testing.T) {
	s := store.New(&storetest.MemoryBucket{})
	digest := musttest.Get(Write(t.Context(), s, corpora(t)["random"]))(t)
	hungUp := &url.Error{Op: "Get", URL: "http://host", Err: io.EOF}
	musttest.WantError(Read(t.Context(), func(ctx context.Context, name string) ([]byte, error) {
		if strings.HasSuffix(name, "/00000") {
			return nil, hungUp
		}
		return s.Get(ctx, name, nil)
	}, digest, 0))(t, "a connection that is lost", hungUp)
}

// A corpus that exceeds a shard is stored in two shards. The first shard is full.
func TestSeveralShards(t *testing.T) {
	if testing.Short() {
		t.Skip("70 MB of documents")
	}
	const rows, each = 3, 3_000_000
	d := &sparse.CSR{Cols: each, Offsets: []int64{0}}
	for i := range rows {
		for j := range each {
			d.Terms, d.Values = append(d.Terms, uint32(j)), append(d.Values, float32(1+(i+j)%97))
		}
		d.Offsets = append(d.Offsets, int64(len(d.Terms)))
	}
	c := &corpus.Corpus{Documents: d, Source: "large"}
	s := store.New(&storetest.MemoryBucket{})
	digest, err := Write(t.Context(), s, c)
	musttest.NoError(t, err)
	var lengths []int64
	err = s.List(t.Context(), Prefix+digest+"/0", func(o store.Object) error {
		b, err := s.Get(t.Context(), o.Name, nil)
		lengths = append(lengths, int64(len(b)))
		return err
	})
	if want := []int64{ShardBytes, 8*(rows+1) + 8*rows*each - ShardBytes}; err != nil || !slices.Equal(lengths, want) {
		t.Errorf("shards of %d bytes, error %v, expected %d", lengths, err, want)
	}
	got, err := Read(t.Context(), getter(s), digest, 0)
	if err != nil || !reflect.DeepEqual(got.Documents, d) {
		t.Errorf("other documents come back, error %v", err)
	}
}

// For any input, Read fails or returns a valid corpus, for which Write writes the same stream.
func FuzzRead(f *testing.F) {
	for _, c := range corpora(f) {
		if c.Documents.Rows() > 100 {
			continue
		}
		m, all := parts(f, c)
		f.Add(musttest.Get(json.Marshal(m))(f), all)
	}
	f.Add([]byte(`{"version":2,"rows":1000000000000,"bytes":9}`), []byte{})
	f.Fuzz(func(t *testing.T, text, data []byte) {
		m := metadata{}
		if json.Unmarshal(text, &m) != nil || len(data) > ShardBytes {
			return
		}
		m.Shards = nil
		if len(data) > 0 {
			sum := sha256.Sum256(data)
			m.Shards = []string{hex.EncodeToString(sum[:])}
		}
		text, err := json.Marshal(m)
		if err != nil {
			return
		}
		get, digest := stored(text, data)
		c, err := Read(t.Context(), get, digest, 1<<30)
		if err != nil {
			return
		}
		musttest.NoError(t, c.Validate())
	})
}
