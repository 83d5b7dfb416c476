package sparse

import (
	"fmt"
	"math"
)

// MostNorm is the greatest norm that kernels take which look at norms: they compute in float32, and
// up to here squares of norms and of distances stay in its range.
const MostNorm = 0x1p62

// Validate reports the first thing in which embedded documents contradict themselves, or nil: rows
// as [CSR.Validate] wants them, with the columns of the embedder, and Values, Divisors and Norms
// that are those which the embedder makes of Raw, to a relative 10⁻⁵. Norms alone may be nil:
// kernels of the cosine don't look at them. It takes one pass, over several goroutines where there
// are many values; a power other than the square root costs about what embedding costs.
func (x *Embedded) Validate() error {
	if err := x.validateShape(); err != nil {
		return err
	}
	if err := x.Embedder.Validate(); err != nil {
		return err
	}
	return x.eachRow(x.validateEmbedded)
}

// validateShape checks what takes no pass: that the embedder can embed, and that all lists have the
// lengths that go with each other.
func (x *Embedded) validateShape() error {
	if x == nil {
		return fmt.Errorf("sparse: no embedded documents, expected some")
	}
	if err := x.Embedder.ready(); err != nil {
		return err
	}
	if err := x.CSR.validateShape(); err != nil {
		return err
	}
	switch n := x.Rows(); {
	case x.Cols != x.Embedder.Cols():
		return fmt.Errorf("sparse: embedded documents of %d columns, expected those of the embedder, %d",
			x.Cols, x.Embedder.Cols())
	case len(x.Raw) != len(x.Values):
		return fmt.Errorf("sparse: embedded documents have %d raw values, expected %d, one for each value",
			len(x.Raw), len(x.Values))
	case len(x.Divisors) != n:
		return fmt.Errorf("sparse: embedded documents have %d divisors, expected %d, one for each row",
			len(x.Divisors), n)
	case x.Norms != nil && len(x.Norms) != n:
		return fmt.Errorf("sparse: embedded documents have %d norms, expected %d, one for each row, or none",
			len(x.Norms), n)
	}
	return nil
}

// mustHaveShape panics with what validateShape reports.
func (x *Embedded) mustHaveShape() {
	if err := x.validateShape(); err != nil {
		panic(err.Error())
	}
}

// roundings bounds the relative difference that float32 and the order of sums make between a stored
// number and what it is made of.
const roundings = 1e-5

// about reports whether two numbers differ by roundings alone; a NaN or an infinity never does.
func about(found, expected float64) bool {
	return math.Abs(found-expected) <= roundings*math.Abs(expected) && !math.IsInf(expected, 0)
}

// validateEmbedded checks a row: offsets, columns, and the values, divisor and norm against the raw
// values that they come from.
func (x *Embedded) validateEmbedded(i int) error {
	if err := x.validateRow(i); err != nil {
		return err
	}
	f, d := x.Embedder, x.Divisors[i]
	if !(d > 0 && d <= math.MaxFloat64) {
		return fmt.Errorf("sparse: row %d: divisor %v, expected a finite number above 0", i, d)
	}
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
	// What divides a row is what makes its length 1: that each value is right over the divisor, and
	// the length is, says that the divisor is right.
	if !about(length, 1) {
		return fmt.Errorf("sparse: row %d: the squares, or shares of a histogram, sum to %v, expected 1", i, length)
	}
	if x.Norms == nil {
		return nil
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
		slack = divisor * LeastShare
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
