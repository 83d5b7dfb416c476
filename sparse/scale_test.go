package sparse

import (
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// scaledByHand computes the value of row i and column j independently from the definition.
func scaledByHand(e Embedding, rows [][]float32, i, j int) float64 {
	least, most, sum, df := math.Inf(1), math.Inf(-1), 0.0, 0
	for _, r := range rows {
		v := float64(r[j])
		if least, most, sum = min(least, v), max(most, v), sum+v; v != 0 {
			df++
		}
	}
	v := float64(rows[i][j])
	if e.Weighting == MinMaxScaling {
		return e.Lower + (e.Upper-e.Lower)*(v-least)/(most-least)
	}
	n := float64(len(rows))
	var squares float64
	for _, r := range rows {
		squares += (float64(r[j]) - sum/n) * (float64(r[j]) - sum/n)
	}
	if 2*df >= len(rows) {
		v -= sum / n
	}
	return v / math.Sqrt(squares/n)
}

// Stored and absent zeros count as values, and a constant column becomes 0. A restored embedder
// gives the same bits and raw values.
func TestScaledColumns(t *testing.T) {
	rows := [][]float32{{1, -5, 0, 7, 0}, {3, 0, 0, 7, 2}, {2, 5, 4, 7, 0}, {9, 1, 0, 7, -2}, {5, 3, 0, 7, 0}}
	m := csrOf(rows)
	for _, name := range []string{"standard", "scale0..1", "scale-1..1", "scale2..5", "scale-3..-1.5"} {
		e, err := ParseEmbedding(name)
		if err != nil || e.String() != name || !e.Scales() || !e.HasColumnWeights() {
			t.Fatalf("%s: %v, %v", name, e, err)
		}
		f := e.Fit(m)
		x := mustTransform(t, f, m)
		musttest.NoError(t, x.Validate())
		restored := musttest.Get(RestoreEmbedder(fields(f)))(t)
		if y := mustTransform(t, restored, m); x.Digest() != y.Digest() {
			t.Errorf("%s: other bits from what is restored", name)
		}
		for i := range rows {
			got := make([]float64, 5)
			terms, _ := x.Row(i)
			for k, v := range x.Vector64(i, nil) {
				got[terms[k]] = v
			}
			for j := range got {
				want := 0.0
				if j != 3 {
					want = scaledByHand(e, rows, i, j)
				}
				// The tolerance bounds a dozen roundings of numbers below 10.
				if err := math.Abs(got[j] - want); !(err <= 1e-14) {
					t.Errorf("%s: row %d, column %d is %v, expected %v", name, i, j, got[j], want)
				}
			}
		}
		raw := keptBy(x)
		if y := mustTransform(t, f, raw); x.Digest() != y.Digest() {
			t.Errorf("%s: raw values %v of %v make other bits", name, raw.Values, m.Values)
		}
	}
	// Zeros stay zeros in sparse columns with StandardScaling, and with Lower = 0 if the minimum is
	// 0.
	if f := (Embedding{Weighting: StandardScaling}).Fit(m); f.FilledCount() != 2 {
		t.Errorf("standard fills %d columns, expected those of 5 and 4 values", f.FilledCount())
	}
	if f := (Embedding{Weighting: MinMaxScaling, Upper: 1}).Fit(m); f.FilledCount() != 3 {
		t.Errorf("a range from 0 fills %d columns, expected those whose least value isn't 0", f.FilledCount())
	}
}
