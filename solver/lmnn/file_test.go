package lmnn

import (
	"bytes"
	"context"
	"crypto/sha256"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/sparse"
)

func written(t testing.TB) (*Model, []byte) {
	t.Helper()
	m, err := Train(context.Background(), drawn(t, 30, 3, 2, 8), Settings{Iterations: 5}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Write(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return m, b.Bytes()
}

// A model is read as it was written, and no byte of it may change.
func TestModelFile(t *testing.T) {
	m, data := written(t)
	m.Settings, _ = m.Settings.resolve()
	got, err := Read(t.Context(), bytes.NewReader(data))
	if err != nil || !reflect.DeepEqual(got, m) {
		t.Fatalf("%v: %+v, expected %+v", err, got, m)
	}
	for i := 0; i < len(data); i += 7 {
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

// Distances may be great, but have to be numbers: of the nearest documents there is always one.
func TestGreatMetric(t *testing.T) {
	m, _ := written(t)
	docs := &sparse.CSR{
		Cols: m.Columns, Offsets: []int64{0, 1}, Terms: []uint32{0}, Values: []float32{math.MaxFloat32},
	}
	for i := range m.Transform {
		m.Transform[i] = mostTransform
	}
	p, err := m.Predict(t.Context(), docs, Options{})
	if err != nil || slices.ContainsFunc(p.Energies[0], func(v float64) bool { return math.IsInf(v, 0) || v != v }) {
		t.Errorf("%v: %+v, expected finite energies", err, p)
	}
	m.Transform[0] = 2 * mostTransform
	if _, err := m.Predict(t.Context(), docs, Options{}); err == nil {
		t.Error("no error for a metric under which distances overflow")
	}
}

func FuzzRead(f *testing.F) {
	_, data := written(f)
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
		docs := &sparse.CSR{Cols: m.Columns, Offsets: []int64{0, 0}}
		if _, err := m.Predict(context.Background(), docs, Options{}); err != nil {
			t.Log(err)
		}
	})
}
