package sparse

import (
	"fmt"
	"math"
)

// View is a block of columns that is embedded apart: the first column, and the weight of its share of each
// document. It ends where the next begins.
//
// Let u be the unit vector that an embedding makes of a document, uᵥ that of view v alone, and wᵥ its
// weight, with Σ wᵥ = 1 over the views that the document has terms of. Then u = (√w₁u₁, √w₂u₂, …), so the
// similarity of two documents that have all views is Σ wᵥsᵥ, that of histograms as well. The square root of
// shares is that of a mixture of the views' term distributions. If a document lacks a view, its others have larger
// weights, so that u has length 1: with a document of all views it has √wᵥ·sᵥ if it has view v alone.
type View struct {
	First  uint32  `json:"first"`
	Weight float64 `json:"weight"`
}

// validateViews checks views of so many columns.
func validateViews(views []View, columns int) error {
	const most = 9 // as of a tokenizer
	if len(views) > most {
		return fmt.Errorf("sparse: %d views, expected at most %d", len(views), most)
	}
	for i, v := range views {
		switch {
		case i == 0 && v.First != 0, i > 0 && v.First < views[i-1].First, int64(v.First) > int64(columns):
			return fmt.Errorf("sparse: view %d begins in column %d of %d, expected views from 0, ascending", i, v.First, columns)
		case !(v.Weight > 0 && v.Weight <= math.MaxFloat32):
			return fmt.Errorf("sparse: view %d has the weight %v, expected a finite number above 0", i, v.Weight)
		}
	}
	return nil
}

// wantsViews says why the embedding takes no views, nil where it does.
func (e Embedding) wantsViews() error {
	const minPower = 0.25 // factors of values are shares to the power 1/2p, which float32 must hold
	normed := e.Weighting.Damped() || e.Supervised()
	if e.Scales() || e.Power != 0 && e.Power < minPower || normed && e.Norm == NormNone {
		return fmt.Errorf("sparse: embedding %s of documents with views, expected tf or tfidf, or logtf, logtfidf or tfkl "+
			"with a norm, and no power below %v", e, minPower)
	}
	return nil
}

// balanced returns the values of a row scaled so that each view's squared length in the unit vector is its
// share. Damped counts are scaled, not the counts themselves. It changes nothing, to the bit, in a row that it has
// scaled before, such as a model's.
func (f *Embedder) balanced(terms []uint32, values []float32) []float32 {
	exponent := 2.0 // the unit vector's squares are in proportion to |v|^exponent
	switch {
	case f.Pairing != Dot:
		exponent = 1
	case f.Power != 0:
		exponent = 2 * f.Power
	}
	mass, most := make([]float64, len(f.Views)), make([]float64, len(f.Views))
	least, w := 1.0, weigher{f: f}
	f.eachView(terms, func(k, view int) {
		if column, ok := f.Column(terms[k]); ok && values[k] != 0 {
			v, weight := w.factors(column, values[k])
			switch u := math.Abs(float64(v * weight)); exponent {
			case 2: // whose bits are those of Pow
				mass[view] += float64(u * u)
			default:
				mass[view] += math.Pow(u, exponent)
			}
			most[view], least = max(most[view], v), min(least, v)
		}
	})
	// Rounding to float32 moves the factors of a row that was scaled by up to 2⁻²⁴ and those of sums, and damped
	// counts by 2⁻²⁴ themselves.
	near := 1e-6
	if f.Weighting.Damped() {
		near += 0x1p-23 / least
	}
	factor := f.factors(mass, 1/exponent, near)
	if factor == nil {
		return values
	}
	if f.Weighting.Damped() {
		bound(factor, most)
	}
	out, raised, before := make([]float32, len(values)), memo{}, 0
	f.eachView(terms, func(k, view int) {
		if view != before {
			raised, before = memo{}, view
		}
		switch v := float64(values[k]); {
		case v == 0:
		case f.Weighting.Damped():
			count := raised.of(values[k])
			if *count == 0 {
				*count = power(math.E, float64(factor[view]*f.damp(v))-1) // whose damped form is the product
			}
			out[k] = float32(*count)
		default:
			if out[k] = float32(v * factor[view]); out[k] == 0 { // rows keep their number of values
				out[k] = float32(math.Copysign(math.SmallestNonzeroFloat32, v))
			}
		}
	})
	return out
}

// factors returns what makes masses of views, to a power, their shares; nil if all are 1, but for a difference of
// near, or if a mass isn't a number.
func (f *Embedder) factors(mass []float64, power, near float64) []float64 {
	var total, weights float64
	for v, m := range mass {
		if total += m; m > 0 {
			weights += f.Views[v].Weight
		}
	}
	same := true
	for v, m := range mass {
		q := math.Pow(f.Views[v].Weight/weights*total/m, power)
		if math.Abs(q-1) <= near || m == 0 {
			q = 1
		}
		mass[v], same = q, same && q == 1
	}
	if same || math.IsNaN(total) {
		return nil
	}
	return mass
}

// bound makes all factors smaller, so that counts whose damped form they multiply, which is most[view] at most, stay
// in float32.
func bound(factor, most []float64) {
	const highest = 80 // e⁷⁹ < 2¹¹⁴
	largest := 0.0
	for v, q := range factor {
		largest = max(largest, q*most[v])
	}
	if largest > highest {
		for v := range factor {
			factor[v] *= highest / largest
		}
	}
}

// eachView calls do for each place of a row with its view.
func (f *Embedder) eachView(terms []uint32, do func(k, view int)) {
	view := 0
	for k, t := range terms {
		for view+1 < len(f.Views) && t >= f.Views[view+1].First {
			view++
		}
		do(k, view)
	}
}
