package run

import "strconv"

// Round returns the number of so many significant decimal digits, at least one, that is nearest to v: 0.3 of 3 · 0.1
// with twelve. NaN and infinite values stay what they are.
func Round(v float64, digits int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', max(digits, 1)-1, 64), 64) // infinite where that is nearest
	return v
}
