//go:build campaign

package campaign

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/musttest"
)

var fuzzPart = part{
	name: "fuzz", short: 10 * time.Second, long: 60 * time.Minute, prepare: prepareFuzz,
	about: "mutated files and specifications are read in several ways; results must agree, within time and memory limits",
}

// Limits per input: CPU time, and bytes allocated beyond twice the input's length.
const (
	maxAllocated = 96 << 20
	maxCPU       = 2 * time.Second
)

func npy(descr, shape, values string) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	return fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\n%s", header, values)
}

// grammars holds valid files, indexed by format.
var grammars = map[string][]string{
	"a.svm": {vectorLines(5), "1,2 qid:1 1:0.5 3:1e-3 # note\n-1 qid:2 2:7\n", "0.5 1:1\n1e3 2:2 900:3\n"},
	"a.tsv": {corpusLines(6), "a,b\tone two\nc\tÜber straße 東京\n", "label\ttext\na\tone\nb\ttwo\n"},
	"a.csv": {"text,label\n\"one, \"\"two\"\"\",a\nthree,b\n", "label;text\na;one\nb;two three\n"},
	"a.jsonl": {`{"text":"one two","label":"a"}` + "\n" + `{"label":["a","b"],"text":"three \u00e9 \ud83d\ude00"}` + "\n",
		`[{"text":"one","label":1},{"text":"two","label":null}]`},
	"a.ft":  {"__label__a one two\n__label__a __label__b three\n"},
	"a.txt": {"one two\nthree\n\nfour\n"},
	"a.npy": {npy("<f4", "2, 2", "\x00\x00\x80?\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x80?"),
		npy("|u1", "2, 3", "\x01\x00\x02\x03\x01\x00")},
	"a-images-idx3-ubyte": {"\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02\x01\x02\x03\x00"},
	"kernel": {"diffusion:t=0.5", "product(arccos:n=1,arccos:n=0)", "sum(rbf:gamma=1,power(linear):p=2)",
		"arccos:n=1,layers=3", "normalize(polynomial:gamma=2,degree=3,r=1)", "chi2:embed=tfidf-l1",
		"rbf:gamma=1,embed=logtfidf-l2"},
}

var formats = map[string]corpus.Format{"a.ft": corpus.FormatFastText, "a.txt": corpus.FormatLines}

// fuzzer reads inputs. If an input kills the process, the input remains in a file.
type fuzzer struct {
	*trial
	seeds      map[string][][]byte // valid inputs, indexed by format
	names      []string
	work       string      // a folder
	beginnings []beginning // prefixes of the seeds shorter than 4 KiB
}

type beginning struct {
	name string
	data []byte
}

func newFuzzer(t *trial) *fuzzer {
	f := &fuzzer{trial: t, seeds: map[string][][]byte{}, work: t.folder(nil)}
	for name, texts := range grammars {
		for _, text := range texts {
			f.seeds[name] = append(f.seeds[name], []byte(text))
		}
	}
	return f
}

func prepareFuzz(t *trial) func(number int64) bool {
	files := t.saved()
	f := newFuzzer(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		kind := strings.TrimPrefix(filepath.Ext(name), ".")
		f.seeds[kind] = append(f.seeds[kind], files[name])
	}
	f.names = slices.Sorted(maps.Keys(f.seeds))
	for _, name := range f.names {
		for _, seed := range f.seeds[name] {
			for n := 0; n < len(seed) && len(seed) <= 4096; n++ {
				f.beginnings = append(f.beginnings, beginning{name, seed[:n]})
			}
		}
	}
	left := filepath.Join(os.TempDir(), "gram-campaign-input")
	t.Logf("an input that ends the process is in %s", left)
	return func(number int64) bool {
		name, data := f.input(number)
		musttest.NoError(t, os.WriteFile(left, append([]byte(name+"\n"), data...), 0o600))
		f.bounded(name, data)
		return true
	}
}

// input returns an input. Prefixes of valid files alternate with mutations.
func (f *fuzzer) input(number int64) (name string, data []byte) {
	if number%2 == 0 && number/2 < int64(len(f.beginnings)) {
		f.count("file prefixes", 1)
		const stride = 7919 // a prime, so that a short run tries all formats
		b := f.beginnings[number/2*stride%int64(len(f.beginnings))]
		return b.name, b.data
	}
	name = f.names[f.r.IntN(len(f.names))]
	if f.r.IntN(8) > 0 && (name == "model" || name == "index") { // the slowest formats
		name = f.names[f.r.IntN(len(f.names))]
	}
	data = mutate(f.r, f.seeds[name])
	if f.r.IntN(2) == 0 && (name == "model" || name == "index") {
		data = signed(data, name == "index")
	}
	return name, data
}

// bounded reads an input within the time and memory limits.
func (f *fuzzer) bounded(name string, data []byte) {
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	before, began := allocated[0].Value.Uint64(), cpuTime()
	wrong := f.try(f.Context(), name, data)
	took := cpuTime() - began
	metrics.Read(allocated)
	beyond := int64(allocated[0].Value.Uint64()-before) - 2*int64(len(data))
	f.count("inputs", 1)
	f.raise("largest CPU time of an input in s", took.Seconds())
	f.raise("largest MiB allocated beyond twice an input", float64(beyond)/(1<<20))
	if took > maxCPU || beyond > maxAllocated {
		f.find("%s takes %v and %d bytes: %.1000q", name, took, beyond, data)
	}
	if wrong != nil {
		f.find("%s: %v: %.1000q", name, wrong, data)
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// try reads an input in several ways, and returns an error if the results differ or on a panic.
func (f *fuzzer) try(ctx context.Context, name string, data []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	switch name {
	case "kernel":
		return tryKernel(string(data))
	case "model":
		return f.trySaved(data, func(path string) (func(string) error, error) {
			m, err := gram.Load(path)
			if err != nil {
				return nil, err
			}
			return m.Save, nil
		})
	case "index":
		return f.trySaved(data, func(path string) (func(string) error, error) {
			x, err := gram.LoadIndex(ctx, path, gram.Options{})
			if err != nil {
				return nil, err
			}
			return x.Save, nil
		})
	}
	return f.tryCorpus(ctx, name, data)
}

func tryKernel(spec string) error {
	k, err := kernel.Parse(spec)
	if err != nil {
		return nil
	}
	again, err := kernel.Parse(k.String())
	if err != nil || again.String() != k.String() || !kernel.Equal(k, again) {
		return fmt.Errorf("%q is read as %v, error %v", k, again, err)
	}
	return nil
}

// trySaved loads a file, saves it, loads the result and saves it again. Both saved files must be
// equal.
func (f *fuzzer) trySaved(data []byte, load func(path string) (save func(path string) error, err error)) error {
	path := filepath.Join(f.work, "input")
	musttest.NoError(f, os.WriteFile(path, data, 0o666))
	save, err := load(path)
	if err != nil {
		return nil
	}
	var saved [2][]byte
	for i := range saved {
		if err := save(path); err != nil {
			return fmt.Errorf("the file was read but can't be written: %w", err)
		}
		saved[i] = musttest.Get(os.ReadFile(path))(f)
		if save, err = load(path); err != nil {
			return fmt.Errorf("the file was written but can't be read: %w", err)
		}
	}
	if !bytes.Equal(saved[0], saved[1]) {
		return fmt.Errorf("%d bytes become %d others", len(saved[0]), len(saved[1]))
	}
	return nil
}

// tryCorpus reads a file with one worker, with two workers and compressed, and reads its vectors
// again.
func (f *fuzzer) tryCorpus(ctx context.Context, name string, data []byte) error {
	read := func(data []byte, workers int) (*corpus.Corpus, string) {
		o := gram.ReadOptions{Format: formats[name], MinDF: 1, Signed: true, Options: gram.Options{Workers: workers}}
		c, err := gram.ReadFrom(ctx, bytes.NewReader(data), name, o)
		if err != nil {
			return nil, err.Error()
		}
		digest := c.Digest()
		return c, fmt.Sprintf("%x", digest)
	}
	c, want := read(data, 1)
	if _, got := read(data, 2); got != want {
		return fmt.Errorf("2 workers say %s, 1 says %s", got, want)
	}
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) && !bytes.HasPrefix(data, []byte("\x28\xb5\x2f\xfd")) {
		if _, got := read(zip(data), 1); got != want {
			return fmt.Errorf("compressed it says %s, plain %s", got, want)
		}
	}
	if c == nil {
		return nil
	}
	f.count("inputs with documents", 1)
	m := c.Documents
	var text []byte
	for i := range m.Rows() {
		from, to := m.Offsets[i], m.Offsets[i+1]
		var indices []uint64
		var values []float64
		for k := from; k < to; k++ {
			indices, values = append(indices, uint64(m.Terms[k])), append(values, float64(m.Values[k]))
		}
		text = matrixio.AppendVector(text, "1", indices, values, 32)
	}
	again, err := gram.ReadFrom(ctx, bytes.NewReader(text), "x.svm", gram.ReadOptions{MinDF: 1, Signed: true})
	nonzero := slices.DeleteFunc(slices.Clone(m.Values), func(v float32) bool { return v == 0 })
	if err != nil || !slices.Equal(again.Documents.Values, nonzero) {
		return fmt.Errorf("written as vectors and read again: %w", err)
	}
	return nil
}

// testdata/found contains inputs that once revealed a fault, named FORMAT-FAULT. The test reads
// these inputs, all valid inputs, and some mutations of each input.
func TestFound(t *testing.T) {
	f := newFuzzer(newTrial(t))
	for _, file := range musttest.Get(filepath.Glob(filepath.Join("testdata", "found", "*")))(t) {
		name, _, _ := strings.Cut(filepath.Base(file), "-")
		f.seeds[name] = append(f.seeds[name], musttest.Get(os.ReadFile(file))(t))
	}
	for name, seeds := range f.seeds {
		valid := f.counts["inputs with documents"]
		for i := range len(seeds) + 200 {
			data := mutate(f.r, seeds)
			if i < len(seeds) {
				data = seeds[i]
			}
			if err := f.try(t.Context(), name, data); err != nil {
				t.Errorf("%s: %v: %q", name, err, data)
			}
			read := f.counts["inputs with documents"] - valid
			if i == len(seeds)-1 && name != "kernel" && read < int64(len(grammars[name])) {
				t.Errorf("%s: %d of %d valid inputs are read", name, read, len(seeds))
			}
		}
	}
}
