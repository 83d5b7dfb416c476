package beside

import "testing"

func TestMedian(t *testing.T) {
	of := func(values ...float64) Runs {
		var s Runs
		for _, v := range values {
			s = append(s, Ran{Seconds: v, Cores: 10 * v})
		}
		return s
	}
	for _, test := range []struct {
		runs                [4]float64
		n                   int
		median, least, most float64
	}{{[4]float64{5}, 1, 5, 5, 5}, {[4]float64{9, 1, 2}, 3, 2, 1, 9}, {[4]float64{9, 1, 2, 4}, 4, 3, 1, 9}} {
		median, least, most, cores := of(test.runs[:test.n]...).Median()
		if median != test.median || least != test.least || most != test.most || cores != 10*test.median {
			t.Errorf("%v: median %v, least %v, most %v, cores %v", test.runs[:test.n], median, least, most, cores)
		}
	}
}
