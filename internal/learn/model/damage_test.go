package model

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// tiny returns a model of a few hundred bytes with contents in each part of the file. Nothing in it
// is computed.
func tiny() *Model {
	embedder, err := sparse.RestoreEmbedder(sparse.Embedder{
		Embedding: sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL1, Power: sparse.SquareRoot}, Documents: 9,
		Terms: []uint32{0, 2}, DF: []int32{3, 1}, Weights: []float64{1.0986122886681098, 2.1972245773362196},
	})
	if err != nil {
		panic(err)
	}
	return &Model{
		Origin: archive.Origin{Source: "dir/ä.tsv", Digest: [32]byte{0xab, 31: 0xcd}, NumDocuments: 9,
			Classes: []string{"a", "none", "\xff"}, Vocabulary: []string{"one", "", "zwölf"}},
		Type: CSVC, Kernel: "diffusion:t=0.5,embed=tfidf-l1-sqrt", Embedder: embedder,
		Parameters: map[string][]string{"c": {"10"}, "weight": {"a=2", "b=0.1", "\xff=3"}},
		Classifier: solver.Classifier{Classes: 3, Functions: []*solver.DecisionFunction{nil, {
			Support: []int{0, 2}, Coef: []float64{10, -0.1}, Rho: math.Copysign(0, -1), Objective: -12.5,
			Iterations: 1 << 30, Gap: 5e-324, Converged: true, Bounded: 1,
			Sigmoid: &solver.Sigmoid{A: -2, B: 0.3},
		}, nil}},
		Support: &sparse.CSR{
			Cols: 3, Offsets: []int64{0, 2, 2, 3}, Terms: []uint32{0, 2, 1}, Values: []float32{1, 0.1, 3},
		},
		SupportDocs: []int64{8, 0, -1}, SupportClasses: []int32{0, -1, 2},
	}
}

// The file's bytes never change on any platform, because users have such files.
func TestSameBytesEverywhere(t *testing.T) {
	path := filepath.Join("testdata", "tiny.model")
	got := encode(t, tiny())
	if os.Getenv("GRAM_TEST_UPDATE") != "" {
		musttest.NoError(t, os.WriteFile(path, got, 0o666))
	}
	want := musttest.Get(os.ReadFile(path))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("the model is written as\n%q, expected\n%q", got, want)
	}
}

// signed appends a valid checksum, as an attacker would.
func signed(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(bytes.Clone(b), sum[:]...)
}

// withHeader returns a file with a changed header and a valid checksum.
func withHeader(t testing.TB, m *Model, change func(h map[string]any)) []byte {
	t.Helper()
	file := encode(t, m)
	lines := bytes.SplitN(file[:len(file)-sha256.Size], []byte("\n"), 3)
	var h map[string]any
	d := json.NewDecoder(bytes.NewReader(lines[1]))
	d.UseNumber()
	musttest.NoError(t, d.Decode(&h))
	change(h)
	head := musttest.Get(json.Marshal(h))(t)
	lines[1] = head
	return signed(bytes.Join(lines, []byte("\n")))
}

// Invalid contents are detected despite a valid checksum.
func TestContentsAreChecked(t *testing.T) {
	first := func(h map[string]any) map[string]any { return h["machines"].([]any)[1].(map[string]any) }
	for want, change := range map[string]func(h map[string]any){
		"one_class requires one decision function":         func(h map[string]any) { h["type"] = "one_class" },
		"Open requires embedding tf, got":                  func(h map[string]any) { h["open"] = true },
		`unknown scheme "none"`:                            func(h map[string]any) { h["scheme"] = "none" },
		"with 2 classes needs 1 decision functions, got 3": func(h map[string]any) { h["classes"] = []string{"a", "b"} },
		"binary classifier 1 is null":                      func(h map[string]any) { h["machines"].([]any)[1] = nil },
		"must not be negative, got -1":                     func(h map[string]any) { first(h)["Iterations"] = -1 },
		"terms must be between 0":                          func(h map[string]any) { h["terms"] = -1 },
		`parameters": json`:                                func(h map[string]any) { h["parameters"] = 1 },
	} {
		musttest.WantError(Read(
			ctx, bytes.NewReader(withHeader(t, tiny(), change)),
		))(t, "a damaged header", archive.ErrDamaged, want)
	}
	file := encode(t, tiny())
	file = file[:len(file)-sha256.Size]
	for want, change := range map[string]func(b []byte){
		"must increase and be below 3, got 0 after 2":             func(b []byte) { b[len(b)-24], b[len(b)-20] = 2, 0 },
		"coefficient of support vector 2 must be finite, got NaN": func(b []byte) { copy(b[len(b)-2:], "\xf0\x7f") },
	} {
		bad := bytes.Clone(file)
		change(bad)
		musttest.WantError(Read(ctx, bytes.NewReader(signed(bad))))(t, "a damaged classifier", archive.ErrDamaged, want)
	}
}
