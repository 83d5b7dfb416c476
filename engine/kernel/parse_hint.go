package kernel

import (
	"fmt"
	"strings"
)

// hint asks for the candidate that is one or two slips away from the word written, or says nothing.
func hint(word string, candidates []string) string {
	best, at := "", 3
	for _, c := range candidates {
		if d := slips(strings.ToLower(word), c); d < at && d < len(c) {
			best, at = c, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", best)
}

// slips returns the Levenshtein distance of two words.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diagonal
			if a[i] != b[j] {
				d++
			}
			diagonal = row[j+1]
			row[j+1] = min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
