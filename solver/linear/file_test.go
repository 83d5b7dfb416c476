package linear

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

func written(t testing.TB, s Settings, embedding string) (*Model, []byte) {
	t.Helper()
	e, err := sparse.ParseEmbedding(embedding)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Train(context.Background(), texts(t, 20, 3, 7), e, s, Options{})
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
	ctx := context.Background()
	for _, s := range []Settings{
		{}, {NoBias: true}, {Loss: Hinge, C: 3, Intercept: 2, Seed: 5}, {Scheme: solver.Labels, Iterations: 1},
	} {
		for _, embedding := range []string{"tf-l1-sqrt", "tfidf-l2"} {
			m, data := written(t, s, embedding)
			path := filepath.Join(t.TempDir(), "x.model")
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
			told := false
			got, err := Load(ctx, path, func(sparse.Tokenizer) { told = true })
			if err != nil || !told {
				t.Fatal(err, told)
			}
			if !reflect.DeepEqual(got.Machines, m.Machines) || !reflect.DeepEqual(got.Weights, m.Weights) ||
				!reflect.DeepEqual(got.Classes, m.Classes) || !reflect.DeepEqual(got.Vocabulary, m.Vocabulary) {
				t.Errorf("%+v differs from %+v", got.Settings, m.Settings)
			}
			var again bytes.Buffer
			if err := got.Write(ctx, &again); err != nil || !bytes.Equal(again.Bytes(), data) {
				t.Errorf("%v: other bytes when it is written again", err)
			}
		}
	}
}

// A file in which any byte was changed, or that ends early, is refused as damaged.
func TestDamagedFile(t *testing.T) {
	_, data := written(t, Settings{}, "tf-l1-sqrt")
	for at := 0; at < len(data); at += 1 + at/50 {
		bad := bytes.Clone(data)
		bad[at] ^= 0x15
		_, err := Read(context.Background(), bytes.NewReader(bad))
		var version *archive.VersionError
		if !errors.Is(err, archive.ErrDamaged) && !errors.As(err, &version) {
			t.Fatalf("byte %d changed: %v", at, err)
		}
		if _, err := Read(context.Background(), bytes.NewReader(data[:at])); !errors.Is(err, archive.ErrDamaged) {
			t.Fatalf("%d bytes: %v", at, err)
		}
	}
}

// No file, however it came about, is taken unless it is a model that can be written.
func FuzzRead(f *testing.F) {
	_, data := written(f, Settings{}, "tfidf-l1-sqrt")
	f.Add(data)
	f.Add([]byte(Form + "1\n{}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if n := len(data) - sha256.Size; n > 0 { // let what is behind the checksum be tried, too
			sum := sha256.Sum256(data[:n])
			data = append(bytes.Clone(data[:n]), sum[:]...)
		}
		m, err := Read(context.Background(), bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := m.Write(context.Background(), &b); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Predict(context.Background(), &sparse.CSR{Offsets: []int64{0, 0}}, Options{}); err != nil {
			t.Log(err)
		}
	})
}
