package cli

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// StringList holds the values of a flag that may be repeated.
type StringList []string

func (l *StringList) String() string     { return strings.Join(*l, " ") }
func (l *StringList) Set(v string) error { *l = append(*l, v); return nil }
func (l *StringList) Several()           {} // marks a flag that may be repeated with different values

// ByteSize is a number of bytes with a unit, such as 500M, 4G, 1.5g or 2GiB. Units are powers of
// 1024. The default unit is MB, as in svm-train's -m. Zero means unset.
type ByteSize int64

// String returns the size in the largest unit in which it is an integer.
func (b *ByteSize) String() string {
	if b == nil || *b == 0 {
		return ""
	}
	unit := min(bits.TrailingZeros64(uint64(*b))/10, len(sizeUnits)-1)
	return strconv.FormatInt(int64(*b)>>(10*unit), 10) + sizeUnits[unit:unit+1]
}

const sizeUnits = "BKMGT"

// Set implements flag.Value.
func (b *ByteSize) Set(s string) error {
	digits := strings.TrimRight(s, "BIKMGTbikmgt")
	unit := strings.ToUpper(s[len(digits):])
	shifts := map[string]int{"": 20, "B": 0, "K": 10, "M": 20, "G": 30, "T": 40}
	shift, ok := shifts[strings.TrimSuffix(strings.TrimSuffix(unit, "B"), "I")]
	if unit == "B" {
		shift = 0
	}
	v, err := strconv.ParseFloat(digits, 64)
	if err != nil || !ok || !(v > 0) || !(math.Ldexp(v, shift) < math.MaxInt64) {
		return fmt.Errorf("%q is not a size such as 500M or 4G", s)
	}
	*b = ByteSize(math.Ldexp(v, shift))
	return nil
}

// ZeroOne is a boolean flag with values 0 and 1, as in svm-train.
type ZeroOne bool

func (z *ZeroOne) String() string {
	if z != nil && bool(*z) {
		return "1"
	}
	return "0"
}

// Set implements flag.Value.
func (z *ZeroOne) Set(v string) error {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return fmt.Errorf("must be 0 or 1")
	}
	*z = ZeroOne(b)
	return nil
}
