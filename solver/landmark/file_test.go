package landmark

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

func written(t testing.TB, s Settings) (*Model, []byte) {
	t.Helper()
	s.Landmarks = 12
	m, err := Train(context.Background(), texts(40, 3, 3, s.Scheme == solver.Labels), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Write(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return m, b.Bytes()
}

// A model that is read is the one that was written, and writes the same bytes.
func TestModelFile(t *testing.T) {
	for _, s := range []Settings{
		{}, {Loss: Logistic, Choice: Pivoted, Seed: 7, C: 5}, {Loss: Hinge2, Scheme: solver.Labels, Choice: Stratified},
		{Kernel: "linear:embed=tfidf-l2"},
	} {
		m, data := written(t, s)
		path := filepath.Join(t.TempDir(), "x.model")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		told := false
		got, err := Load(t.Context(), path, func(sparse.Tokenizer) { told = true })
		if err != nil || !told {
			t.Fatal(err, told)
		}
		if !reflect.DeepEqual(got.Machines, m.Machines) || !reflect.DeepEqual(got.Landmarks, m.Landmarks) ||
			got.Residual != m.Residual || got.Passes != m.Passes || !reflect.DeepEqual(got.Classes, m.Classes) {
			t.Errorf("%+v differs from %+v", got.Settings, m.Settings)
		}
		var again bytes.Buffer
		if err := got.Write(t.Context(), &again); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Errorf("other bytes when it is written again: %v", err)
		}
		if _, err := Read(t.Context(), bytes.NewReader(data)); err != nil {
			t.Error(err)
		}
	}
}

// Every byte that is changed or missing is noticed.
func TestDamage(t *testing.T) {
	_, data := written(t, Settings{})
	for at := 0; at < len(data); at += 1 + len(data)/500 {
		bad := bytes.Clone(data)
		bad[at] ^= 0x10
		_, err := Read(t.Context(), bytes.NewReader(bad))
		var version *archive.VersionError
		if !errors.Is(err, archive.ErrDamaged) && !errors.As(err, &version) {
			t.Fatalf("byte %d changed: %v", at, err)
		}
		if _, err := Read(t.Context(), bytes.NewReader(data[:at])); !errors.Is(err, archive.ErrDamaged) {
			t.Fatalf("%d bytes: %v", at, err)
		}
	}
}

// FuzzRead reads anything, its checksum made right: it must end with a model that is valid, or with an
// error.
func FuzzRead(f *testing.F) {
	_, data := written(f, Settings{Loss: Logistic})
	f.Add(data[:len(data)-sha256.Size])
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := sha256.Sum256(data)
		m, err := Read(t.Context(), bytes.NewReader(append(data, sum[:]...)))
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Predict(t.Context(), &sparse.CSR{Cols: 1, Offsets: []int64{0, 1}, Terms: []uint32{0},
			Values: []float32{1}}, Options{}); err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	})
}

// What makes no sense is refused with what was found and expected.
func TestRefused(t *testing.T) {
	c := texts(40, 3, 3, false)
	one, none, several := texts(40, 1, 3, false), texts(40, 2, 3, false), texts(40, 3, 3, true)
	none.Labels = sparse.Labels{Offsets: make([]int64, 41)}
	var nobody context.Context
	for want, call := range map[string]func() error{
		"expected at least 2":     func() error { _, err := Train(t.Context(), one, Settings{}, Options{}); return err },
		"no labelled documents":   func() error { _, err := Train(t.Context(), none, Settings{}, Options{}); return err },
		"expected one, or":        func() error { _, err := Train(t.Context(), several, Settings{}, Options{}); return err },
		"nil context":             func() error { _, err := Train(nobody, c, Settings{}, Options{}); return err },
		"no documents":            func() error { _, err := Train(t.Context(), nil, Settings{}, Options{}); return err },
		"-1 landmarks":            func() error { return Settings{Landmarks: -1}.Validate() },
		"C -1":                    func() error { return Settings{C: -1}.Validate() },
		"Tolerance 2":             func() error { return Settings{Tolerance: 2}.Validate() },
		"isn't positive definite": func() error { return Settings{Kernel: "ngd"}.Validate() },
		"kernel:":                 func() error { return Settings{Kernel: "nonsense"}.Validate() },
		"loss 9":                  func() error { return Settings{Loss: 9}.Validate() },
		"prices": func() error {
			_, err := TrainPath(t.Context(), c, Settings{}, []float64{2, 1}, Options{})
			return err
		},
		"allowed are": func() error {
			_, err := Train(t.Context(), c, Settings{}, Options{MemoryBytes: 1 << 20})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected an error with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Train(ctx, c, Settings{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
	m, _ := written(t, Settings{})
	if _, err := m.Predict(t.Context(), nil, Options{}); err == nil {
		t.Error("no documents are predicted")
	}
	m.Machines[0].Coefficients = m.Machines[0].Coefficients[1:]
	if err := m.Validate(); err == nil {
		t.Error("a model with a coefficient too few is valid")
	}
}
