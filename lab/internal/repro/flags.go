package repro

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Numbers is a flag with a list of positive numbers, separated by commas. Set sorts them and drops
// those that occur twice.
type Numbers []float64

// String writes the list as Set reads it.
func (l *Numbers) String() string { return join(l) }

// Set reads a list.
func (l *Numbers) Set(s string) (err error) {
	*l, err = parseList(s, "number", func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	return err
}

// Ints is a flag with a list of positive whole numbers, separated by commas. Set sorts them and
// drops those that occur twice.
type Ints []int

// String writes the list as Set reads it.
func (l *Ints) String() string { return join(l) }

// Set reads a list.
func (l *Ints) Set(s string) (err error) {
	*l, err = parseList(s, "whole number", strconv.Atoi)
	return err
}

// parseList reads positive numbers, at most 1e300.
func parseList[T int | float64](s, what string, parse func(string) (T, error)) (list []T, err error) {
	for part := range strings.SplitSeq(s, ",") {
		v, err := parse(strings.TrimSpace(part))
		if err != nil || !(v > 0) || float64(v) > 1e300 {
			return nil, fmt.Errorf("%q is not a positive %s", part, what)
		}
		list = append(list, v)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// join writes a list with commas; package flag also asks nil for its text.
func join[L ~[]T, T cmp.Ordered](list *L) string {
	if list == nil {
		return ""
	}
	var parts []string
	for _, v := range *list {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, ",")
}

// Words is a flag with a choice of words, separated by commas. Chosen has the order of Of.
type Words struct {
	Of, Chosen []string
}

// AllOf returns the flag of a choice of words, of which all are chosen.
func AllOf(words ...string) Words { return Words{words, words} }

// String writes the list as Set reads it.
func (l *Words) String() string {
	if l == nil {
		return ""
	}
	return join(&l.Chosen)
}

// Set reads a list.
func (l *Words) Set(s string) error {
	asked := map[string]bool{}
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(l.Of, part) {
			return fmt.Errorf("%q, expected some of %s", part, join(&l.Of))
		}
		asked[part] = true
	}
	l.Chosen = slices.DeleteFunc(slices.Clone(l.Of), func(word string) bool { return !asked[word] })
	return nil
}

// Has reports whether a word was chosen.
func (l *Words) Has(word string) bool { return slices.Contains(l.Chosen, word) }
