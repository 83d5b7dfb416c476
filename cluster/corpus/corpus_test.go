package corpus

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/sparse"
	"github.com/minio/sha256-simd"
)

func corpora(t testing.TB) map[string]*sparse.Corpus {
	t.Helper()
	texts, err := sparse.FromTexts(t.Context(), []string{"a cat sat", "the cat ran", "", "dogs ran"},
		[]string{"x", "y", "x", "z"}, sparse.Options{
			MinDF: 1, Tokenizer: sparse.Tokenizer{MinN: 1, MaxN: 2, StopWords: "the"},
		})
	if err != nil {
		t.Fatal(err)
	}
	random, err := sparse.Read(t.Context(), "synthetic:docs=3000,terms=500,length=20,classes=3,seed=1", sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	named := *random
	named.Names, named.Groups = make([]string, 3000), make([]int64, 3000)
	for i := range named.Names {
		named.Names[i], named.Groups[i] = string(rune('a'+i%26)), int64(i)-7
	}
	return map[string]*sparse.Corpus{
		"texts": texts, "random": random, "named": &named,
		"unlabelled": {Documents: random.Documents, Source: "here"},
		"empty": {
			Documents:  &sparse.CSR{Offsets: []int64{0}, Terms: []uint32{}, Values: []float32{}},
			Vocabulary: []string{},
		},
	}
}

// All of a corpus but its warnings comes back; the same corpus has the same digest.
func TestRoundTrip(t *testing.T) {
	for name, c := range corpora(t) {
		s := store.New(&storetest.Memory{})
		digest, err := Write(t.Context(), s, c)
		if err != nil {
			t.Fatal(err)
		}
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
		// A description in JSON tells an empty list from none, and so must what comes back.
		if !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v comes back as %+v", name, want, *got)
		}
		info, err := Stat(t.Context(), getter(s), digest)
		if err != nil || info.Documents != int64(c.Documents.Rows()) || info.Source != c.Source {
			t.Errorf("%s: Stat gives %+v, error %v", name, info, err)
		}
		if _, err := Read(t.Context(), getter(s), digest, info.Memory-1); err == nil {
			t.Errorf("%s: it passes a bound of a byte less than it takes", name)
		}
	}
}

func getter(s *store.Store) Get {
	return func(ctx context.Context, name string) ([]byte, error) { return s.Get(ctx, name, nil) }
}

// A part that is missing, or whose bytes are others under a whole frame, is an error that names it.
func TestPartsAreChecked(t *testing.T) {
	c := corpora(t)["random"]
	m := &storetest.Memory{}
	s := store.New(m)
	digest, err := Write(t.Context(), s, c)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{metaName(digest), shardName(digest, 0)} {
		whole := m.Get(name + ".a0")
		if err := m.Delete(t.Context(), name+".a0"); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), getter(s), digest, 0); !errors.Is(err, store.ErrMissing) {
			t.Errorf("%s is missing: error %v", name, err)
		}
		if _, err := s.Put(t.Context(), name, []byte("{}")); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(t.Context(), getter(s), digest, 0); err == nil {
			t.Errorf("%s has other bytes and passes", name)
		}
		m.Set(name+".a0", whole)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, getter(s), digest, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: error %v", err)
	}
}

// Whatever meta and stream say, Read returns an error or a valid corpus that Write writes so.
func FuzzRead(f *testing.F) {
	for _, c := range corpora(f) {
		if c.Documents.Rows() > 100 {
			continue
		}
		m := metaOf(c)
		var all []byte
		if err := stream(f.Context(), c, &m, func(b []byte) error { all = append(all, b...); return nil }); err != nil {
			f.Fatal(err)
		}
		text, err := json.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, all)
	}
	f.Add([]byte(`{"version":1,"rows":1000000000000,"bytes":9}`), []byte{})
	f.Fuzz(func(t *testing.T, text, data []byte) {
		m := meta{}
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
		sum := sha256.Sum256(text)
		digest := hex.EncodeToString(sum[:])
		get := func(_ context.Context, name string) ([]byte, error) {
			if name == metaName(digest) {
				return text, nil
			}
			return data, nil
		}
		c, err := Read(t.Context(), get, digest, 1<<30)
		if err != nil {
			return
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	})
}
