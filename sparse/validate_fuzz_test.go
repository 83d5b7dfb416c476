package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// randomMatrix draws a matrix of any fields: mostly rows in order, then a few things that don't
// belong there.
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

// valid says by the definition, without haste, whether a matrix is as the comment of CSR wants it.
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

// FuzzMatrix takes matrices of any fields to every function of them: none panics but those that say
// so, none accepts what Validate refuses, and what comes out of them is valid.
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
				musttest.Do(t, x.Validate())
				for i := range x.Rows() {
					if err := x.validateRaw(i); err != nil {
						t.Fatalf("%s: %v, of %+v", door, err, m)
					}
				}
				x.Digest()
				x.Empty()
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
			_, err := ByRank(t.Context(), nil, m, make([]uint32, min(max(m.Cols, 0), 99)), 1)
			if err == nil {
				t.Fatalf("ByRank accepts %+v", m)
			}
			return
		}
		df := m.DocumentFrequency()
		byRank, err := ByRank(t.Context(), nil, m, Ranks(Order(df)), 1)
		if err != nil || byRank.Validate() != nil {
			t.Fatalf("ByRank of %+v: %v", m, err)
		}
		if s := m.SelectRows([]int{}); s.Validate() != nil || m.LongestRow() < 0 || m.EmptyRows() > m.Rows() {
			t.Fatalf("%+v", m)
		}
	})
}

// roundings bounds the relative error of stored numbers, from float32 and the order of sums.
const roundings = 1e-5

// about reports whether two numbers differ by roundings alone; a NaN or an infinity never does.
func about(found, expected float64) bool {
	return math.Abs(found-expected) <= roundings*math.Abs(expected) && !math.IsInf(expected, 0)
}

// weighted returns the weighted value of a raw one.
func (f *Embedder) weighted(column uint32, raw float32) float64 {
	v, weight := f.Factors(column, raw)
	return float64(v * weight)
}

// validateRaw checks values, divisor and norm of a row against raw values.
func (x *Embedded) validateRaw(i int) error {
	f, d := x.Embedder, x.Divisors[i]
	terms, values := x.Row(i)
	raw := x.Raw[x.Offsets[i]:x.Offsets[i+1]]
	l1, l2, largest, at := f.lengths(terms, raw)
	if at >= 0 {
		return fmt.Errorf("sparse: row %d, index %d: raw value %v, expected a weighted one finite and other than 0%s",
			i, terms[at], raw[at], f.wantsNonNegative())
	}
	length, at := f.compare(terms, values, raw, d, largest)
	if at >= 0 {
		return fmt.Errorf("sparse: row %d, index %d: value %v, expected that of the raw value %v over the divisor %v",
			i, terms[at], values[at], raw[at], d)
	}
	// The divisor makes the length 1: it is right if each value is right for it, and the length is
	// 1.
	if !about(length, 1) {
		return fmt.Errorf("sparse: row %d: the squares, or shares of a histogram, sum to %v, expected 1", i, length)
	}
	want := f.norm(l1, l2)
	if f.general() {
		want = f.raisedNorm(d, largest, l1, l2)
	}
	if alone := len(terms) == 1 && int(terms[0]) == len(f.Terms); alone && (!f.Open || x.Norms[i] == 0 && raw[0] == 1) {
		want = f.norm(0, 0) // a document without terms
	}
	if !about(x.Norms[i], want) {
		return fmt.Errorf("sparse: row %d: norm %v, expected %v, that of its raw values", i, x.Norms[i], want)
	}
	return nil
}

// lengths returns Σ|v|, ‖v‖₂ and, where the embedding has a power other than the square root, max v
// of a row's weighted values; at is the place of the first that a row can't have, or -1.
func (f *Embedder) lengths(terms []uint32, raw []float32) (l1, l2, largest float64, at int) {
	least, general := -math.MaxFloat64, f.general()
	if f.Power != 0 || f.Pairing != Dot {
		least = 0
	}
	for k, r := range raw {
		v := f.weighted(terms[k], r)
		if !(v >= least && v <= math.MaxFloat64) || v == 0 {
			return 0, 0, 0, k
		}
		l1 += math.Abs(v)
		l2 += float64(v * v)
		if general && v > largest {
			largest = v
		}
	}
	return l1, math.Sqrt(l2), largest, -1
}

// compare checks the values of a row against what its raw values, which are in order, make of them,
// and returns what sums to 1: the squares, or the shares of a histogram. at is the place of the
// first value that is wrong, or -1.
func (f *Embedder) compare(terms []uint32, values, raw []float32, divisor, largest float64) (length float64, at int) {
	values, terms = values[:len(raw)], terms[:len(raw)]
	if f.general() {
		for k, r := range raw {
			v, u := float64(values[k]), power(f.weighted(terms[k], r)/largest, f.Power)/divisor
			if !(math.Abs(v-u) <= roundings*u+0x1p-149) {
				return 0, k
			}
			length += float64(v * v)
		}
		return length, -1
	}
	// Comparing products spares a division and a root for each value. slack is what rounding to a
	// subnormal float32 may add, even where the value is a root, or rounding up to the least share.
	slack, root, squares := divisor*0x1p-148, f.Power == Root, f.Power == 0 && f.Pairing == Dot
	if f.Pairing != Dot {
		slack = divisor * MinShare
	}
	for k, r := range raw {
		v, u := f.weighted(terms[k], r), float64(values[k])
		if root {
			u *= math.Abs(u)
		}
		if !(math.Abs(float64(u*divisor)-v) <= roundings*math.Abs(v)+slack) {
			return 0, k
		}
		if squares {
			u *= u
		}
		length += u
	}
	return length, -1
}
