package model

import (
	"bytes"
	"testing"
)

// same checks that two models have the same file, except for the format of their documents.
func same(t *testing.T, got, want *Model) {
	t.Helper()
	own := *got
	own.Form = want.Form
	if a, b := encode(t, &own), encode(t, want); !bytes.Equal(a, b) {
		t.Errorf("the model is written as\n%.2000q, expected\n%.2000q", a, b)
	}
}
