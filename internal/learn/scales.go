package learn

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/sparse"
)

// minScaleRatio is the minimum ratio of standard deviations that counts as different scales.
const minScaleRatio = 30

// These are results of [NonCountReason].
const (
	ReasonNegative  = "negative values"
	ReasonFractions = "fractions"
)

// NonCountReason returns the reason why values aren't term counts, or "" if they may be counts.
// Reasons are [ReasonNegative], [ReasonFractions], "columns with different scales" (standard
// deviations that differ by a factor of more than 30), and "one column", because vectors with one
// column differ only in norm. Scales are compared for the same columns as in [ScalingReason].
func NonCountReason(m *sparse.CSR) string {
	fractions, several := false, false
	for k, v := range m.Values {
		if v < 0 {
			return ReasonNegative
		}
		fractions = fractions || float64(v) != math.Trunc(float64(v))
		several = several || m.Terms[k] != m.Terms[0]
	}
	unlike, _ := compareScales(m)
	switch {
	case fractions:
		return ReasonFractions
	case len(m.Values) > 0 && !several:
		return "one column"
	case unlike:
		return "columns with different scales"
	}
	return ""
}

// ScalingReason returns the reason for scaling columns before vectors are compared, or "". Reasons
// are standard deviations that differ by a factor of more than 30 from each other or from 1, and a
// mean of more than 30 standard deviations. Only columns with values in at least half of the rows
// are checked, and only if these columns hold at least half of all values, because standard
// deviations of sparse columns always differ.
func ScalingReason(m *sparse.CSR) string {
	_, why := compareScales(m)
	return why
}

func compareScales(m *sparse.CSR) (unlike bool, why string) {
	plain := *m
	plain.Views = nil
	f := sparse.Embedding{Weighting: sparse.StandardScaling}.Fit(&plain)
	deviation := func(column int) float64 { return 1 / f.Weights[column] }
	var all []int // columns that aren't constant
	values, least, most := int64(0), -1, -1
	for j, df := range f.DF {
		if 2*int(df) < f.Documents {
			continue
		}
		if values += int64(df); f.Weights[j] == 0 {
			continue
		}
		if all = append(all, j); least < 0 || deviation(j) < deviation(least) {
			least = j
		}
		if most < 0 || deviation(j) > deviation(most) {
			most = j
		}
	}
	if len(all) == 0 || 2*values < m.NNZ() {
		return false, ""
	}
	unlike = deviation(most) > minScaleRatio*deviation(least)
	if unlike || deviation(least) < 1.0/minScaleRatio || deviation(most) > minScaleRatio {
		return unlike, fmt.Sprintf("standard deviations from %.3g (column %d) to %.3g (column %d)",
			deviation(least), f.Terms[least]+1, deviation(most), f.Terms[most]+1)
	}
	for _, j := range all {
		if mean := f.Shifts[j]; math.Abs(mean) > minScaleRatio*deviation(j) {
			return false, fmt.Sprintf("a mean of %.3g and a standard deviation of %.3g (column %d)", mean, deviation(j),
				f.Terms[j]+1)
		}
	}
	return false, ""
}
