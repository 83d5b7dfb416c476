package corpus

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// checkFloat compares parseFloat with strconv, which rounds correctly, bit for bit.
func checkFloat(t *testing.T, s string) {
	t.Helper()
	got, bad := parseFloat([]byte(s))
	want, err := strconv.ParseFloat(s, 32)
	plain := strings.Trim(s, "0123456789+-.eE") == "" // parseFloat only accepts decimals
	if ok := err == nil && plain && !math.IsInf(want, 0) && !math.IsNaN(want); ok != (bad == nil) {
		t.Fatalf("%q: %v, strconv says %v", s, bad, err)
	}
	if bad == nil && math.Float32bits(got) != math.Float32bits(float32(want)) {
		t.Fatalf("%q: %v, strconv says %v", s, got, float32(want))
	}
}

// TestParseFloat tries numbers at and near midpoints between two float32, for which double rounding
// fails.
func TestParseFloat(t *testing.T) {
	for _, s := range []string{
		"", "+", "-", ".", "e", "1e", "1e+", ".e1", "1.", ".5", "+1", "-1", "--1", "1..2", "1e1e1", "0", "-0",
		"00000000000000000000000000001", "0e99999",
		"16777217", "16777219", "9007199254740993", "123456789012345678901234567890", "0.1e-40", "1e-45", "7e-46",
		"1.1754943e-38", "1.1754942e-38",
		"3.4028235e38", "3.4028236e38", "34028235677973366e22", "1e400", "1e-400", "1e22", "1e23", "nan", "-inf",
		"Infinity", "0x1p3", "1_000", "1e99999999999999999999",
		// These are midpoints plus or minus less than the float64 resolution.
		"1.000000059604644775390625", "1.00000005960464477", "1.0000000596046448", "1.00000005960464478",
		"1.000000178813934326171875", "1.0000001788139343",
	} {
		checkFloat(t, s)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40000 {
		half := float64(math.Float32frombits(rng.Uint32()&0x7fffffff)) + 0
		if math.IsInf(half, 0) || math.IsNaN(half) {
			continue
		}
		next := float64(math.Nextafter32(float32(half), math.MaxFloat32))
		half = (half + next) / 2
		for _, digits := range []int{6, 9, 15, 16, 17, 18} {
			checkFloat(t, strconv.FormatFloat(half, "efg"[rng.IntN(3)], digits, 64))
		}
		checkFloat(t, fmt.Sprintf("%d.%0*d", rng.IntN(1000), 1+rng.IntN(12), rng.IntN(10000)))
		checkFloat(t, fmt.Sprintf("%de%d", rng.Uint64N(1<<54), rng.IntN(50)-25))
	}
}

// TestFastPath checks that usual numbers are read without strconv, because the reader's speed
// depends on that.
func TestFastPath(t *testing.T) {
	for _, s := range []string{"1", "17", "0.5", "0.0123457", "3.14159265", "-1.5e-3", "12345678901234"} {
		if _, n, ok := scanFloat([]byte(s + " ")); !ok || n != len(s) {
			t.Errorf("%s: %d bytes read, %t", s, n, ok)
		}
	}
}

func FuzzParseFloat(f *testing.F) {
	for _, s := range []string{"1", "-0.5e-3", "16777217", "1.00000005960464478", "1e-45", "3.4028236e38", "nan",
		"0x1p3"} {
		f.Add(s)
	}
	f.Fuzz(checkFloat)
}
