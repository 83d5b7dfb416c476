package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// tiny is a model of a few hundred bytes with something in each part of a file, nothing of it
// computed.
func tiny() *Model {
	embedder, err := sparse.RestoreEmbedder(sparse.Embedder{
		Embedding: sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL1, Power: sparse.Root}, Documents: 9,
		Terms: []uint32{0, 2}, DF: []int32{3, 1}, Weights: []float64{1.0986122886681098, 2.1972245773362196},
	})
	if err != nil {
		panic(err)
	}
	return &Model{
		Type: CSVC, Kernel: "diffusion:t=0.5,embed=tfidf-l1-sqrt",
		Settings: Settings{
			Regularization: Regularization{C: 10},
			Weights:        map[string]float64{"b": 0.1, "a": 2, "\xff": 3}, Tolerance: 1e-3, Probabilities: true,
			Seed: 7,
		},
		Source: "dir/ä.tsv", Corpus: [32]byte{0xab, 31: 0xcd}, Documents: 9, Vocabulary: []string{"one", "", "zwölf"},
		Embedder: embedder,
		Classes:  []string{"a", "none", "\xff"},
		Classifier: solver.Classifier{Classes: 3, Machines: []*solver.Machine{nil, {
			Support: []int{0, 2}, Coef: []float64{10, -0.1}, Rho: math.Copysign(0, -1), Objective: -12.5,
			Iterations: 1 << 30, Gap: 5e-324, Converged: true, Bounded: 1,
			Sigmoid: &solver.Sigmoid{A: -2, B: 0.3},
		}, nil}},
		Support: &sparse.CSR{
			Cols: 3, Offsets: []int64{0, 2, 2, 3}, Terms: []uint32{0, 2, 1}, Values: []float32{1, 0.1, 3},
		},
		SupportDoc: []int64{8, 0, -1}, SupportClass: []int32{0, -1, 2},
	}
}

// The bytes of a file never change, on no platform: others have such files.
func TestSameBytesEverywhere(t *testing.T) {
	path := filepath.Join("testdata", "tiny.model")
	got := encode(t, tiny())
	if os.Getenv("GRAM_TEST_UPDATE") != "" {
		musttest.Do(t, os.WriteFile(path, got, 0o666))
	}
	want := musttest.Get(os.ReadFile(path))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("the model is written as\n%q, expected\n%q", got, want)
	}
	m := musttest.Get(Read(ctx, bytes.NewReader(want)))(t)
	same(t, m, tiny())
}

// Errors say which part is damaged.
func TestDamageIsNamed(t *testing.T) {
	m := tiny()
	file := encode(t, m)
	line := bytes.IndexByte(file[len(Form.Name)+2:], '\n') + len(Form.Name) + 3 // end of the header
	for _, c := range []struct {
		what string
		file []byte
		want string
	}{
		{"nothing", nil, `it begins with "", expected "gram model 1\n"`},
		{
			"another file", []byte("PK\x03\x04 and so on and so on and so on"),
			`it begins with "PK\x03\x04 and so o", expected "gram model 1\n"`,
		},
		{"the first line cut", file[:8], `it begins with "gram mod"`},
		{
			"a later version", append([]byte("gram model 12\n"), file[len(Form.Name)+2:]...),
			`version "12" of the form, expected "1"`,
		},
		{"no version", []byte("gram model \n{}\n"), `it begins with "gram model \n{", expected`},
		{"the header cut", file[:line-1], "it ends in its header"},
		{
			"the header changed", bytes.Replace(file, []byte(`"type"`), []byte(`"typo"`), 1),
			`header: key "typo" is unknown`,
		},
		{"the vocabulary cut", file[:line+5], "it ends in its part vocabulary"},
		{"the embedding cut", file[:line+12+9+10], "it ends in its part embedding"},
		{"the support vectors cut", file[:line+12+9+32+50], "it ends in its part support vectors"},
		{"the machines cut", file[:len(file)-32-24-1], "it ends in its part machines"},
		{"the coefficients cut", file[:len(file)-32-1], "it ends in its part coefficients"},
		{"the checksum cut", file[:len(file)-1], "it ends in its checksum"},
		{"an array changed", bytes.Replace(file, []byte("zwölf"), []byte("zwolf!"), 1), "checksum: found"},
		{"more after it", append(bytes.Clone(file), "more"...), "something follows its end"},
	} {
		for _, size := range []int64{-1, int64(len(c.file))} {
			if _, err := Form.ReadSized(ctx, bytes.NewReader(c.file), size, nil); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, expected %q", c.what, err, c.want)
			}
		}
	}
}

// signed puts a right checksum after bytes, as someone who means harm would.
func signed(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(bytes.Clone(b), sum[:]...)
}

// withHeader returns a file whose header is changed, with a right checksum.
func withHeader(t testing.TB, m *Model, change func(h map[string]any)) []byte {
	t.Helper()
	file := encode(t, m)
	lines := bytes.SplitN(file[:len(file)-sha256.Size], []byte("\n"), 3)
	var h map[string]any
	d := json.NewDecoder(bytes.NewReader(lines[1]))
	d.UseNumber()
	musttest.Do(t, d.Decode(&h))
	change(h)
	head := musttest.Get(json.Marshal(h))(t)
	lines[1] = head
	return signed(bytes.Join(lines, []byte("\n")))
}

// Contents that no model can have, with a right checksum.
func TestContentsAreChecked(t *testing.T) {
	for want, change := range map[string]func(h map[string]any){
		"expected for one_class": func(h map[string]any) { h["type"] = "one_class" },
		`embedding "tfoo"`:       func(h map[string]any) { h["embedding"] = "tfoo" },
		"which only tf can be":   func(h map[string]any) { h["open"] = true },
		`scheme "none" is`:       func(h map[string]any) { h["scheme"] = "none" },
		"2 classes, expected 1":  func(h map[string]any) { h["classes"] = []string{"a", "b"} },
		// Both leave the sum of all sizes as it is, the second by an overflow.
		"-1 terms, expected 0 to":                  func(h map[string]any) { h["terms"], h["values"] = -1, 9 },
		"1152921504606846978 terms, expected 0 to": func(h map[string]any) { h["terms"] = int64(1<<60 + 2) },
		`corpus "ab", expected`:                    func(h map[string]any) { h["corpus"] = "ab" },
	} {
		if _, err := Read(
			ctx, bytes.NewReader(withHeader(t, tiny(), change)),
		); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	file := encode(t, tiny())
	file = file[:len(file)-sha256.Size]
	terms := len(Form.Name) + 3 + bytes.IndexByte(file[len(Form.Name)+2:], '\n') // their lengths
	record := len(file) - 24 - 2*72                                              // of the only machine
	for want, change := range map[string]func(b []byte){
		"term 0 has 200 bytes, and 9 are left": func(b []byte) { b[terms] = 200 },
		"3 of 9 bytes belong to no term":       func(b []byte) { b[terms] = 0 },
		"record 1: field 2: flags 0xf":         func(b []byte) { b[record+8] |= 8 },
		"machine 0 is missing":                 func(b []byte) { b[record-1] = 1 },
		"no sigmoid, and its record has one":   func(b []byte) { b[record+8] &^= 4 },
		"not used by any machine":              func(b []byte) { b[record] = 1 },
		"3 coefficients, and 2 are left":       func(b []byte) { b[record] = 3 },
		"rho NaN": func(b []byte) {
			copy(
				b[record+16:], "\xff\xff\xff\xff\xff\xff\xff\xff",
			)
		},
		"support vector 0 after 2": func(b []byte) { b[len(b)-24], b[len(b)-20] = 2, 0 },
		"coefficient NaN":          func(b []byte) { copy(b[len(b)-2:], "\xf0\x7f") },
	} {
		bad := bytes.Clone(file)
		change(bad)
		if _, err := Read(ctx, bytes.NewReader(signed(bad))); !errors.Is(err, ErrDamaged) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
