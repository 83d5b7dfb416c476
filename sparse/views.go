package sparse

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// View is a block of columns that is embedded separately. The view extends from First to the first
// column of the next view. Weight is the view's relative contribution to similarities.
//
// Let uᵥ be the unit vector of view v alone, sᵥ the similarity of two documents in view v, and wᵥ
// the view's weight, with Σ wᵥ = 1 over the views in which the document has terms. The unit vector
// of the document is u = (√w₁u₁, √w₂u₂, …). The similarity of two documents that have all views is
// therefore Σ wᵥsᵥ, even for histograms. If a document lacks a view, its other views have larger
// weights, so that u has norm 1. A document with only view v has the cosine √wᵥ·sᵥ to a document
// with all views.
//
// If Vector is true, view v has signed values x, and uᵥ = x/‖x‖ for any weighting, norm and power.
type View struct {
	First  uint32  `json:"first"`
	Weight float64 `json:"weight"`
	Vector bool    `json:"vector,omitempty"`
}

func validateViews(views []View, columns int) error {
	const most = 9 // maximum number of views of a tokenizer
	if len(views) > most {
		return fmt.Errorf("sparse: got %d views; the maximum is %d", len(views), most)
	}
	for i, v := range views {
		switch {
		case i == 0 && v.First != 0, i > 0 && v.First < views[i-1].First, int64(v.First) > int64(columns):
			return fmt.Errorf("sparse: view %d starts at column %d of %d; views must start at 0 and ascend", i, v.First,
				columns)
		case !(v.Weight > 0 && v.Weight <= math.MaxFloat32):
			return fmt.Errorf("sparse: weight of view %d must be positive and finite, got %v", i, v.Weight)
		}
	}
	return nil
}

func (e Embedding) checkViews(views []View) error {
	if e.Pairing != Cosine && slices.ContainsFunc(views, func(v View) bool { return v.Vector }) {
		return fmt.Errorf("sparse: embedding %s compares histograms, so it cannot be used with vectors", e)
	}
	const minPower = 0.25 // factors of values have the exponent 1/2p and must fit in float32
	normed := e.Weighting.DampsCounts() || e.Supervised()
	if e.Scales() || e.Power != 0 && e.Power < minPower || normed && e.Norm == NormNone {
		return fmt.Errorf("sparse: embedding %s cannot be used with views; use tf, tfidf, or logtf, logtfidf or "+
			"tfkl with a norm, and no power below %v", e, minPower)
	}
	return nil
}

// balanceViews scales each view of a row so that the view's squared norm in the unit vector is
// proportional to the view's weight. If counts are damped, it scales the damped counts. A row that
// is already scaled, such as a row of a model, is returned unchanged.
func (f *Embedder) balanceViews(terms []uint32, values []float32) []float32 {
	exponent := 2.0 // squared elements of the unit vector are proportional to |v|^exponent
	switch {
	case f.Pairing != Cosine:
		exponent = 1
	case f.Power != 0:
		exponent = 2 * f.Power
	}
	mass, most := make([]float64, len(f.Views)), make([]float64, len(f.Views))
	least, w := 1.0, weighter{f: f}
	f.eachView(terms, func(k, view int) {
		if column, ok := f.Column(terms[k]); ok && values[k] != 0 {
			v, weight := w.factors(column, values[k])
			if u := math.Abs(float64(v * weight)); exponent == 2 { // u² equals math.Pow(u, 2) bit for bit
				mass[view] += float64(u * u)
			} else {
				mass[view] += math.Pow(u, exponent)
			}
			if !f.isVector(column) {
				most[view], least = max(most[view], v), min(least, v)
			}
		}
	})
	// The tolerance covers rows that are already scaled: rounding to float32 changes factors and
	// sums by up to 2⁻²⁴ each, and damped counts by 2⁻²⁴.
	near := 1e-6
	if f.Weighting.DampsCounts() {
		near += 0x1p-23 / least
	}
	factor := f.viewFactors(mass, 1/exponent, near)
	if factor == nil {
		return values
	}
	if f.Weighting.DampsCounts() {
		limitFactors(factor, most)
	}
	out, raised, before := make([]float32, len(values)), valueCache{}, 0
	f.eachView(terms, func(k, view int) {
		if view != before {
			raised, before = valueCache{}, view
		}
		switch v := float64(values[k]); {
		case v == 0:
		case f.Views[view].Vector:
			out[k] = float32(v * math.Pow(factor[view], cmp.Or(f.Power, 1)))
		case f.Weighting.DampsCounts():
			count := raised.lookup(values[k])
			if *count == 0 {
				*count = power(math.E, float64(factor[view]*f.damp(v))-1) // count whose damped value is the product
			}
			out[k] = float32(*count)
		default:
			if out[k] = float32(v * factor[view]); out[k] == 0 { // keep a value that underflows
				out[k] = float32(math.Copysign(math.SmallestNonzeroFloat32, v))
			}
		}
	})
	return out
}

// viewFactors returns f^power for the factors f that make the views' masses proportional to the
// views' weights. It returns nil if all results differ from 1 by at most near, or if a mass is NaN.
func (f *Embedder) viewFactors(mass []float64, power, near float64) []float64 {
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

// limitFactors reduces all factors so that scaled counts fit in float32. most[view] is the largest
// damped count of a view.
func limitFactors(factor, most []float64) {
	const highest = 80 // maximum damped count 1 + ln count; e⁷⁹ < 2¹¹⁴ fits in float32
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

func (f *Embedder) findVectors() {
	if !slices.ContainsFunc(f.Views, func(v View) bool { return v.Vector }) {
		return
	}
	f.vectorColumns = make([]bool, len(f.Terms))
	f.eachView(f.Terms, func(column, view int) { f.vectorColumns[column] = f.Views[view].Vector })
}

func (f *Embedder) isVector(column uint32) bool {
	return int(column) < len(f.vectorColumns) && f.vectorColumns[column]
}

func (f *Embedder) eachView(terms []uint32, do func(k, view int)) {
	view := 0
	for k, t := range terms {
		for view+1 < len(f.Views) && t >= f.Views[view+1].First {
			view++
		}
		do(k, view)
	}
}
