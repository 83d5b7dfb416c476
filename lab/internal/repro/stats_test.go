package repro

import (
	"math"
	"testing"
)

// Student's own data: hours of sleep gained by ten patients with two drugs. R's t.test(paired =
// TRUE) prints t = -4.0621, p = 0.002833. The tolerance is half a unit of the last digit.
func TestPairedTOfStudentsSleep(t *testing.T) {
	first := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	second := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	got := PairedTTest(first, second)
	if !(math.Abs(got.Statistic - -4.0621) <= 5e-5) || !(math.Abs(got.PValue-0.002833) <= 5e-7) {
		t.Errorf("t = %v, p = %v, expected -4.0621 and 0.002833", got.Statistic, got.PValue)
	}
	if back := PairedTTest(second, first); back.Statistic != -got.Statistic || back.PValue != got.PValue {
		t.Errorf("exchanged: %v, expected the opposite of %v", back, got)
	}
}

func TestPairedTAtTheEdges(t *testing.T) {
	if got := PairedTTest([]float64{1, 2, 3}, []float64{1, 2, 3}); got != (SignificanceTest{0, 1}) {
		t.Errorf("no difference: %v", got)
	}
	if got := PairedTTest([]float64{1, 2, 3}, []float64{2, 3, 4}); !math.IsInf(got.Statistic, -1) || got.PValue != 0 {
		t.Errorf("the same difference everywhere: %v", got)
	}
	if got := PairedTTest([]float64{1}, []float64{2}); !math.IsNaN(got.PValue) {
		t.Errorf("one pair: %v", got)
	}
}

// 60 of 100 is 2 standard deviations from 50. The two-sided probability is 0.0455002639 by any
// table of the normal distribution.
func TestSignTest(t *testing.T) {
	got := SignTest(60, 40)
	if got.Statistic != 2 || !(math.Abs(got.PValue-0.0455002639) <= 1e-10) {
		t.Errorf("z = %v, p = %v, expected 2 and 0.0455", got.Statistic, got.PValue)
	}
	// Far from the mean the probability stays positive. For z = 9 it is 2.2571768119076813e-19, by
	// the series of the complementary error function in 30 digits. The tolerance is several ulp of
	// erfc, plus one ulp of its argument times z².
	if far := SignTest(81, 0); far.Statistic != 9 || !(math.Abs(far.PValue/2.2571768119076813e-19-1) <= 1e-13) {
		t.Errorf("z = %v, p = %v, expected 9 and 2.257e-19", far.Statistic, far.PValue)
	}
	if back := SignTest(40, 60); back.Statistic != -2 || back.PValue != got.PValue {
		t.Errorf("exchanged: %v", back)
	}
	if none := SignTest(0, 0); none != (SignificanceTest{0, 1}) {
		t.Errorf("nothing to compare: %v", none)
	}
}

// The squared deviations of 2, 4, 4, 4, 5, 5, 7, 9 from their mean 5 add up to 32.
func TestMeasure(t *testing.T) {
	got := Summarise([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	if want := math.Sqrt(32.0 / 7); got.Mean != 5 || !(math.Abs(got.SD-want) <= 1e-15*want) || got.N != 8 {
		t.Errorf("%+v, expected mean 5 and deviation %v", got, want)
	}
	if one := Summarise([]float64{3}); one.Mean != 3 || !math.IsNaN(one.SD) {
		t.Errorf("one value: %+v, expected no deviation", one)
	}
}
