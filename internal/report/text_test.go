package report

import "testing"

func TestFormatting(t *testing.T) {
	for got, want := range map[string]string{
		Count(1234567): "1,234,567", Count(-1000): "-1,000", Count(999): "999", Counted(1, "pair", "pairs"): "1 pair",
		Bytes(1023): "1023 B", Bytes(1024): "1 KiB", Bytes(1023 << 10): "0.999 MiB", Bytes(238 << 20): "238 MiB",
		Rate(186e6): "186 M", Rate(999.9e3): "1 M", Rate(12): "12", Shorten("abcdef", 4): "…def",
		Shorten("abc", 4): "abc", Peak(1<<20, 0): "peak memory 1 MiB", Peak(1<<20, 2<<20): "peak memory 1 MiB of 2 MiB",
	} {
		if got != want {
			t.Errorf("got %q, expected %q", got, want)
		}
	}
}

func TestMedian(t *testing.T) {
	if got := Median([]float64{9, 1, 4}); got != 4 {
		t.Errorf("median of three is %v", got)
	}
	if got := Median([]float64{9, 1, 4, 2}); got != 3 {
		t.Errorf("median of four is %v", got)
	}
}
