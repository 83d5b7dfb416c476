package solver

import (
	"math"
	"slices"
)

// Temperature makes the probabilities of one class per object sharper, below 1, or softer,
//
//	P(c) = exp(z[c]/T) / Σ_k exp(z[k]/T),
//
// where z[c] is the logarithm of what the sigmoids alone give class c or, with Odds, the sum of the log
// odds -A·f - B of its machines: of its own in one-vs-rest, of those against each other class in
// one-vs-one. Source: Guo and others, ICML 2017, section 4.2.
type Temperature struct {
	T    float64 `json:"t"`
	Odds bool    `json:"odds,omitempty"`
}

// sharpest bounds 1/T, and 1/sharpest is the least.
const sharpest = 1e3

// FitTemperature finds the temperature of greatest likelihood for decision values of objects of known
// classes, by the sigmoids of a classifier's machines. nil decision values leave an object out, and so
// does a class without a machine. As for [FitSigmoid], targets are a little inside of 0 and 1: of n
// objects of k classes (n+1)/(n+k) and 1/(n+k). The problem is convex in 1/T, which is found to 10⁻⁹.
//
// Errors: those of [Classifier.Probabilities].
func FitTemperature(c *Classifier, odds bool, decisions [][]float64, class []int) (*Temperature, error) {
	fit := &temperatureFit{}
	for i, own := range decisions {
		if own == nil {
			continue
		}
		if err := c.probable(own); err != nil {
			return nil, err
		}
		z, of := make([]float64, c.Classes), class[i]
		if c.scores(z, own, odds); !math.IsInf(z[of], -1) {
			fit.add(z, of)
		}
	}
	least, most, b := 1/sharpest, sharpest, 1.0
	const rounds = 100 // some ten suffice
	for range rounds {
		slope, curve := fit.derivatives(b)
		if !(curve > 0) {
			break // no objects, or all scores of each are the same
		}
		if slope > 0 {
			most = b
		} else {
			least = b
		}
		next := b - slope/curve
		if !(next > least && next < most) {
			next = math.Sqrt(least * most)
		}
		if math.Abs(next-b) <= 1e-9*b {
			break
		}
		b = next
	}
	return &Temperature{1 / b, odds}, nil
}

// temperatureFit has the scores of objects, 0 for that of their own class.
type temperatureFit struct {
	scores  [][]float64 // of classes that have any
	targets float64     // sum over objects of the mean of the others' scores
}

func (f *temperatureFit) add(z []float64, of int) {
	own, mean := z[of], 0.0
	z = slices.DeleteFunc(slices.Delete(z, of, of+1), func(v float64) bool { return math.IsInf(v, -1) })
	for k := range z {
		z[k] -= own
		mean += z[k] / float64(len(z))
	}
	f.scores, f.targets = append(f.scores, z), f.targets+mean
}

// derivatives returns the first and second derivative of -log of the likelihood by b = 1/T.
func (f *temperatureFit) derivatives(b float64) (slope, curve float64) {
	k := 1
	for _, z := range f.scores {
		top := 0.0
		for _, v := range z {
			top = max(top, b*v)
		}
		sum, first, second := math.Exp(-top), 0.0, 0.0
		for _, v := range z {
			e := math.Exp(b*v - top)
			sum, first, second = sum+e, first+float64(e*v), second+float64(e*v)*v
		}
		first /= sum
		slope, curve = slope+first, curve+second/sum-float64(first*first)
		k = max(k, len(z)+1)
	}
	return slope - f.targets*float64(k-1)/float64(len(f.scores)+k), curve
}

// scores sets dst to the scores of a [Temperature], minus infinity for a class without a machine.
func (c *Classifier) scores(dst, decisions []float64, odds bool) {
	switch {
	case !odds && c.Scheme == OneVsOne:
		c.plain(dst, decisions)
		for k, p := range dst {
			dst[k] = math.Log(p)
		}
	case c.Scheme == OneVsOne:
		for k, yes := range c.Present() {
			if dst[k] = 0; !yes && c.Classes > 1 {
				dst[k] = math.Inf(-1)
			}
		}
		for i, of := range Pairs(c.Classes) {
			if m := c.Functions[i]; m != nil {
				x := m.Sigmoid.logit(decisions[i])
				dst[of[0]] += x
				dst[of[1]] -= x
			}
		}
	default:
		for i, m := range c.Functions {
			x := m.Sigmoid.logit(decisions[i])
			if dst[i] = x; !odds { // log P(f), of any f
				dst[i] = min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
			}
		}
	}
}

// logit returns log P(f)/(1-P(f)), kept finite.
func (s Sigmoid) logit(f float64) float64 {
	const most = 1e300
	return min(max(-s.A*f-s.B, -most), most)
}

// soften sets dst to the probabilities of scores at a temperature.
func (t *Temperature) soften(dst []float64) {
	top, sum := slices.Max(dst), 0.0
	for k, z := range dst {
		dst[k] = math.Exp((z - top) / t.T)
		sum += dst[k]
	}
	for k := range dst {
		dst[k] /= sum
	}
}
