package kernel_test

import (
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// panicking is a kernel without values.
type panicking struct{ kernel.Kernel }

func (panicking) Eval(_, _, _ float64) float64 { panic("kernel_test: no values") }

func TestDoors(t *testing.T) {
	k := kernel.MustParse("rbf:gamma=1")
	eval := func(c, _, _ float64) float64 { return 1 - c }
	bad := func(c kernel.Custom) any {
		c.Name = "own"
		own := musttest.Get(kernel.New(c))(t)
		return doortest.As[kernel.Kernel](own)
	}
	copied := func(dst, c []float32, _ float32, _ []float32) { copy(dst, c) }
	four := []float32{0, 0.25, 0.5, 1}
	doortest.Run(t, doortest.Package{
		Good: []any{doortest.As[kernel.Kernel](k), asm.Best(), kernel.Hyperbolic{T: 1}, sparse.Sphere,
			kernel.Custom{Name: "own", Eval: eval}, &kernel.PanicError{}, &kernel.RoughError{}, kernel.C{}},
		Bad: []any{
			bad(kernel.Custom{Eval: eval, Row: copied, Error: eval}),
			bad(kernel.Custom{Eval: eval, Row: func(dst, _ []float32, _ float32, _ []float32) { dst[len(dst)] = 1 }}),
			bad(kernel.Custom{Eval: func(_, _, _ float64) float64 { return math.NaN() }}),
			doortest.As[kernel.Kernel](kernel.Precomputed()), doortest.As[kernel.Kernel](panicking{k}),
		},
		Whole: []any{asm.Kernels{}},
		Calls: [][]any{
			{kernel.Apply, k, asm.Best(), four, four, four[:2], four[:2]}, {kernel.Check},
			{kernel.Map, k, asm.Best(), four, four, four[:2], four[:2]}, {kernel.Caught}, {kernel.Names}, {kernel.Catalogue},
			{kernel.New}, {kernel.Precomputed}, {kernel.IsPrecomputed}, {kernel.SetKernels}, {kernel.IsHyperbolic},
			{kernel.ParseHyperbolic, "hyperbolic:t=1"}, {kernel.HyperbolicOf}, {kernel.Resolve}, {kernel.Key}, {kernel.Equal},
			{kernel.UsesNorms}, {kernel.Tolerance}, {kernel.Within}, {kernel.Parse, "linear"},
			{kernel.ParseIn, "linear"}, {kernel.MustParse, "linear"}, {kernel.ProgramOf}, {kernel.FallsWithC},
			{kernel.PropertiesOf}, {kernel.RayOf}, {kernel.InnerProduct}, {kernel.Slopes, k, 0.5, 1.0, 1.0},
			{kernel.Takes, k, "gamma"}, {kernel.Family}, {kernel.ParamOf, k, "gamma"}, {kernel.With, k, "gamma", 2},
			{kernel.Vary, []kernel.Kernel{k}, []kernel.List{{Name: "gamma", Values: []float64{1}}}},
		},
	})
}
