package solver

import (
	"math"
	"slices"
)

// Temperature calibrates the class probabilities of objects with one class each. T < 1 sharpens the
// probabilities, and T > 1 softens them:
//
//	P(c) = exp(z[c]/T) / Σ_k exp(z[k]/T),
//
// where z[c] is the logarithm of the probability of class c before scaling. If UsesLogOdds is set,
// z[c] is the log odds -A·f - B of class c in one-vs-rest, or the sum of the log odds of class c
// against each other class in one-vs-one. Source: Guo and others, ICML 2017, section 4.2.
type Temperature struct {
	T           float64 `json:"t"`
	UsesLogOdds bool    `json:"odds,omitempty"`
}

const maxInverseTemperature = 1e3 // maximum of 1/T; the minimum is 1/maxInverseTemperature

// FitTemperature fits the temperature to decision values of objects with known classes by maximum
// likelihood. c supplies the sigmoids. An object is excluded if its decision values are nil, or if
// its class has no decision function. For n objects and k classes, the target is (n+1)/(n+k) for
// the class of the object, and 1/(n+k) for each other class. The negative log-likelihood is convex
// in 1/T. The relative error of 1/T is about 10⁻⁹.
//
// It fails for the same reasons as [Classifier.Probabilities].
func FitTemperature(c *Classifier, usesLogOdds bool, decisions [][]float64, class []int) (*Temperature, error) {
	fit := &temperatureFit{}
	for i, own := range decisions {
		if own == nil {
			continue
		}
		if err := c.checkProbabilities(own); err != nil {
			return nil, err
		}
		z, of := make([]float64, c.Classes), class[i]
		if c.temperatureScores(z, own, usesLogOdds); !math.IsInf(z[of], -1) {
			fit.add(z, of)
		}
	}
	least, most, b := 1/maxInverseTemperature, maxInverseTemperature, 1.0
	const rounds = 100 // about ten rounds suffice
	for range rounds {
		slope, curve := fit.derivatives(b)
		if !(curve > 0) {
			break // no objects, or all scores of each object are equal
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
	return &Temperature{1 / b, usesLogOdds}, nil
}

// temperatureFit holds z[c] of [Temperature] for each object, minus z of the object's own class.
type temperatureFit struct {
	scores    [][]float64 // relative scores of the other classes with decision functions, by object
	targetSum float64     // sum over objects of the mean relative score of the other classes
}

func (f *temperatureFit) add(z []float64, of int) {
	own, mean := z[of], 0.0
	z = slices.DeleteFunc(slices.Delete(z, of, of+1), func(v float64) bool { return math.IsInf(v, -1) })
	for k := range z {
		z[k] -= own
		mean += z[k] / float64(len(z))
	}
	f.scores, f.targetSum = append(f.scores, z), f.targetSum+mean
}

// derivatives returns the first two derivatives of the negative log-likelihood in b = 1/T.
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
	return slope - f.targetSum*float64(k-1)/float64(len(f.scores)+k), curve
}

// temperatureScores sets dst[c] to z[c] of [Temperature], or to -Inf if c has no function.
func (c *Classifier) temperatureScores(dst, decisions []float64, odds bool) {
	switch {
	case !odds && c.Scheme == OneVsOne:
		c.unscaledProbabilities(dst, decisions)
		for k, p := range dst {
			dst[k] = math.Log(p)
		}
	case c.Scheme == OneVsOne:
		for k, yes := range c.PresentClasses() {
			if dst[k] = 0; !yes && c.Classes > 1 {
				dst[k] = math.Inf(-1)
			}
		}
		for i, of := range ClassPairs(c.Classes) {
			if m := c.Functions[i]; m != nil {
				x := m.Sigmoid.logit(decisions[i])
				dst[of[0]] += x
				dst[of[1]] -= x
			}
		}
	default:
		for i, m := range c.Functions {
			x := m.Sigmoid.logit(decisions[i])
			if dst[i] = x; !odds { // log P(f) without overflow
				dst[i] = min(x, 0) - math.Log1p(math.Exp(-math.Abs(x)))
			}
		}
	}
}

// logit returns log(P(f)/(1-P(f))), clamped to finite values.
func (s Sigmoid) logit(f float64) float64 {
	const most = 1e300
	return min(max(-s.A*f-s.B, -most), most)
}

func (t *Temperature) softmax(dst []float64) {
	top, sum := slices.Max(dst), 0.0
	for k, z := range dst {
		dst[k] = math.Exp((z - top) / t.T)
		sum += dst[k]
	}
	for k := range dst {
		dst[k] /= sum
	}
}
