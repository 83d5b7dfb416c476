package sparse

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// fields returns the exported fields of an embedder, with copies of the slices.
func fields(f *Embedder) Embedder {
	return Embedder{
		Embedding: f.Embedding, Documents: f.Documents, Terms: slices.Clone(f.Terms), DF: slices.Clone(f.DF),
		Weights: slices.Clone(f.Weights), Shifts: slices.Clone(f.Shifts), Views: slices.Clone(f.Views), Open: f.Open,
	}
}

func TestRestoredEmbedderGivesTheSameBits(t *testing.T) {
	train := csrOf([][]float32{{1, 0, 3, 2}, {2, 5, 0, 0}, {0, 0, 7, 1}, {4, 0, 1, 0}})
	hashed := *train // terms so far apart that binary search finds them, not a table
	hashed.Cols, hashed.Terms = math.MaxInt32+1, slices.Clone(train.Terms)
	for k, term := range hashed.Terms {
		hashed.Terms[k] = term * (math.MaxInt32 / 3)
	}
	test := csrOf([][]float32{{3, 1, 0, 2, 9}, {}, {0, 0, 0, 0, 1}})
	for _, m := range []*CSR{train, &hashed} {
		for _, e := range withPowers() {
			f := fit(e, m)
			restored, err := RestoreEmbedder(fields(f))
			if err != nil {
				t.Fatalf("%v: %v", e, err)
			}
			for _, docs := range []*CSR{m, test} {
				want, got := mustTransform(t, f, docs), mustTransform(t, restored, docs)
				got.Embedder = f
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%v: %v, expected %v", e, got, want)
				}
			}
		}
	}
}

// With an open embedder, inner products and distances to training documents include all terms.
func TestOpenEmbedder(t *testing.T) {
	train := csrOf([][]float32{{1, 0, 3, 0}, {2, 5, 0, 0}, {}})
	test := csrOf([][]float32{{1, 2, 3, 4, -5}, {0, 0, 0, 2}, {}, {0, 0, 0, 0, 0, 7}, {1, 1, 1}})
	f := fields(Embedding{}.Fit(train))
	f.Open = true
	open := musttest.Get(RestoreEmbedder(f))(t)
	x, y := mustTransform(t, open, train), mustTransform(t, open, test)
	dense := func(m *CSR, i int) []float64 {
		v := make([]float64, 10)
		terms, values := m.Row(i)
		for k, c := range terms {
			v[c] = float64(values[k])
		}
		return v
	}
	vector := func(x *Embedded, i int) []float64 {
		v := make([]float64, 10)
		terms, _ := x.Row(i)
		for k, u := range x.UnitVector64(i, nil) {
			v[terms[k]] = u * x.Norms[i]
		}
		return v
	}
	dot := func(a, b []float64) (s float64) {
		for k := range a {
			s += a[k] * b[k]
		}
		return s
	}
	for i := range test.Rows() {
		for j := range train.Rows() {
			a, b := dense(test, i), dense(train, j)
			// The values are below 10. A unit vector times its norm equals the vector up to a few
			// roundings.
			if got, want := dot(vector(y, i), vector(x, j)), dot(a, b); !(math.Abs(got-want) <= 1e-13) {
				t.Errorf("test document %d, training document %d: inner product %v, expected %v", i, j, got, want)
			}
			if got, want := y.Norms[i], math.Sqrt(dot(a, a)); !(math.Abs(got-want) <= 1e-13) {
				t.Errorf("test document %d: norm %v, expected %v", i, got, want)
			}
		}
	}
	if y.EmptyCount() != 1 {
		t.Errorf("%d documents are empty, expected 1", y.EmptyCount())
	}
	for bad, want := range map[float32]string{float32(math.Inf(-1)): "row 1, term 4: value must be finite, got -Inf",
		math.MaxFloat32: "row 1: the terms"} {
		m := csrOf([][]float32{{1}, {0, 0, 0, 0, bad, bad}})
		musttest.WantError(open.Transform(m))(t, fmt.Sprintf("unseen values %v", bad), want)
	}
}
