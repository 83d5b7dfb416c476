package repro

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
)

// NumberList is a setting that consists of distinct positive numbers in ascending order.
type NumberList[T int | float64] []T

type (
	Floats = NumberList[float64]
	Ints   = NumberList[int]
)

// String returns the list in the format that UnmarshalText parses.
func (l NumberList[T]) String() string {
	var parts []string
	for _, v := range l {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, ",")
}

// UnmarshalText parses a comma-separated list.
func (l *NumberList[T]) UnmarshalText(text []byte) error {
	*l = nil
	for part := range strings.SplitSeq(string(text), ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0) || v > 1e300 || float64(T(v)) != v {
			return fmt.Errorf("each number must be positive, at most 1e300 and of type %T, got %q", T(0), part)
		}
		*l = append(*l, T(v))
	}
	slices.Sort(*l)
	*l = slices.Compact(*l)
	return nil
}

// Words is a setting that consists of several words.
type Words []string

// String returns the list in the format that UnmarshalText parses.
func (l Words) String() string { return strings.Join(l, ",") }

// UnmarshalText parses a comma-separated list.
func (l *Words) UnmarshalText(text []byte) error {
	*l = strings.Split(string(text), ",")
	return nil
}

// Select returns the words of l, in the order of all. If a word isn't in all, Select returns a
// usage error for the setting called name.
func (l Words) Select(name string, all ...string) (chosen Words, err error) {
	for _, word := range l {
		if !slices.Contains(all, word) {
			return nil, cli.Usagef("invalid setting %s=%s; valid values are %s", name, word, strings.Join(all, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(word string) bool { return !l.Has(word) }), nil
}

// Has reports whether a word is in the list.
func (l Words) Has(word string) bool { return slices.Contains(l, word) }

// CheckOneOf returns a usage error for the setting called name unless value is in all.
func CheckOneOf(name, value string, all ...string) error {
	_, err := Words{value}.Select(name, all...)
	return err
}

// Kernels is a setting that consists of several kernels.
type Kernels []kernel.Kernel

// String returns the list in the format that UnmarshalText parses.
func (l Kernels) String() string {
	var specs []string
	for _, k := range l {
		specs = append(specs, k.String())
	}
	return strings.Join(specs, ";")
}

// UnmarshalText parses a semicolon-separated list.
func (l *Kernels) UnmarshalText(text []byte) error {
	*l = nil
	for spec := range strings.SplitSeq(string(text), ";") {
		k, err := kernel.Parse(spec)
		if err != nil {
			return err
		}
		*l = append(*l, k)
	}
	return nil
}
