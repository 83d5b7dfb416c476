package corpus

import (
	"errors"
	"math"
	"strconv"
)

// powersOfTen are exact in float64.
var powersOfTen = [23]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// scanUint reads the decimal digits at the start of b, and returns their value and the number of
// digits. For more than 19 digits, the value is math.MaxUint64.
func scanUint(b []byte) (x uint64, n int) {
	for n < len(b) && b[n]-'0' <= 9 {
		x = x*10 + uint64(b[n]-'0')
		n++
	}
	if n > 19 {
		x = math.MaxUint64
	}
	return x, n
}

// scanFloat reads a decimal number from the start of b, correctly rounded to float32, and returns
// its value and length. If ok is false, the fast path doesn't apply; use [parseFloat] then.
//
// A decimal with mantissa m < 2⁵³ and exponent −22 to 22 is the product or quotient of two exact
// float64, so one rounding gives the nearest float64 d. Rounding d to float32 gives the nearest
// float32, unless d is inexact and halfway between two float32 (the low 29 bits of the significand
// are 100...0); then ok is false. All such numbers except 0 are between 10⁻²² and 2⁵³·10²², in the
// normal range of float32. Source of the first part: Clinger, "How to read floating point numbers
// accurately", PLDI 1990.
func scanFloat(b []byte) (v float32, n int, ok bool) {
	negative := false
	if n < len(b) && (b[n] == '-' || b[n] == '+') {
		negative = b[n] == '-'
		n++
	}
	m, whole := scanUint(b[n:])
	n += whole
	digits, exponent := whole, 0
	if n < len(b) && b[n] == '.' {
		n++
		start := n
		for n < len(b) && b[n]-'0' <= 9 {
			m = m*10 + uint64(b[n]-'0')
			n++
		}
		exponent = start - n
		digits += n - start
	}
	if digits == 0 || digits > 18 || m >= 1<<53 {
		return 0, 0, false
	}
	if n < len(b) && (b[n] == 'e' || b[n] == 'E') {
		n++
		minus := false
		if n < len(b) && (b[n] == '-' || b[n] == '+') {
			minus = b[n] == '-'
			n++
		}
		e, digits := scanUint(b[n:])
		if digits == 0 || digits > 4 {
			return 0, 0, false
		}
		n += digits
		if minus {
			exponent -= int(e)
		} else {
			exponent += int(e)
		}
	}
	d := float64(m)
	switch {
	case m == 0 || exponent == 0:
	case -22 <= exponent && exponent < 0:
		d /= powersOfTen[-exponent]
	case 0 < exponent && exponent <= 22:
		d *= powersOfTen[exponent]
	default:
		return 0, 0, false
	}
	if exponent != 0 && m != 0 {
		const half, low = 1 << 28, 1<<29 - 1
		if math.Float64bits(d)&low == half {
			return 0, 0, false
		}
	}
	if negative {
		d = -d
	}
	return float32(d), n, true
}

// parseUint reads a whole token as a number of up to 19 digits, like [scanUint].
func parseUint(token []byte) (x uint64, ok bool) {
	x, digits := scanUint(token)
	return x, digits > 0 && digits == len(token)
}

// parseFloat reads a whole token as a float32, correctly rounded. A number too small for float32
// becomes 0. A number too large for float32, NaN and Inf are errors.
func parseFloat(token []byte) (float32, *SyntaxError) {
	if v, n, ok := scanFloat(token); ok && n == len(token) {
		return v, nil
	}
	const expected = "a finite number"
	// ParseFloat also accepts NaN, Inf, hexadecimal numbers and underscores.
	for _, c := range token {
		if !('0' <= c && c <= '9' || c == '.' || c == '-' || c == '+' || c|0x20 == 'e') {
			return 0, newSyntaxError("value "+quote(token), expected)
		}
	}
	v, err := strconv.ParseFloat(string(token), 32)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, newSyntaxError("value "+quote(token)+" is beyond float32", expected)
	case err != nil:
		return 0, newSyntaxError("value "+quote(token), expected)
	}
	return float32(v), nil
}

// parseValue is like [parseFloat], but rejects negative values unless signed is true. It returns 0
// for −0, so that equal matrices have equal digests.
func parseValue(token []byte, signed bool) (float32, *SyntaxError) {
	v, bad := parseFloat(token)
	if v == 0 {
		return 0, bad
	}
	if v < 0 && !signed {
		return 0, negativeError("negative value " + strconv.FormatFloat(float64(v), 'g', -1, 32))
	}
	return v, nil
}

func negativeError(found string) *SyntaxError {
	return newSyntaxError(found, "a nonnegative value").withOption("Signed", "accepts negative values")
}
