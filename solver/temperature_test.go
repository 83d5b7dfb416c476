package solver

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The fit recovers the temperature from which classes were drawn, for both kinds of scores and all
// schemes. Temperature 1 doesn't change the sigmoids' probabilities.
func TestTemperature(t *testing.T) {
	const n, classes = 20000, 4
	for _, scheme := range []Scheme{OneVsOne, OneVsRest} {
		for _, odds := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/odds=%t", scheme, odds), func(t *testing.T) {
				r := rand.New(rand.NewPCG(2, 2))
				machines, _ := scheme.functionCount(classes)
				c := &Classifier{Scheme: scheme, Classes: classes, Temperature: &Temperature{0.4, odds}}
				for range machines {
					c.Functions = append(c.Functions, &DecisionFunction{Sigmoid: &Sigmoid{-1 - r.Float64(), r.Float64()}})
				}
				decisions, class := make([][]float64, n), make([]int, n)
				p := make([]float64, classes)
				for i := range decisions {
					for range machines {
						decisions[i] = append(decisions[i], r.NormFloat64()/2)
					}
					musttest.NoError(t, c.Probabilities(p, decisions[i]))
					u := r.Float64()
					for class[i] = 0; class[i] < classes-1 && u >= p[class[i]]; class[i]++ {
						u -= p[class[i]]
					}
				}
				got := musttest.Get(FitTemperature(c, odds, decisions, class))(t)
				if !(math.Abs(got.T-0.4) <= 0.02) || got.UsesLogOdds != odds { // the standard error is below 0.004
					t.Errorf("found %+v, expected 0.4", got)
				}
				if odds && scheme == OneVsOne {
					return // sums of log odds over pairs differ from coupled probabilities
				}
				c.Temperature = nil
				plain := make([]float64, classes)
				musttest.NoError(t, c.Probabilities(plain, decisions[0]))
				if c.Temperature = (&Temperature{1, odds}); odds { // p/(1-p) for p, divided by the sum
					sum := 0.0
					for k, m := range c.Functions {
						s := m.Sigmoid.Probability(decisions[0][k])
						plain[k] = s / (1 - s)
						sum += plain[k]
					}
					for k := range plain {
						plain[k] /= sum
					}
				}
				musttest.NoError(t, c.Probabilities(p, decisions[0]))
				for k := range p {
					if !(math.Abs(p[k]-plain[k]) <= 1e-12) {
						t.Errorf("probabilities %v at temperature 1, expected %v", p, plain)
					}
				}
			})
		}
	}
}

// For perfectly separated classes the temperature is positive. A class without a decision function
// has probability 0.
func TestTemperatureOfExtremes(t *testing.T) {
	sure := &DecisionFunction{Sigmoid: &Sigmoid{-1, 0}}
	c := &Classifier{Classes: 3, Functions: []*DecisionFunction{sure, nil, nil}} // sure distinguishes classes 0 and 1
	for _, odds := range []bool{false, true} {
		got := musttest.Get(FitTemperature(c, odds, [][]float64{{5, 0, 0}, {-5, 0, 0}, {4, 0, 0}, nil}, []int{0, 1, 2, 0}))(t)
		c.Temperature = got
		p := make([]float64, 3)
		musttest.NoError(t, c.Probabilities(p, []float64{5, 0, 0}))
		if !(math.Abs(p[0]-0.75) <= 1e-3) || p[2] != 0 { // the target is (2+1)/(2+2)
			t.Errorf("probabilities %v at %+v, expected 0.75 and 0 for the third class", p, got)
		}
		if err := c.Probabilities(p, []float64{-1e308, 0, 0}); err != nil || !(p[1] > 0.97) { // after scaling
			t.Errorf("probabilities %v, %v, of a decision value beyond all others", p, err)
		}
	}
}
