package corpus

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// bomb returns a gzip file with a first text and many copies of a second text.
func bomb(t *testing.T, head, text string, times int) string {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write([]byte(head))
	}
	for range times {
		if err == nil {
			_, err = w.Write([]byte(text))
		}
	}
	musttest.NoError(t, errors.Join(err, w.Close()))
	return b.String()
}

// Every reader must stop soon after the limit, with a position. Until then it may allocate five
// times the limit, because slices that grow by a quarter leave four times their size behind, plus
// the limit once for uncounted memory, plus the workers' buffers.
func TestMemoryBytes(t *testing.T) {
	musttest.SkipRace(t)
	musttest.SkipIfEmulated(t)
	const limit, workers = 16 << 20, 2
	words := &strings.Builder{}
	for i := range 200_000 {
		fmt.Fprintf(words, "%s ", strings.Map(func(r rune) rune { return r + 'a' - '0' }, fmt.Sprint(1_000_000+i)))
	}
	for name, test := range map[string]struct{ file, content, place string }{
		"values": {"a.svm", bomb(t, "", "1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1 9:1\n", 150_000),
			`a\.svm:\d+: reading on`},
		"documents": {"a.svm", bomb(t, "", "1\n", 600_000), `a\.svm:\d+: reading on`},
		"classes":   {"a.svm", words2lines(words.String()), `a\.svm:\d+: the work`},
		"text": {"a.tsv", bomb(t, "", "x\ta b c d e f g h i j k l m n o p\n", 80_000),
			`a\.tsv:\d+: reading on`},
		"terms":  {"a.tsv", "x\t" + words.String() + "\nx\tword\n", `a\.tsv:1: `},
		"a file": {"root/x/1", words.String(), `root/x/1: `},
	} {
		t.Run(name, func(t *testing.T) {
			source := writeFile(t, test.file, test.content)
			if name == "a file" {
				source = filepath.Dir(filepath.Dir(source))
			}
			var err error
			got := allocatedBy(func() {
				_, err = Read(context.Background(), source, Options{Workers: workers, MemoryBytes: limit, MinDF: 1})
			})
			var memory *MemoryError
			if !errors.As(err, &memory) {
				t.Fatalf("error %v", err)
			}
			if !regexp.MustCompile(test.place).MatchString(err.Error()) {
				t.Errorf("error %v, expected %s", err, test.place)
			}
			if most := uint64(6*limit + workers*workerBytes); got > most {
				t.Errorf("%d bytes allocated, expected at most %d", got, most)
			}
			_, err = Read(context.Background(), source, Options{Workers: workers, MemoryBytes: 1 << 30, MinDF: 1})
			if errors.As(err, &memory) {
				t.Errorf("with enough memory: %v", err)
			}
		})
	}
}

// The memory named in an error suffices and isn't much too large, for any share of the source. It
// includes the work after reading, from the corpus size.
func TestNamedMemory(t *testing.T) {
	r, words, vectors := rand.New(rand.NewPCG(1, 2)), &strings.Builder{}, &strings.Builder{}
	zipf := rand.NewZipf(r, 1.2, 10, 1<<20)
	const documents, values = 20_000, 60
	for range documents {
		words.WriteString("x\t")
		vectors.WriteString("1")
		for k := range values {
			fmt.Fprintf(words, "w%x ", zipf.Uint64())
			fmt.Fprintf(vectors, " %d:1", 1000*k+1+r.IntN(1000))
		}
		words.WriteString("\n")
		vectors.WriteString("\n")
	}
	for file, content := range map[string]string{"a.tsv": words.String(), "a.svm": vectors.String()} {
		source := writeFile(t, file, content)
		whole := readWhole(t, source, Options{}).Size()
		for _, limit := range []int64{2 << 20, 3 << 20, 5 << 20} {
			var memory *MemoryError
			opt := Options{Workers: 1, MemoryBytes: limit}
			if _, err := Read(context.Background(), source, opt); !errors.As(err, &memory) || !memory.IsTotalNeed {
				t.Fatalf("%s: %v", file, err)
			}
			opt.MemoryBytes = memory.NeedBytes
			if _, err := Read(context.Background(), source, opt); err != nil {
				t.Errorf("%s: what %d bytes name doesn't suffice: %v", file, limit, err)
			}
			opt.MemoryBytes = memory.NeedBytes * 7 / 10
			musttest.WantError(Read(context.Background(), source, opt))(t,
				fmt.Sprintf("%s within seven tenths of the named %d bytes", file, memory.NeedBytes))
			opt.MemoryBytes, opt.EstimateMemory = limit, func(s Size) int64 { return 100 * s.Values }
			_, err := Read(context.Background(), source, opt)
			if got := float64(memory.NeedBytes) / float64(100*whole.Values); !errors.As(err, &memory) || !(got < 1) {
				t.Fatal(err, got)
			}
			if got := float64(memory.NeedBytes) / float64(100*whole.Values); !(got >= 1 && got <= 1.4) {
				t.Errorf("%s: of %d bytes %.2f of the need is estimated", file, limit, got)
			}
		}
	}
}

// A corpus that is joined in steps is equal to one that is joined at once.
func TestJoinedInSteps(t *testing.T) {
	musttest.SkipIfEmulated(t)
	texts := writeFile(t, "a.tsv", strings.Repeat("x\ta b c d e f g h i j k l m n o p\ny\ta c x y z\n", 40_000))
	for _, source := range []string{"synthetic:docs=20000,terms=2000,length=100,classes=3", texts} {
		want := readWhole(t, source, Options{MinDF: 1})
		got := readWhole(t, source, Options{MinDF: 1, Workers: 3, MemoryBytes: 24 << 20})
		if got.Documents.Bytes()*joinSteps < 24<<20 || got.Digest() != want.Digest() || show(got) != show(want) {
			t.Errorf("%s: %d bytes, another corpus", source, got.Documents.Bytes())
		}
	}
}

// words2lines turns each word into the label of a document.
func words2lines(s string) string { return strings.ReplaceAll(s, " ", " 1:1\n") }

// A synthetic corpus too large for the limit gives an error before it is drawn. The memory,
// estimated from the first documents, must be accurate.
func TestMemoryBytesSynthetic(t *testing.T) {
	musttest.SkipRace(t)
	musttest.SkipIfEmulated(t)
	const source = "synthetic:docs=300000,terms=40000"
	var err error
	opt := Options{Workers: 2, MemoryBytes: 100 << 20}
	got := allocatedBy(func() { _, err = Read(context.Background(), source, opt) })
	var memory *MemoryError
	if !errors.As(err, &memory) || !strings.HasSuffix(memory.Computation, ": the whole") || got > 20<<20 {
		t.Errorf("%d bytes allocated, error %v", got, err)
	}
	// With this many terms and classes not even the tables fit.
	got = allocatedBy(func() {
		_, err = Read(context.Background(), "synthetic:docs=10,terms=4000000,classes=200",
			Options{MemoryBytes: 100 << 20})
	})
	if !errors.As(err, &memory) || got > 1<<20 {
		t.Errorf("%d bytes allocated, error %v", got, err)
	}
	for _, source := range []string{
		"synthetic:docs=9000,terms=1000,length=50", "synthetic:docs=1000,terms=30000,length=1000",
	} {
		c := readWhole(t, source, Options{})
		_, err := Read(context.Background(), source, Options{Workers: 2, MemoryBytes: 4 << 20})
		if !errors.As(err, &memory) {
			t.Fatal(err)
		}
		// Joining takes 9 bytes per value, and up to 9 more for grown slices, plus tables and
		// counters.
		if values := c.Documents.NNZ(); memory.NeedBytes < 9*values || memory.NeedBytes > 18*values+30000*240 {
			t.Errorf("%s: %d bytes foretold for %d values", source, memory.NeedBytes, values)
		}
		if _, err := Read(context.Background(), source,
			Options{Workers: 2, MemoryBytes: memory.NeedBytes + memory.NeedBytes/10}); err != nil {
			t.Errorf("with a tenth more than what was foretold: %v", err)
		}
	}
}

// allocatedBy returns the bytes that f allocates, including freed ones.
func allocatedBy(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
