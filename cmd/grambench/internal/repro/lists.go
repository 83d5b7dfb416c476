package repro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Numbers is a flag with a list of positive numbers, separated by commas, which come out increasing.
type Numbers []float64

// String writes the list as Set reads it.
func (l *Numbers) String() string {
	if l == nil {
		return ""
	}
	return joinNumbers(*l)
}

// Set reads a list.
func (l *Numbers) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) || v > 1e300 {
			return fmt.Errorf("%q is not a positive number", part)
		}
		*l = append(*l, v)
	}
	slices.Sort(*l)
	*l = slices.Compact(*l)
	return nil
}

// Ints is a flag with a list of positive whole numbers, separated by commas, which come out increasing.
type Ints []int

// String writes the list as Set reads it.
func (l *Ints) String() string {
	if l == nil {
		return ""
	}
	return joinNumbers(*l)
}

// Set reads a list.
func (l *Ints) Set(s string) error {
	*l = nil
	for part := range strings.SplitSeq(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || v <= 0 {
			return fmt.Errorf("%q is not a positive whole number", part)
		}
		*l = append(*l, v)
	}
	slices.Sort(*l)
	*l = slices.Compact(*l)
	return nil
}

// Words is a flag with a list of different words out of some, separated by commas, which come out in the order of those.
type Words struct {
	Of, Chosen []string
}

// String writes the list as Set reads it.
func (l *Words) String() string {
	if l == nil {
		return ""
	}
	return strings.Join(l.Chosen, ",")
}

// Set reads a list.
func (l *Words) Set(s string) error {
	var asked []string
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if !slices.Contains(l.Of, part) {
			return fmt.Errorf("%q, expected some of %s", part, strings.Join(l.Of, ","))
		}
		asked = append(asked, part)
	}
	l.Chosen = nil
	for _, word := range l.Of {
		if slices.Contains(asked, word) {
			l.Chosen = append(l.Chosen, word)
		}
	}
	return nil
}

// Has says whether a word was chosen.
func (l *Words) Has(word string) bool { return slices.Contains(l.Chosen, word) }

func joinNumbers[T int | float64](list []T) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, ",")
}
