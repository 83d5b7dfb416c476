package run

// Range returns from, from+1, …, to-1.
func Range(from, to int) []int {
	out := make([]int, to-from)
	for i := range out {
		out[i] = from + i
	}
	return out
}

// Select returns list[i] for each i in at, or nil for a nil list.
func Select[T any](list []T, at []int) []T {
	if list == nil {
		return nil
	}
	out := make([]T, len(at))
	for k, i := range at {
		out[k] = list[i]
	}
	return out
}

// ClosestWord returns the known word that is most similar to a mistyped word, or "" if none is
// similar.
func ClosestWord(word string, known []string) (best string) {
	least := 1 + len(word)/3
	for _, k := range known {
		if d := editDistance(word, k); d <= least && 2*d < len(word) {
			best, least = k, d-1
		}
	}
	return best
}

// editDistance returns the Levenshtein distance of two words: the number of insertions, deletions
// and replacements that turn b into a.
func editDistance(a, b string) int {
	row := Range(0, len(b)+1)
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

// Interleave returns the first elements of all lists, then their second elements, and so on.
func Interleave[T any](lists ...[]T) (out []T) {
	for i := 0; ; i++ {
		before := len(out)
		for _, list := range lists {
			if i < len(list) {
				out = append(out, list[i])
			}
		}
		if len(out) == before {
			return out
		}
	}
}
