package kernel

import (
	"slices"
	"strings"
	"sync"

	"github.com/gramengine/gram/engine/internal/enginetest"
)

// sameBits is shared by tests of several packages.
var sameBits = enginetest.SameBits

// mapSpecs returns the specifications for tests of maps, bounds and programs, and the examples of
// all other families.
var mapSpecs = sync.OnceValue(func() []string {
	all := slices.Clone(enginetest.Kernels)
	text := strings.Join(all, " ")
	for _, info := range Catalogue() {
		if !strings.Contains(text, info.Name) && info.Operands == "" {
			all = append(all, info.Examples...)
		}
	}
	return all
})

// made is MustParse with a cache, because tables of a kernel take longer than most tests.
func made(spec string) Kernel {
	k, there := kernels.Load(spec)
	if !there {
		k, _ = kernels.LoadOrStore(spec, MustParse(spec))
	}
	return k.(Kernel)
}

var kernels sync.Map

// leaf makes a base kernel from a formula.
func leaf(f formula) *kernel { return (&kernel{formula: f}).finish() }

// feature returns c2, x2 and y2.
func (k *kernel) feature(c, x, y float64) (c2, x2, y2 float64) {
	norm := k.imageNorm(documentNorm).f
	return k.deficitExpr().eval(c, x, y), norm(x), norm(y)
}
