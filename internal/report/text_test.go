package report

import "testing"

func TestFormatting(t *testing.T) {
	for got, want := range map[string]string{
		FormatCount(1234567): "1,234,567", FormatCount(-1000): "-1,000", FormatCount(999): "999",
		FormatCountOf(1, "pair", "pairs"): "1 pair",
		FormatBytes(1023):                 "1023 B", FormatBytes(1024): "1 KiB", FormatBytes(1023 << 10): "0.999 MiB",
		FormatBytes(238 << 20): "238 MiB",
		FormatRate(186e6):      "186 M", FormatRate(999.9e3): "1 M", FormatRate(12): "12", TruncateStart("abcdef", 4): "…def",
		TruncateStart("abc", 4): "abc", FormatPeakMemory(1<<20, 0): "peak memory 1 MiB",
		FormatPeakMemory(1<<20, 2<<20): "peak memory 1 MiB of 2 MiB",
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
