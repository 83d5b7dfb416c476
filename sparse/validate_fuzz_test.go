package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// randomMatrix draws a matrix with mostly valid rows, then adds some faults.
func randomMatrix(r *rand.Rand) *CSR {
	m := &CSR{Cols: r.IntN(9), Offsets: []int64{0}}
	for range r.IntN(9) {
		for t := range m.Cols {
			if r.IntN(3) == 0 {
				m.Terms = append(m.Terms, uint32(t))
				m.Values = append(m.Values, float32(r.IntN(5))-float32(r.IntN(8)/7))
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	for range r.IntN(4) {
		odd := []int64{-1, 0, 1, math.MinInt64, math.MaxInt64, int64(len(m.Terms)) + 1, int64(r.IntN(9))}[r.IntN(7)]
		inf := float32(math.Inf(1))
		value := []float32{nan, inf, -inf, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32}[r.IntN(6)]
		switch at := r.IntN(8); {
		case at == 0 && len(m.Offsets) > 0:
			m.Offsets[r.IntN(len(m.Offsets))] = odd
		case at == 1 && len(m.Terms) > 0:
			m.Terms[r.IntN(len(m.Terms))] = uint32(odd)
		case at == 2 && len(m.Values) > 0:
			m.Values[r.IntN(len(m.Values))] = value
		case at == 3:
			m.Cols = int(odd)
		case at == 4:
			m.Terms = m.Terms[:r.IntN(len(m.Terms)+1)]
		case at == 5:
			m.Values = m.Values[:r.IntN(len(m.Values)+1)]
		case at == 6:
			m.Offsets = m.Offsets[:r.IntN(len(m.Offsets)+1)]
		}
	}
	return m
}

// valid reports whether a matrix satisfies the rules of CSR, by their definition.
func valid(m *CSR) bool {
	if m.Cols < 0 || int64(m.Cols) > 1<<32 || len(m.Offsets) == 0 || m.Offsets[0] != 0 ||
		len(m.Terms) != len(m.Values) || !slices.IsSorted(m.Offsets) ||
		m.Offsets[len(m.Offsets)-1] != int64(len(m.Terms)) {
		return false
	}
	for i := range len(m.Offsets) - 1 {
		for k := m.Offsets[i]; k < m.Offsets[i+1]; k++ {
			if k > m.Offsets[i] && m.Terms[k] <= m.Terms[k-1] || int64(m.Terms[k]) >= int64(m.Cols) ||
				!(math.Abs(float64(m.Values[k])) <= math.MaxFloat32) {
				return false
			}
		}
	}
	return true
}

// FuzzMatrix passes arbitrary matrices to every function: only documented panics occur, every
// matrix that Validate rejects is an error, and results are valid.
func FuzzMatrix(f *testing.F) {
	for seed := range uint64(2000) {
		f.Add(seed)
	}
	all := withPowers()
	train := handFilled()
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, e := randomMatrix(r), all[r.IntN(len(all))]
		want := valid(m)
		if err := m.Validate(); (err == nil) != want {
			t.Fatalf("%+v: %v, expected it to be valid: %v", m, err, want)
		}
		check := func(door string, x *Embedded, err error) {
			t.Helper()
			if err == nil && !want {
				t.Fatalf("%s accepts %+v", door, m)
			}
			if err == nil {
				musttest.NoError(t, x.Validate())
				for i := range x.Rows() {
					if err := x.validateRaw(i); err != nil {
						t.Fatalf("%s: %v, of %+v", door, err, m)
					}
				}
				x.Digest()
				x.EmptyCount()
				for i := range x.Rows() {
					x.Vector64(i, nil)
				}
			}
		}
		own := e.Fit(m)
		if e.Supervised() {
			if own.Validate() == nil {
				t.Fatalf("%s fits %+v without labels", e, m)
			}
			e.Weighting = TF
			own = e.Fit(m)
		}
		if err := own.Validate(); (err == nil) != want {
			t.Fatalf("Fit of %+v: %v", m, err)
		}
		x, err := own.Transform(m)
		check("Fit, Transform", x, err)
		x, err = e.Fit(train).TransformRows(t.Context(), m, nil, 1+r.IntN(3))
		check("TransformRows", x, err)
		if !want {
			return
		}
		if s := m.SelectRows([]int{}); s.Validate() != nil || m.MaxRowLen() < 0 || m.EmptyRowCount() > m.Rows() {
			t.Fatalf("%+v", m)
		}
	})
}

// validateRaw compares values and norm of a row with values computed from raw values in float64.
func (x *Embedded) validateRaw(i int) error {
	_, values := x.Row(i)
	for k, u := range x.UnitVector64(i, nil) {
		if x.Embedder.Pairing != Cosine {
			u = max(u, MinHistogramValue)
		}
		if values[k] != float32(u) {
			return fmt.Errorf("row %d, value %d is %v, expected %v", i, k, values[k], u)
		}
	}
	length := 0.0
	for _, v := range x.Vector64(i, nil) {
		length = math.Hypot(length, v)
	}
	if x.Embedder.Pairing == Cosine && !(math.Abs(x.Norms[i]-length) <= 1e-5*length) {
		return fmt.Errorf("row %d: norm %v, expected %v", i, x.Norms[i], length)
	}
	return nil
}
