package kernel

import (
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
)

// What tests of several packages share.
var (
	mapSpecs = enginetest.Kernels
	sameBits = enginetest.SameBits
)

func parse(t testing.TB, spec string) Kernel {
	t.Helper()
	k, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
