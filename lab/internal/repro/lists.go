package repro

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
)

// Numbers is a setting with a list of different positive numbers, in increasing order.
type Numbers []float64

// String returns the list as UnmarshalText reads it.
func (l Numbers) String() string { return join(l) }

// UnmarshalText reads a list separated by commas.
func (l *Numbers) UnmarshalText(text []byte) (err error) {
	*l, err = parseList(string(text), "number", func(s string) (float64, error) { return strconv.ParseFloat(s, 64) })
	return err
}

// Ints is a setting with a list of different positive integers, in increasing order.
type Ints []int

// String returns the list as UnmarshalText reads it.
func (l Ints) String() string { return join(l) }

// UnmarshalText reads a list separated by commas.
func (l *Ints) UnmarshalText(text []byte) (err error) {
	*l, err = parseList(string(text), "integer", strconv.Atoi)
	return err
}

// parseList reads positive numbers of at most 1e300.
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

// join returns a list separated by commas.
func join[T cmp.Ordered](list []T) string {
	var parts []string
	for _, v := range list {
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, ",")
}

// Words is a setting with a list of words.
type Words []string

// String returns the list as UnmarshalText reads it.
func (l Words) String() string { return strings.Join(l, ",") }

// UnmarshalText reads a list separated by commas.
func (l *Words) UnmarshalText(text []byte) error {
	*l = strings.Split(string(text), ",")
	return nil
}

// Of returns the words of the setting name in the order of all, or a usage error if a word isn't in
// all.
func (l Words) Of(name string, all ...string) (chosen Words, err error) {
	for _, word := range l {
		if !slices.Contains(all, word) {
			return nil, cli.Usagef("%s=%s, expected words of %s", name, word, strings.Join(all, ","))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(word string) bool { return !l.Has(word) }), nil
}

// Has reports whether a word is in the list.
func (l Words) Has(word string) bool { return slices.Contains(l, word) }

// OneOf returns a usage error unless a setting has one of some values.
func OneOf(name, value string, all ...string) error {
	_, err := Words{value}.Of(name, all...)
	return err
}

// Kernels is a setting with a list of kernels.
type Kernels []kernel.Kernel

// String returns the list as UnmarshalText reads it.
func (l Kernels) String() string {
	var specs []string
	for _, k := range l {
		specs = append(specs, k.String())
	}
	return strings.Join(specs, ";")
}

// UnmarshalText reads a list separated by semicolons.
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
