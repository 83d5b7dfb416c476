package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/run"
)

// Integer is the constraint for the integers that [FormatCount] formats.
type Integer interface{ ~int | ~int64 | ~int32 }

// FormatCount formats an integer with commas between groups of three digits.
func FormatCount[T Integer](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// FormatCountOf formats n, followed by the noun one if n is 1, otherwise by many.
func FormatCountOf[T Integer](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return FormatCount(n) + " " + many
}

// FormatDocuments formats a number of documents, such as "1 document" or "2,000 documents".
func FormatDocuments(n int) string { return FormatCountOf(n, "document", "documents") }

// FormatBytes formats a number of bytes with three digits and a binary unit.
func FormatBytes(n int64) string { return run.FormatBytes(n) }

// OrUnknown returns s, or "unknown" if it is empty.
func OrUnknown(s string) string { return cmp.Or(s, "unknown") }

// FormatRate formats a number per second with three digits, such as "23.4 M".
func FormatRate(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}} {
		if v >= u.size*0.9995 {
			return strconv.FormatFloat(v/u.size, 'g', 3, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// FormatError formats an error bound with two significant digits, as in 1.5e-07. 0 remains 0.
func FormatError(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'e', 1, 64)
}

// FormatSeconds formats a duration of s seconds with the unit s, ms or µs.
func FormatSeconds(s float64) string {
	switch {
	case s >= 1:
		return strconv.FormatFloat(s, 'g', 4, 64) + " s"
	case s >= 1e-3:
		return strconv.FormatFloat(1e3*s, 'g', 3, 64) + " ms"
	}
	return strconv.FormatFloat(1e6*s, 'g', 3, 64) + " µs"
}

// FormatWait formats a waiting time, in minutes if it is at least 100 seconds.
func FormatWait(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%d s", int(math.Ceil(d.Seconds())))
	}
	return fmt.Sprintf("%d min", int(math.Ceil(d.Minutes())))
}

// FormatFloat formats a number with the smallest number of digits that identifies it.
func FormatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// FormatPercent formats a fraction as a percentage with one decimal.
func FormatPercent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// FormatPeakMemory formats a command's peak memory and its limit from -m, both in bytes. A limit of
// 0 means no limit.
func FormatPeakMemory(peak, limit int64) string {
	text := "peak memory " + FormatBytes(peak)
	if limit > 0 {
		text += " of " + FormatBytes(limit)
	}
	return text
}

// TruncateStart shortens s to n runes at the start, because the end of a path is more specific.
func TruncateStart(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return "…" + string(r[len(r)-n+1:])
}

// Join returns the names, separated by a comma and a space.
func Join[S ~string](names []S) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	return b.String()
}

// Pad appends spaces to s until it has the given number of columns.
func Pad(s string, columns int) string {
	return s + strings.Repeat(" ", max(columns-utf8.RuneCountInString(s), 0))
}

// Wrap prints text after head, wrapped at width columns and indented by the width of head.
func Wrap(w io.Writer, head, text string, width int) {
	line, begun := head, false
	for _, word := range strings.Fields(text) {
		if begun && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			fmt.Fprintln(w, line)
			line, begun = Pad("", utf8.RuneCountInString(head)), false
		}
		if begun {
			line += " "
		}
		line += word
		begun = true
	}
	fmt.Fprintln(w, line)
}

// Median returns the median of values, which must not be empty.
func Median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Ratio returns a/b, or 0 if b is 0.
func Ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
