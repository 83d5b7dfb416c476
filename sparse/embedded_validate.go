package sparse

import (
	"fmt"
	"math"
)

// MostNorm is the greatest norm that kernels take which look at norms: they compute in float32, and up to here squares of norms
// and of distances stay in its range.
const MostNorm = 0x1p62

// Validate reports the first thing in which embedded documents contradict themselves, or nil: rows as [CSR.Validate] wants them,
// with the columns of the embedder, and Values, Divisors and Norms that are those which the embedder makes of Raw, to a relative
// 10⁻⁵. Norms alone may be nil: kernels of the cosine don't look at them. It takes one pass, over several goroutines where there
// are many values; a power other than the square root costs about what embedding costs.
func (x *Embedded) Validate() error {
	if x == nil {
		return fmt.Errorf("sparse: no embedded documents, expected some")
	}
	if err := x.Embedder.Validate(); err != nil {
		return err
	}
	if err := x.CSR.validateShape(); err != nil {
		return err
	}
	switch n := x.Rows(); {
	case x.Cols != x.Embedder.Cols():
		return fmt.Errorf("sparse: embedded documents of %d columns, expected those of the embedder, %d", x.Cols, x.Embedder.Cols())
	case len(x.Raw) != len(x.Values):
		return fmt.Errorf("sparse: embedded documents have %d raw values, expected %d, one for each value", len(x.Raw), len(x.Values))
	case len(x.Divisors) != n:
		return fmt.Errorf("sparse: embedded documents have %d divisors, expected %d, one for each row", len(x.Divisors), n)
	case x.Norms != nil && len(x.Norms) != n:
		return fmt.Errorf("sparse: embedded documents have %d norms, expected %d, one for each row, or none", len(x.Norms), n)
	}
	return x.eachRow(x.validateEmbedded)
}

// roundings bounds the relative difference that float32 and the order of sums make between a stored number and what it is made of.
const roundings = 1e-5

// about reports whether two numbers differ by roundings alone; a NaN or an infinity never does.
func about(found, expected float64) bool {
	return math.Abs(found-expected) <= roundings*math.Abs(expected) && !math.IsInf(expected, 0)
}

// validateEmbedded checks a row: offsets, columns, and the values, divisor and norm against the raw values that they come from.
func (x *Embedded) validateEmbedded(i int) error {
	if err := x.validateRow(i); err != nil {
		return err
	}
	f, d := x.Embedder, x.Divisors[i]
	terms, values := x.Row(i)
	raw := x.Raw[x.Offsets[i]:x.Offsets[i+1]]
	if !(d > 0 && d <= math.MaxFloat64) {
		return fmt.Errorf("sparse: row %d: divisor %v, expected a finite number above 0", i, d)
	}
	nonNegative := f.Power != 0 || f.Pairing != Dot
	var l1, l2, largest, length float64
	for k, r := range raw {
		v := f.weighted(terms[k], r)
		if !(math.Abs(v) <= math.MaxFloat64) || v == 0 || v < 0 && nonNegative {
			return fmt.Errorf("sparse: row %d, index %d: raw value %v, weighted %v, expected a finite value other than 0%s", i, terms[k], r, v, f.wantsNonNegative())
		}
		l1 += math.Abs(v)
		l2 += float64(v * v)
		largest = max(largest, v)
		if f.Pairing != Dot {
			length += float64(values[k])
		} else {
			length += float64(float64(values[k]) * float64(values[k]))
		}
	}
	l2 = math.Sqrt(l2)
	if !about(length, 1) {
		return fmt.Errorf("sparse: row %d: values of length %v, expected 1: squares, or shares of a histogram, sum to 1", i, math.Sqrt(length))
	}
	// What divides a row is what makes its length 1, so that values and lengths together say that each value is its own.
	wrong := func(k int) error {
		return fmt.Errorf("sparse: row %d, index %d: value %v, expected that of the raw value %v over the divisor %v", i, terms[k], values[k], raw[k], d)
	}
	if f.general() {
		for k, r := range raw {
			if u := power(f.weighted(terms[k], r)/largest, f.Power) / d; !about(float64(values[k]), u) && !(math.Abs(float64(values[k])-u) <= 0x1p-149) {
				return wrong(k)
			}
		}
	} else {
		least := 0x1p-148 // what rounding to a subnormal float32 may add, even where the value is a root
		if f.Pairing != Dot {
			least = LeastShare
		}
		for k, r := range raw {
			v, u := f.weighted(terms[k], r), float64(values[k])
			if f.Power == Root {
				u *= math.Abs(u)
			}
			if u *= d; !(math.Abs(u-v) <= roundings*math.Abs(v)+d*least) {
				return wrong(k)
			}
		}
	}
	if x.Norms == nil {
		return nil
	}
	want := f.norm(l1, l2)
	switch {
	case len(terms) == 1 && int(terms[0]) == len(f.Terms) && !f.Open:
		want = f.norm(0, 0) // without terms
	case len(terms) == 1 && int(terms[0]) == len(f.Terms) && x.Norms[i] == 0 && raw[0] == 1:
		want = 0
	case f.general():
		want = f.raisedNorm(d, largest, l1, l2)
	}
	if !about(x.Norms[i], want) {
		return fmt.Errorf("sparse: row %d: norm %v, expected %v, that of its raw values", i, x.Norms[i], want)
	}
	return nil
}
