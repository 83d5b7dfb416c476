package repro

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Summary holds the mean and the standard deviation of repeated measurements. The standard
// deviation has the denominator n - 1, and is NaN for a single measurement.
type Summary struct {
	Mean, SD float64
	N        int
}

// Summarise returns the mean and the standard deviation of values.
func Summarise(values []float64) Summary {
	mean, sd := stat.MeanStdDev(values, nil)
	return Summary{mean, sd, len(values)}
}

// SignificanceTest is the result of a significance test that compares two methods.
type SignificanceTest struct {
	Statistic float64 // t or z; positive if the first method's figures are larger
	PValue    float64 // two-sided p value
}

// PairedTTest performs the two-sided paired t test for two methods on the same n splits,
//
//	t = mean(d) / (sd(d)/√n),  d[i] = a[i] - b[i].
//
// The p value is from Student's t distribution with n-1 degrees of freedom. If all differences are
// 0, t is 0 and p is 1. If all differences are equal but not 0, t is ±Inf and p is 0. Fewer than
// two pairs give NaN. Source: Student, Biometrika 6 (1908).
func PairedTTest(a, b []float64) SignificanceTest {
	d := floats.SubTo(make([]float64, len(a)), a, b)
	if len(d) < 2 {
		return SignificanceTest{math.NaN(), math.NaN()}
	}
	m := Summarise(d)
	if m.Mean == 0 && m.SD == 0 {
		return SignificanceTest{0, 1}
	}
	t := m.Mean / stat.StdErr(m.SD, float64(m.N))
	if math.IsInf(t, 0) {
		return SignificanceTest{t, 0}
	}
	return SignificanceTest{t, 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(m.N - 1)}.Survival(math.Abs(t))}
}

// SignTest performs the two-sided micro sign test for two classifiers. a is the number of documents
// that only the first classifier classifies correctly. b is the number of documents that only the
// second classifier classifies correctly. The statistic is
//
//	z = (a - n/2) / √(n/4),  n = a + b.
//
// The p value is from the normal distribution. If n is 0, z is 0 and p is 1. Source: Yang and Liu,
// SIGIR 1999, §4.
func SignTest(a, b int) SignificanceTest {
	n := float64(a + b)
	if n == 0 {
		return SignificanceTest{0, 1}
	}
	z := (float64(a) - n/2) / math.Sqrt(n/4)
	return SignificanceTest{z, math.Erfc(math.Abs(z) / math.Sqrt2)} // 1 - erf would be 0 for z >= 8.3
}
