package kernel

import (
	"errors"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// brokenKernel is a kernel by itself, without NewKernel, whose map panics with an error of its own.
type brokenKernel struct{ in }

var errBroken = errors.New("broken")

func (brokenKernel) String() string                                                 { return "itself" }
func (brokenKernel) Eval(c, x, y float64) float64                                   { return c }
func (brokenKernel) Error(c, x, y float64) float64                                  { return 0 }
func (brokenKernel) mapTo(*asm.Kernels, []float32, []float32, []float32, []float32) { panic(errBroken) }

// outOfRange panics as Go itself does, for every value but those that NewKernel tries.
func outOfRange(c, x, y float64) float64 {
	if c == 0 || c == 0.25 || c == 1 {
		return 1 - c
	}
	var none []float64
	return none[int(1000*c)+3]
}

// panicking are user-defined kernels that panic: by a table, value by value, and without
// NewKernel.
func panicking(t *testing.T) map[string]Kernel {
	kernels := map[string]Kernel{"itself": brokenKernel{in{sparse.Sphere}}}
	for name, c := range map[string]Custom{
		"table":  {Eval: outOfRange},
		"values": {Eval: outOfRange, Properties: Properties{UsesNorms: true}},
	} {
		c.Name, c.Embedding = name, sparse.Sphere
		k := musttest.Get(New(c))(t)
		kernels[name] = k
	}
	return kernels
}
