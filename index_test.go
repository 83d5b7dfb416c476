package gram_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// drawTexts draws texts of words by Zipf's law, with copies in which one or two words are changed.
func drawTexts(r *rand.Rand, n, words int) (texts []string) {
	word := func() string {
		return string(rune('a'+r.IntN(3))) + "w" + strings.Repeat("x", r.IntN(words)*r.IntN(words)/words)
	}
	for range n {
		var text []string
		if len(texts) > 0 && r.IntN(3) == 0 {
			text = strings.Fields(texts[r.IntN(len(texts))])
			for range min(r.IntN(3), len(text)) {
				text[r.IntN(len(text))] = word()
			}
		} else {
			for range r.IntN(30) {
				text = append(text, word())
			}
		}
		texts = append(texts, strings.Join(text, " "))
	}
	return texts
}

// After any sequence of calls, queries give the same results as for a new index, up to rounding if
// the order of columns differs. A saved and loaded index gives the same results bit for bit.
func TestIndexSequences(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 3 // one for each embedding
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		emb := []string{"", "tf-l2", "tfidf-l2"}[seed%3]
		texts := drawTexts(r, 200, 40)
		o := gram.IndexOptions{Options: gram.Options{Workers: 2}, Embedding: emb}
		x := gram.Must(gram.NewIndex(t.Context(), texts[:100], o))
		living := map[int]string{}
		for i, text := range texts[:100] {
			living[i] = text
		}
		at := 100
		for range 30 {
			switch r.IntN(4) {
			case 0, 1:
				n := min(1+r.IntN(5), len(texts)-at)
				for k, number := range gram.Must(x.Add(t.Context(), texts[at:at+n]...)) {
					living[number] = texts[at+k]
				}
				at += n
			case 2:
				numbers := slices.Sorted(maps.Keys(living))
				number := numbers[r.IntN(len(numbers))]
				musttest.NoError(t, x.Remove(number))
				if x.Remove(number) == nil || x.Remove(-1) == nil {
					t.Fatal("a document that there isn't was removed")
				}
				delete(living, number)
			case 3:
				if r.IntN(5) == 0 || emb == "tfidf-l2" { // term weights come from the last build
					musttest.NoError(t, x.Refit(t.Context()))
				}
			}
		}
		if emb == "tfidf-l2" {
			musttest.NoError(t, x.Refit(t.Context()))
		}
		numbers := slices.Sorted(maps.Keys(living))
		var left []string
		for _, n := range numbers {
			left = append(left, living[n])
		}
		if age := x.Stats(); age.Documents != len(left) {
			t.Fatalf("%+v, expected %d documents", age, len(left))
		}
		fresh := gram.Must(gram.NewIndex(t.Context(), left, o))
		path := filepath.Join(t.TempDir(), "a.index")
		musttest.NoError(t, x.Save(path))
		loaded := gram.Must(gram.LoadIndex(t.Context(), path, gram.Options{Workers: 1}))
		queries := append(drawTexts(r, 30, 60), texts[:60]...)
		near, middle, zero := 0.02, 0.3, 0.0
		even := func(n int) bool { return n%2 == 0 }
		for _, q := range []gram.IndexQuery{{K: 1}, {K: 10}, {K: 1000}, {Within: &near}, {Within: &middle}, {Within: &zero},
			{Within: &middle, K: 3}, {K: 5, Allowed: even}, {Within: &near, Allowed: even}} {
			got := gram.Must(x.Query(t.Context(), queries, q))
			if again := gram.Must(loaded.Query(t.Context(), queries, q)); fmt.Sprint(again) != fmt.Sprint(got) {
				t.Fatalf("seed %d, %+v: loaded\n%v, saved\n%v", seed, q, again, got)
			}
			of := q
			if q.Allowed != nil {
				of.Allowed = func(at int) bool { return even(numbers[at]) }
			}
			if of.K > 0 {
				of.K++ // the last document may be replaced by the next, if both are equally near
			}
			want := gram.Must(fresh.Query(t.Context(), queries, of))
			for i := range got {
				places := len(want[i])
				if q.K > 0 {
					places = min(places, q.K)
				}
				if len(got[i]) != places {
					t.Fatalf("seed %d, %q: %v, expected %v", seed, queries[i], got[i], want[i])
				}
				apart := func(k, l int) bool { // c at two ranks differs by more than rounding
					return l < 0 || l >= len(want[i]) || math.Abs(float64(want[i][k].C-want[i][l].C)) > 1e-6
				}
				for k, m := range got[i] {
					w := want[i][k]
					exact := m.Document == numbers[w.Document]
					if !(math.Abs(float64(m.C-w.C)) <= 1e-6) || !exact && apart(k, k-1) && apart(k, k+1) {
						t.Fatalf("seed %d, %q: place %d is %v, expected document %d of %v", seed, queries[i], k, m,
							numbers[w.Document], w)
					}
				}
			}
		}
	}
}

// Queries run concurrently with changes.
func TestIndexConcurrently(t *testing.T) {
	texts := drawTexts(rand.New(rand.NewPCG(9, 9)), 120, 40)
	x := gram.Must(gram.NewIndex(t.Context(), texts[:60], gram.IndexOptions{}))
	var all sync.WaitGroup
	all.Go(func() {
		for i := 60; i < len(texts); i++ {
			number := gram.Must(x.Add(t.Context(), texts[i]))[0]
			if i%2 == 0 {
				if err := x.Remove(number); err != nil {
					t.Error(err)
				}
			}
		}
		if err := x.Refit(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		all.Go(func() {
			for range 20 {
				found := gram.Must(x.Query(t.Context(), texts[:10], gram.IndexQuery{K: 3}))
				for i, list := range found {
					if len(list) != 3 || list[0].C != 0 {
						t.Errorf("text %d has %v", i, list)
					}
				}
			}
		})
	}
	all.Wait()
	if age := x.Stats(); age.Added != 0 || age.Documents != 90 {
		t.Errorf("%+v", age)
	}
	musttest.WantError(x.Query(t.Context(), texts, gram.IndexQuery{}))(t, "a query for nothing")
}

// Invalid index files give an error, never a panic.
func FuzzLoadIndex(f *testing.F) {
	x := gram.Must(gram.NewIndex(f.Context(), []string{"a b c", "a b d", "e"}, gram.IndexOptions{Embedding: "tfidf-l2"}))
	path := filepath.Join(f.TempDir(), "a.index")
	musttest.NoError(f, x.Save(path))
	whole := gram.Must(os.ReadFile(path))
	head := bytes.IndexByte(whole, '\n') + 1
	f.Add(whole[head+8+sha256.Size:])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, rest []byte) {
		sum := sha256.Sum256(rest) // a valid checksum, so that the data are decoded
		size := binary.LittleEndian.AppendUint64(nil, uint64(len(rest)))
		path := filepath.Join(t.TempDir(), "b.index")
		musttest.NoError(t, os.WriteFile(path, slices.Concat(whole[:head], size, sum[:], rest), 0o600))
		x, err := gram.LoadIndex(t.Context(), path, gram.Options{Workers: 1})
		if err != nil {
			return
		}
		musttest.Get(x.Query(t.Context(), []string{"a b"}, gram.IndexQuery{K: 2}))(t)
	})
}

// A file with a valid checksum and an invalid next number gives an error.
func TestLoadIndexNext(t *testing.T) {
	x := gram.Must(gram.NewIndex(t.Context(), nil, gram.IndexOptions{}))
	var file bytes.Buffer
	musttest.NoError(t, x.Write(&file))
	head := bytes.IndexByte(file.Bytes(), '\n') + 1
	for next, ok := range map[int]bool{0: true, 7: true, -1: false, math.MinInt: false, math.MaxInt: false} {
		var saved struct {
			Embedding, Tokenizer string
			Names                []string
			Weights              sparse.Embedder
			Numbers              []int
			Offsets              []int64
			Terms                []uint32
			Counts               []float32
			Next                 int
		}
		musttest.NoError(t, gob.NewDecoder(bytes.NewReader(file.Bytes()[head+8+sha256.Size:])).Decode(&saved))
		saved.Next = next
		var b bytes.Buffer
		musttest.NoError(t, gob.NewEncoder(&b).Encode(&saved))
		sum := sha256.Sum256(b.Bytes())
		size := binary.LittleEndian.AppendUint64(nil, uint64(b.Len()))
		sealed := slices.Concat(file.Bytes()[:head], size, sum[:], b.Bytes())
		_, err := gram.ReadIndex(t.Context(), bytes.NewReader(sealed), gram.Options{})
		if (err == nil) != ok || !ok && !strings.Contains(err.Error(), fmt.Sprint("9007199254740992, got ", next)) {
			t.Errorf("next number %d: %v", next, err)
		}
	}
}

// Errors for unreadable models and indexes are distinguishable and name the file.
func TestDamageIsToldApart(t *testing.T) {
	texts, labels := ordered(40)
	c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{}))
	kinds := []error{gram.ErrFormat, gram.ErrVersion, gram.ErrTruncated, gram.ErrDamaged}
	files := map[string]func(string) error{
		"a.model": func(path string) error { _, err := gram.Load(path); return err },
		"b.model": func(path string) error { _, err := gram.Load(path); return err },
		"a.index": func(path string) error { _, err := gram.LoadIndex(t.Context(), path, gram.Options{}); return err },
	}
	dir := t.TempDir()
	musttest.NoError(t, gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1})).
		Save(filepath.Join(dir, "a.model")))
	knn := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Type: "knn"}))
	musttest.NoError(t, knn.Save(filepath.Join(dir, "b.model")))
	musttest.NoError(t, gram.Must(gram.NewIndex(t.Context(), texts, gram.IndexOptions{})).Save(filepath.Join(dir,
		"a.index")))
	for name, load := range files {
		path := filepath.Join(dir, name)
		whole := gram.Must(os.ReadFile(path))
		line := bytes.IndexByte(whole, '\n')
		flipped := slices.Clone(whole)
		flipped[len(whole)-1] ^= 1
		for _, d := range []struct {
			what string
			file []byte
			want []error
		}{
			{"nothing", nil, kinds[:1]},
			{"text", []byte("cat\tmeow purr\n"), kinds[:1]},
			{"shifted", append([]byte("x"), whole...), kinds[:1]},
			{"another version", slices.Concat(whole[:line], []byte("7"), whole[line:]), kinds[1:2]},
			{"cut after its first line", whole[:line+1], kinds[2:]},
			{"cut in its header", whole[:line+9], kinds[2:]},
			{"cut at its end", whole[:len(whole)-1], kinds[2:]},
			{"longer", append(slices.Clone(whole), 0), kinds[3:]},
			{"a bit flipped", flipped, kinds[3:]},
			{"whole", whole, nil},
		} {
			musttest.NoError(t, os.WriteFile(path, d.file, 0o600))
			err := load(path)
			for _, kind := range kinds {
				if errors.Is(err, kind) != slices.Contains(d.want, kind) {
					t.Errorf("%s, %s: %v; is %q: %v", name, d.what, err, kind, errors.Is(err, kind))
				}
			}
			if (err == nil) != (d.want == nil) || err != nil && !strings.Contains(err.Error(), name+": ") {
				t.Errorf("%s, %s: %v, expected an error that names the file", name, d.what, err)
			}
		}
	}
}

// An index may be empty at first.
func TestIndexOfNothing(t *testing.T) {
	fewTexts := append(slices.Clone(fewTexts), "手机 手机壳", "这是手机")
	for _, o := range []gram.IndexOptions{{}, {Embedding: "tfidf-l2"}, {Tokenizer: corpus.Tokenizer{MinN: 1, MaxN: 2}}} {
		o.Warn = func(s string) { t.Errorf("%+v: warning %q", o.Tokenizer, s) }
		x := gram.Must(gram.NewIndex(t.Context(), nil, o))
		whole := gram.Must(gram.NewIndex(t.Context(), fewTexts, o))
		if near := gram.Must(x.Query(t.Context(), fewTexts, gram.IndexQuery{K: 2})); len(near[0]) != 0 {
			t.Errorf("%+v: an empty index finds %v", o, near)
		}
		for i, n := range gram.Must(x.Add(t.Context(), fewTexts...)) {
			if n != i {
				t.Errorf("text %d has number %d", i, n)
			}
		}
		if o.Embedding != "" {
			musttest.NoError(t, x.Refit(t.Context()))
		}
		got := gram.Must(x.Query(t.Context(), fewTexts, gram.IndexQuery{K: 2}))
		want := gram.Must(whole.Query(t.Context(), fewTexts, gram.IndexQuery{K: 2}))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: found %v, expected %v", o, got, want)
		}
	}
}

// The memory limit includes the data of an index outside its engine, and a file before it is read.
func TestIndexMemory(t *testing.T) {
	o := gram.Options{MemoryBytes: 16 << 20}
	x := gram.Must(gram.NewIndex(t.Context(), fewTexts, gram.IndexOptions{Options: o}))
	for i := range 1000 {
		gram.Must(x.Add(t.Context(), strings.Repeat("x", 20_000+i)))
	}
	if err := x.Refit(t.Context()); !errors.As(err, new(*corpus.MemoryError)) {
		t.Errorf("terms of 20 MB within 16 MiB: %v", err)
	}
	path := filepath.Join(t.TempDir(), "large.index")
	musttest.NoError(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 17<<20)))
	if _, err := gram.LoadIndex(t.Context(), path, o); !errors.As(err, new(*corpus.MemoryError)) {
		t.Errorf("a file of 17 MiB within 16 MiB: %v", err)
	}
}

// ending is a context that is done at the twentieth call of Err, which calls do.
type ending struct {
	context.Context
	asked int
	do    func()
}

func (e *ending) Err() error {
	if e.asked++; e.asked < 20 {
		return nil
	}
	if e.asked == 20 {
		e.do()
	}
	return context.Canceled
}

// A query ends in the middle of a text when its context is done. The index may change during a
// query.
func TestIndexQueryEnds(t *testing.T) {
	x := gram.Must(gram.NewIndex(t.Context(), fewTexts, gram.IndexOptions{}))
	removed := errors.New("the context was not asked")
	ctx := &ending{Context: t.Context()}
	ctx.do = func() { removed = x.Remove(0) }
	_, err := x.Query(ctx, []string{strings.Repeat("a b c d ", 100_000)}, gram.IndexQuery{K: 1})
	if err == nil || removed != nil || ctx.asked > 21 {
		t.Errorf("asked %d times: %v; %v", ctx.asked, err, removed)
	}
}

// Removing documents one by one takes one bit per document, not a map.
func TestIndexRemoveMany(t *testing.T) {
	const n = 1000
	x := gram.Must(gram.NewIndex(t.Context(), slices.Repeat([]string{"a b"}, n), gram.IndexOptions{}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n - 1 {
		musttest.NoError(t, x.Remove(i))
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > n {
		t.Errorf("%d bytes for each document", each)
	}
	left := gram.Must(x.Query(t.Context(), []string{"a"}, gram.IndexQuery{K: 2}))[0]
	if len(left) != 1 || left[0].Document != n-1 || x.Stats().Removed != n-1 {
		t.Errorf("%v is left, %+v", left, x.Stats())
	}
}

// The loop for incoming texts supports any number of new words, with the results of a new index.
func TestIndexGrows(t *testing.T) {
	musttest.SkipRace(t)
	const n, fresh = 4500, 20
	r := rand.New(rand.NewPCG(58, 4))
	x := gram.Must(gram.NewIndex(t.Context(), nil, gram.IndexOptions{Options: gram.Options{Workers: 1}}))
	within, kept, copies := 0.02, []string(nil), 0
	for i := range n {
		words := musttest.MakeSlice(fresh, func(k int) string { return fmt.Sprintf("new%dx%d", i, k) })
		for range 10 {
			words = append(words, fmt.Sprint("w", int(5000*math.Pow(r.Float64(), 4))))
		}
		text := strings.Join(words, " ")
		if i%10 == 9 {
			text = kept[r.IntN(len(kept))]
		}
		near := gram.Must(x.Query(t.Context(), []string{text}, gram.IndexQuery{K: 1, Within: &within}))
		if (len(near[0]) > 0) != (i%10 == 9) {
			t.Fatalf("text %d: %v", i, near[0])
		}
		if len(near[0]) > 0 {
			if copies++; kept[near[0][0].Document] != text {
				t.Fatalf("text %d is document %d", i, near[0][0].Document)
			}
			continue
		}
		kept = append(kept, text)
		gram.Must(x.Add(t.Context(), text))
	}
	if age := x.Stats(); age.Documents != n-copies || age.Added != age.Documents || age.NewTerms < n*9/10*fresh {
		t.Errorf("%+v after %d texts", age, n)
	}
	// This text has more new words than there are spare columns.
	words := musttest.MakeSlice(300_000, func(k int) string { return fmt.Sprint("other", k) })
	queries := []string{strings.Join(words, " ") + " w0 w1", kept[7] + " w3", kept[n/2] + " unheard"}
	whole := gram.Must(gram.NewIndex(t.Context(), kept, gram.IndexOptions{}))
	got := gram.Must(x.Query(t.Context(), queries, gram.IndexQuery{K: 3}))
	if want := gram.Must(whole.Query(t.Context(), queries, gram.IndexQuery{K: 3})); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, expected %v", got, want)
	}
}

// After most documents are removed, the memory of removed documents is freed, and query results are
// unchanged.
func TestIndexRemovedIsFree(t *testing.T) {
	const n = 1500
	texts := make([]string, n)
	for i := range texts {
		words := musttest.MakeSlice(1000, func(k int) string { return fmt.Sprint("w", (i*7+k*k)%3000) })
		texts[i] = strings.Join(words, " ") + fmt.Sprint(" own", i)
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // frees the memory of pools
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	x := gram.Must(gram.NewIndex(t.Context(), texts, gram.IndexOptions{Embedding: "tfidf-l2"}))
	full := heap() - before
	query := []string{texts[n-1], texts[0]}
	last := func(number int) bool { return number >= n-100 }
	want := gram.Must(x.Query(t.Context(), query, gram.IndexQuery{K: 3, Allowed: last}))
	for i := range n - 100 {
		musttest.NoError(t, x.Remove(i))
	}
	if left := heap() - before; left > full/2 {
		t.Errorf("%d MiB of %d after most documents are removed", left>>20, full>>20)
	}
	got := gram.Must(x.Query(t.Context(), query, gram.IndexQuery{K: 3}))
	if age := x.Stats(); fmt.Sprint(got) != fmt.Sprint(want) || age.Removed != n-100 || age.Documents != 100 {
		t.Errorf("found %v, expected %v; %+v", got, want, age)
	}
	runtime.KeepAlive(texts)
}
