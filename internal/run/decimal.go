package run

import "strconv"

// RoundSignificant rounds v to max(digits, 1) significant decimal digits. For example, 3 · 0.1
// rounded to twelve digits is 0.3. NaN and infinite values stay unchanged.
func RoundSignificant(v float64, digits int) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'e', max(digits, 1)-1, 64), 64) // infinite on overflow
	return v
}
