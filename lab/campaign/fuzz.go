package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/matrixio"
)

var fuzzPart = part{
	name: "fuzz", short: 15 * time.Second, long: 60 * time.Minute, prepare: prepareFuzz,
	about: "mutated files and specifications; each is read in several ways, which must agree",
}

// The bounds of an input: what reading it may allocate in all beyond twice its length, and its processor time. A corpus
// is read three times.
const (
	mostAllocated = 96 << 20
	mostProcessor = 2 * time.Second
	batch         = 2000 // inputs of a process
)

func npy(descr, shape, values string) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, shape)
	return fmt.Sprintf("\x93NUMPY\x01\x00\x76\x00%-117s\n%s", header, values)
}

// grammars are valid files by the name that says their format.
var grammars = map[string][]string{
	"a.svm": {vectorLines(5), "1,2 qid:1 1:0.5 3:1e-3 # note\n-1 qid:2 2:7\n", "0.5 1:1\n1e3 2:2 900:3\n"},
	"a.tsv": {corpusLines(6), "a,b\tone two\nc\tÜber straße 東京\n", "label\ttext\na\tone\nb\ttwo\n"},
	"a.csv": {"text,label\n\"one, \"\"two\"\"\",a\nthree,b\n", "label;text\na;one\nb;two three\n"},
	"a.jsonl": {`{"text":"one two","label":"a"}` + "\n" + `{"label":["a","b"],"text":"three \u00e9 \ud83d\ude00"}` + "\n",
		`[{"text":"one","label":1},{"text":"two","label":null}]`},
	"a.ft":  {"__label__a one two\n__label__a __label__b three\n"},
	"a.txt": {"one two\nthree\n\nfour\n"},
	"a.mtx": {"%%MatrixMarket matrix coordinate real general\n% note\n2 3 3\n1 1 1.5\n2 3 2\n1 2 1e-3\n"},
	"a.npy": {npy("<f4", "2, 2", "\x00\x00\x80?\x00\x00\x00@\x00\x00\x00\x00\x00\x00\x80?"),
		npy("|u1", "2, 3", "\x01\x00\x02\x03\x01\x00")},
	"a-images-idx3-ubyte": {"\x00\x00\x08\x03\x00\x00\x00\x02\x00\x00\x00\x01\x00\x00\x00\x02\x01\x02\x03\x00"},
	"kernel": {"diffusion:t=0.5", "product(arccos:n=1,arccos:n=0)", "sum(rbf:gamma=1,power(linear):p=2)",
		"arccos:n=1,layers=3", "normalize(polynomial:gamma=2,degree=3,r=1)", "chi2:embed=tfidf-l1",
		"rbf:gamma=1,embed=logtfidf-l2"},
}

var formats = map[string]corpus.Format{"a.ft": corpus.FormatFastText, "a.txt": corpus.FormatLines}

func init() { children["fuzz"] = fuzzChild }

// prepareFuzz makes cases of a process each, which tries a batch of inputs; where it dies, it has left the input.
func prepareFuzz(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	program, err := t.build(ctx, ".", "./cmd/gram")
	if err != nil {
		return nil, err
	}
	models, err := t.models(ctx, program)
	if err != nil {
		return nil, err
	}
	x, err := gram.NewIndex(ctx, strings.Split(corpusLines(20), "\n"), gram.IndexOptions{})
	if err != nil {
		return nil, err
	}
	seeds := filepath.Join(t.scratch, "models")
	if err := write(seeds, models); err != nil {
		return nil, err
	}
	if err := x.Save(filepath.Join(seeds, "x.index")); err != nil {
		return nil, err
	}
	self, err := t.build(ctx, "lab", "./campaign")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, number int64) error {
		folder, err := t.folder(nil)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		argv := []string{self, "child", "fuzz", seeds, fmt.Sprint(t.seed), fmt.Sprint(number)}
		return t.child(ctx, folder, argv, func() string {
			input, _ := os.ReadFile(filepath.Join(folder, "input"))
			return fmt.Sprintf("at the input %.300q", input)
		})
	}, nil
}

// fuzzChild tries a batch of inputs and prints what it found.
func fuzzChild(ctx context.Context, args []string) error {
	seed, err1 := strconv.ParseUint(args[1], 10, 64)
	number, err2 := strconv.ParseInt(args[2], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	f := &fuzzer{result: &result{Next: number}, seeds: map[string][][]byte{}}
	for name, texts := range grammars {
		for _, text := range texts {
			f.seeds[name] = append(f.seeds[name], []byte(text))
		}
	}
	for name, data := range contents(args[0]) {
		kind := strings.TrimPrefix(filepath.Ext(name), ".")
		f.seeds[kind] = append(f.seeds[kind], data)
	}
	f.names = slices.Sorted(maps.Keys(f.seeds))
	err := write(".", map[string][]byte{"input": nil})
	if err == nil {
		f.left, err = os.OpenFile("input", os.O_WRONLY, 0)
	}
	if err != nil {
		return err
	}
	f.r = rand.New(rand.NewPCG(seed, uint64(number)))
	for i := range int64(batch) {
		name, data := f.input(number*batch + i)
		if err := f.bounded(ctx, name, data); err != nil {
			return err
		}
	}
	text, err := json.Marshal(f.result)
	fmt.Println(string(text))
	return err
}

type fuzzer struct {
	*result
	seeds map[string][][]byte
	names []string
	left  *os.File
	r     *rand.Rand
}

// input returns an input: the first are all beginnings of all seeds below 4 KiB.
func (f *fuzzer) input(number int64) (name string, data []byte) {
	for _, name := range f.names {
		for _, seed := range f.seeds[name] {
			if len(seed) > 4096 {
				continue
			}
			if number < int64(len(seed)) {
				f.count("beginnings of files", 1)
				return name, seed[:number]
			}
			number -= int64(len(seed))
		}
	}
	name = f.names[f.r.IntN(len(f.names))]
	if f.r.IntN(8) > 0 && (name == "model" || name == "index") { // which cost most
		name = f.names[f.r.IntN(len(f.names))]
	}
	data = mutate(f.r, f.seeds[name])
	if f.r.IntN(2) == 0 && (name == "model" || name == "index") {
		data = signed(data, name == "index")
	}
	return name, data
}

// bounded tries an input and checks what it takes.
func (f *fuzzer) bounded(ctx context.Context, name string, data []byte) error {
	if _, err := f.left.WriteAt(append([]byte(name+"\n"), data...), 0); err != nil {
		return err
	}
	if err := f.left.Truncate(int64(len(name) + 1 + len(data))); err != nil {
		return err
	}
	allocated := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(allocated)
	before, began := allocated[0].Value.Uint64(), processorTime()
	wrong := f.try(ctx, name, data)
	took := processorTime() - began
	metrics.Read(allocated)
	beyond := int64(allocated[0].Value.Uint64()-before) - 2*int64(len(data))
	f.count("inputs", 1)
	f.raise("processor time of an input in s", took.Seconds())
	f.raise("MiB allocated beyond twice an input", float64(beyond)/(1<<20))
	if took > mostProcessor || beyond > mostAllocated {
		f.find("%s takes %v and %d bytes: %.1000q", name, took, beyond, data)
	}
	if wrong != nil {
		f.find("%s: %v: %.1000q", name, wrong, data)
	}
	return nil
}

func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// try reads an input in several ways, and returns what they differ in.
func (f *fuzzer) try(ctx context.Context, name string, data []byte) error {
	switch name {
	case "kernel":
		return tryKernel(string(data))
	case "model":
		return tryModel(ctx, data)
	case "index":
		if err := write(".", map[string][]byte{"x.index": data}); err != nil {
			return err
		}
		x, err := gram.LoadIndex(ctx, "x.index", gram.Options{})
		if err != nil {
			return nil
		}
		if err := x.Save("first.index"); err != nil {
			return fmt.Errorf("what was read can't be written: %w", err)
		}
		again, err := gram.LoadIndex(ctx, "first.index", gram.Options{})
		if err != nil {
			return fmt.Errorf("what was written can't be read: %w", err)
		}
		first, err := os.ReadFile("first.index")
		if err != nil {
			return err
		}
		return twice(first, again.Save)
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

func tryModel(ctx context.Context, data []byte) error {
	m, err := gram.LoadFrom(ctx, bytes.NewReader(data))
	if err != nil {
		return nil
	}
	if err := m.Save("first.model"); err != nil {
		return fmt.Errorf("what was read can't be written: %w", err)
	}
	again, err := gram.Load("first.model")
	if err != nil {
		return fmt.Errorf("what was written can't be read: %w", err)
	}
	first, err := os.ReadFile("first.model")
	if err != nil {
		return err
	}
	return twice(first, again.Save)
}

// twice checks that saving gives these bytes.
func twice(want []byte, save func(path string) error) error {
	if err := save("again"); err != nil {
		return err
	}
	got, err := os.ReadFile("again")
	if err == nil && !bytes.Equal(got, want) {
		return fmt.Errorf("%d bytes become %d others", len(want), len(got))
	}
	return err
}

// tryCorpus reads a file with one worker, with two, and compressed; the vectors that it has are written and read.
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
	f.count("inputs that are documents", 1)
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
	again, said := read2(ctx, text)
	if again == nil || !slices.Equal(again.Documents.Values, withoutZeros(m.Values)) {
		return fmt.Errorf("written as vectors and read again: %.200s", said)
	}
	return nil
}

func read2(ctx context.Context, text []byte) (*corpus.Corpus, string) {
	c, err := gram.ReadFrom(ctx, bytes.NewReader(text), "x.svm", gram.ReadOptions{MinDF: 1, Signed: true})
	return c, fmt.Sprint(err)
}

func withoutZeros(values []float32) []float32 {
	return slices.DeleteFunc(slices.Clone(values), func(v float32) bool { return v == 0 })
}
