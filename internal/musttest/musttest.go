// Package musttest provides test helpers, such as functions that return a value or end the test.
package musttest

import (
	"context"
	"io"
	"strings"
	"testing"
)

// Get takes a value and its error: Get(f())(t) returns f's value, or ends the test with f's error.
func Get[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		NoError(t, err)
		return value
	}
}

// NoError ends the test if err isn't nil.
func NoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Output returns the output of write, or ends the test with its error.
func Output(t testing.TB, write func(context.Context, io.Writer) error) string {
	t.Helper()
	var b strings.Builder
	NoError(t, write(t.Context(), &b))
	return b.String()
}

// MakeSlice returns n values: value(0), value(1), ….
func MakeSlice[T any](n int, value func(i int) T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = value(i)
	}
	return s
}
