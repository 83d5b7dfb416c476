package archive_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// sample has a field of each kind that a file can hold.
type sample struct {
	Power      int
	Kind       kind
	Seed       uint64
	Inside     struct{ Deep float64 }
	Source     string
	Corpus     [32]byte
	Classes    []string
	Vocabulary []string
	Tokenizer  corpus.Tokenizer
	Form       corpus.FormatOptions
	Embedder   *sparse.Embedder
	Weights    []float32
	Offsets    []int64
	Machines   []*machine
}

type kind int

const (
	even kind = iota
	odd
)

func (k kind) String() string { return []string{"even", "odd"}[k] }

type machine struct {
	Steps int
	Bias  float64
	Odd   bool
	All   []float64 `json:"-"`
}

var form = archive.Format[sample]{
	Package: "sample", Name: "gram sample ",
	Validate: func(m *sample) error {
		if m == nil || !(m.Inside.Deep < 5) {
			return errors.New("sample: too deep")
		}
		return nil
	},
}

func init() { form.Describe = describe } // breaks an initialization cycle

func describe(f *archive.File, m *sample) {
	f.Key("power", &m.Power)
	archive.Enum(f, "kind", &m.Kind, even, odd)
	f.OptionalKey("seed", &m.Seed)
	f.Object("inside", func() { f.Key("deep", &m.Inside.Deep) })
	f.Corpus(&m.Source, &m.Corpus)
	f.Strings("classes", &m.Classes)
	f.Vocabulary(&m.Vocabulary, &m.Tokenizer, &m.Form)
	terms := 0
	if m.Embedder != nil || !f.Writing() {
		terms = f.Embedding(&m.Embedder)
	}
	rows, total, k := max(len(m.Offsets)-1, 0), 0, len(m.Classes)
	if rows > 0 {
		total = int(m.Offsets[rows])
	}
	archive.Count(f, "rows", &rows, 1<<62)
	archive.Count(f, "total", &total, 1<<62)
	archive.Array(f, "weights", &m.Weights, k, terms, m.Power)
	f.Offsets("rows", &m.Offsets, rows, int64(total))
	archive.DecisionFunctions(f, &m.Machines, k)
	archive.Table(f, "all", k, 2, func(i int) *[]float64 { return &m.Machines[i].All })
}

func example(t testing.TB) *sample {
	t.Helper()
	c, err := corpus.FromTexts(context.Background(), []string{"ab c c", "c ab"}, []string{"x", "y"}, corpus.Options{})
	musttest.NoError(t, err)
	m := &sample{
		Power: 1, Kind: odd, Source: "\xff", Classes: []string{"x", "\xfe"}, Vocabulary: c.Vocabulary,
		Embedder: sparse.Embedding{Weighting: sparse.TFIDF}.Fit(c.Documents), Weights: []float32{1, 2, 3, 4},
		Offsets: []int64{0, 2, 2, 5}, Machines: []*machine{
			{Steps: 7, Bias: -0.5, Odd: true, All: []float64{1, 2}},
			{All: []float64{3, 4}},
		},
	}
	m.Inside.Deep = 2
	return m
}

func TestFile(t *testing.T) {
	m := example(t)
	archivetest.Check(t, form, m)
	if m.Embedder.Terms == nil || m.Embedder.Weights == nil || len(m.Vocabulary) != 2 {
		t.Fatalf("%+v, expected arrays of all kinds", m)
	}
}

func FuzzRead(f *testing.F) {
	m := example(f)
	archivetest.Fuzz(f, form, func(*testing.T, *sample) {}, m)
}

func TestShape(t *testing.T) {
	m := example(t)
	m.Weights = m.Weights[1:]
	var b bytes.Buffer
	musttest.WantError(form.Write(t.Context(), &b, m))(t, "a wrong shape", "3 values do not match the shape [2 2 1]")
	if b.Len() > 0 {
		t.Errorf("%d bytes are written, expected none", b.Len())
	}
}

// The reader refuses invalid contents despite a correct checksum, in the header and in arrays.
func TestContents(t *testing.T) {
	file := archivetest.Bytes(t, form, example(t))
	file = file[:len(file)-sha256.Size]
	check := func(want string, changed []byte) {
		t.Helper()
		sum := sha256.Sum256(changed)
		m, err := form.Read(t.Context(), bytes.NewReader(append(changed, sum[:]...)))
		if m != nil || !errors.Is(err, archive.ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected an error with %q", err, want)
		}
	}
	for want, change := range map[string][2]string{
		`unknown key "more"`:                   {`"power":1`, `"power":1,"more":1`},
		`unknown key "deeper"`:                 {`"deep":2`, `"deep":2,"deeper":1`},
		`unknown field "words"`:                {`{"terms":2,`, `{"words":1,"terms":2,`},
		`key "power": json`:                    {`"power":1`, `"power":"1"`},
		`key "inside": json`:                   {`{"deep":2}`, `2`},
		"too deep":                             {`"deep":2`, `"deep":7`},
		"must have 64 hexadecimal":             {`"corpus":"00`, `"corpus":"`},
		"rows must be between 0":               {`"rows":3`, `"rows":-3`},
		"rows: 2305843009213693952 elem":       {`"rows":3`, `"rows":2305843009213693952`},
		"rows: 70368744177664 elem":            {`"rows":3`, `"rows":70368744177664`},
		"got 4611686018427387905":              {`"rows":3`, `"rows":4611686018427387905`},
		"weights: -1 elements of 4":            {`"power":1`, `"power":-1`},
		"weights: -1 elements of 4 b":          {`"power":1`, `"power":4611686018427387904`},
		`unknown kind ""`:                      {`"kind":"odd",`, ``},
		"3 decision functions, but 2":          {`"machines":[`, `"machines":[{},`},
		"decision function 0 is null":          {`"machines":[{"Steps":7,"Bias":-0.5,"Odd":true}`, `"machines":[null`},
		"1 of 6 values do not belong to a row": {`"total":5`, `"total":6`},
		"row 2 has 3 values, but only 2":       {`"total":5`, `"total":4`},
		`unknown embedding "tfidg"`:            {`"tfidf"`, `"tfidg"`},
	} {
		if !bytes.Contains(file, []byte(change[0])) {
			t.Fatalf("no %s in the file", change[0])
		}
		check(want, bytes.Replace(file, []byte(change[0]), []byte(change[1]), 1))
	}
	bad := bytes.Clone(file)
	copy(bad[len(file)-4*8-3*8:], "\xff\xff\xff\xff\xff\xff\xff\xff") // before the values of all binary classifiers
	check("row 0 has -1 values", bad)
}

// Reading a file whose header claims a huge size allocates no more than the file's own size.
func TestLoadOfHugeHeader(t *testing.T) {
	file := archivetest.Bytes(t, form, example(t))
	huge := bytes.Replace(file, []byte(`"rows":3`), []byte(`"rows":35184372088832`), 1) // 256 TiB of offsets
	musttest.WantError(form.ReadSized(t.Context(), bytes.NewReader(huge), int64(len(huge)), nil))(t,
		"a huge header", archive.ErrDamaged)
}

// endless is a line that never ends.
type endless struct{ read int }

func (r *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '7'
	}
	if r.read += len(p); r.read > 1<<24 {
		return 0, errors.New("16 MiB of it were read")
	}
	return len(p), nil
}

// Read stops at the maximum length of the first line. It reads at most 1 MiB at a time, so that it
// checks ctx often.
func TestEndless(t *testing.T) {
	musttest.WantError(form.Read(t.Context(), &endless{}))(t, "another format", archive.ErrFormat)
	n, err := archive.ContextReader{Ctx: t.Context(), R: &endless{}}.Read(make([]byte, 4<<20))
	if n != 1<<20 || err != nil {
		t.Errorf("%d bytes, %v, expected 1 MiB", n, err)
	}
}

// Appending to an array doesn't change the next array in the file.
func TestArraysOfTheirOwn(t *testing.T) {
	m := musttest.Get(form.Read(t.Context(), bytes.NewReader(archivetest.Bytes(t, form, example(t)))))(t)
	next := slices.Clone(m.Machines[1].All)
	_ = append(m.Machines[0].All, -1)
	if !slices.Equal(m.Machines[1].All, next) {
		t.Errorf("%v, expected %v", m.Machines[1].All, next)
	}
}

// The vocabulary must have all terms of the embedding, in any order and without duplicates.
func TestValidate(t *testing.T) {
	m := example(t) // terms 0 and 1
	for what, c := range map[string]struct {
		vocabulary []string
		want       string
	}{
		"none":     {nil, ""},
		"enough":   {[]string{"c", "ab"}, ""},
		"too few":  {[]string{"ab"}, "the embedding has term 1, but the vocabulary has 1 terms"},
		"repeated": {[]string{"c", "ab", "c"}, `term "c" occurs twice in the vocabulary`},
	} {
		err := archive.ValidateVocabulary(c.vocabulary, corpus.Tokenizer{}, m.Embedder)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", what, err, c.want)
		}
	}
}

// Nothing is written once ctx is done.
func TestBoundWriter(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var b bytes.Buffer
	w := archive.ContextWriter{Ctx: ctx, W: &b}
	musttest.Get(w.Write([]byte("ab")))(t)
	cancel()
	if n, err := w.Write([]byte("c")); n != 0 || !errors.Is(err, context.Canceled) || b.String() != "ab" {
		t.Errorf("%d bytes, error %v, %q is written", n, err, &b)
	}
}
