package flagtext

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// FieldMessage replaces flags in formats by fields, and leaves formatted arguments unchanged.
func TestInFields(t *testing.T) {
	inner := Errorf("-grid %s: %w", "a-type b", fs.ErrNotExist)
	for want, err := range map[string]error{
		"Type x: found my-type y":                        Errorf("-type x: found %s", "my-type y"),
		`Type "-type " of a file`:                        Errorf("-type %q of a file", "-type "),
		"of -type t: Grid a-type b: file does not exist": fmt.Errorf("of -type t: %w", inner),
		"Type x: Grid a-type b: file does not exist":     Errorf("-type x: %w", inner),
		"-kernel k\nTolerance 2\nGrid a-type b: file does not exist": errors.Join(
			errors.New("-kernel k"), Errorf("-tolerance 2"), inner),
		"expected Type linear": Errorf("expected %s", FlagText("-type linear")),
		"-scheme labels":       errors.New("-scheme labels"),
	} {
		if got := FieldMessage(err); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	if got := inner.Error(); got != "-grid a-type b: file does not exist" || !errors.Is(inner, fs.ErrNotExist) {
		t.Errorf("%q with flags, of no file: %v", got, errors.Is(inner, fs.ErrNotExist))
	}
}
