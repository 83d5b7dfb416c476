package mkm

import (
	"bytes"
	"context"
	"crypto/sha256"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/sparse"
)

func file(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// written is a model of each kind, of two layers.
func written(t testing.TB) (models []*Model, files [][]byte) {
	t.Helper()
	c := drawn(t, 40, 4, 2, 8)
	all, err := Path(context.Background(), c, Settings{
		Layers: []string{"arccos:n=1", "rbf:gamma=1"}, Widths: []int{3}, Components: 4, K: 3, C: 1, Base: 9,
	}, []Final{Metric, Neighbours, Machines}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range append(all[:1:1], all[6:]...) {
		models, files = append(models, m), append(files, file(t, m))
	}
	return models, files
}

// A model is read as it was written, and no byte of it may change.
func TestModelFile(t *testing.T) {
	models, files := written(t)
	texts, err := sparse.FromTexts(t.Context(), []string{"red apple", "red tree apple", "blue sky", "blue sea sky"},
		[]string{"a", "a", "b", "b"}, sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m, err := Train(t.Context(), texts, Settings{
		Layers: []string{"diffusion:embed=tfidf-l1-sqrt"}, Widths: []int{4}, Final: Neighbours, K: 1,
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	models, files = append(models, m), append(files, file(t, m))
	for k, data := range files {
		got, err := Read(t.Context(), bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(file(t, got), data) {
			t.Errorf("model %d has other bytes when it is written again", k)
		}
		if !reflect.DeepEqual(got.Choices, models[k].Choices) || !slices.Equal(got.Vocabulary, models[k].Vocabulary) {
			t.Errorf("model %d: %+v, expected %+v", k, got, models[k])
		}
		for i := 0; i < len(data); i += 101 {
			bad := bytes.Clone(data)
			bad[i] ^= 4
			if _, err := Read(t.Context(), bytes.NewReader(bad)); err == nil {
				t.Errorf("no error for a change at %d of %d", i, len(data))
			}
			if _, err := Read(t.Context(), bytes.NewReader(data[:i])); err == nil {
				t.Errorf("no error for the first %d bytes of %d", i, len(data))
			}
		}
	}
}

// What isn't a model is refused, not believed: also with the right checksum.
func FuzzRead(f *testing.F) {
	_, files := written(f)
	for _, data := range files {
		f.Add(data[:len(data)-sha256.Size])
		f.Add(bytes.Replace(data[:len(data)-sha256.Size], []byte(`"k":3`), []byte(`"k":0`), 1))
		f.Add(bytes.Replace(data[:len(data)-sha256.Size], []byte(`"columns":3`), []byte(`"columns":4`), 1))
	}
	docs := &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 1}, Terms: []uint32{1}, Values: []float32{2}}
	f.Fuzz(func(t *testing.T, data []byte) {
		sum := sha256.Sum256(data)
		m, err := Read(t.Context(), bytes.NewReader(append(data, sum[:]...)))
		if err != nil {
			return
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		p, err := m.Predict(t.Context(), docs, Options{Workers: 1})
		if err != nil {
			return
		}
		for _, class := range p.Class {
			if class < 0 || class >= len(m.Classes) {
				t.Fatalf("class %d of %d", class, len(m.Classes))
			}
		}
	})
}
