package musttest

import (
	"errors"
	"strings"
	"testing"
)

// WantError takes the results of a call, the last of which is its error. WantError(f())(t, what,
// want...) fails the test if the error is nil or lacks a want. A want is a string that the error's
// text must contain, or an error that the error must wrap. The message of the test begins with
// what.
func WantError(results ...any) func(t testing.TB, what any, want ...any) {
	return func(t testing.TB, what any, want ...any) {
		t.Helper()
		err, _ := results[len(results)-1].(error)
		if err == nil {
			t.Errorf("%v: no error", what)
			return
		}
		for _, w := range want {
			target, is := w.(error)
			if is && !errors.Is(err, target) || !is && !strings.Contains(err.Error(), w.(string)) {
				t.Errorf("%v: error %v, want %q", what, err, w)
			}
		}
	}
}
