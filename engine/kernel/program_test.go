package kernel

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/musttest"
)

// hostKernels are the kernels of mapSpecs() without a program.
var hostKernels = map[string]bool{
	"arccos:n=0,bias=0.3": true, "arccos:n=0,bias=-2": true, "arccos:n=0,bias=1,sigma=0.5": true, // a table per norm
	// feature spaces whose formula needs an arctangent
	"arccos:n=0,sigma=1,layers=2": true, "compose(arccos:n=0,sigma=0.5,arccos:n=1)": true,
	"compose(arccos:n=0,sigma=20,ngd)": true, "compose(linear + arccos:n=0,sigma=3,arccos:n=0,sigma=0.1)": true,
}

// The program of every kernel has the kernel's value within its documented tolerance.
func TestPrograms(t *testing.T) {
	if musttest.RaceEnabled {
		t.Skip("nothing here runs concurrently, and it takes ten times as long")
	}
	cs := float32Distances(40)
	for _, spec := range mapSpecs() {
		t.Run(spec, func(t *testing.T) {
			k := Resolve(MustParse(spec), 1000)
			p := ProgramOf(k)
			if (p == nil) != hostKernels[spec] {
				t.Fatalf("a program: %v, expected %v", p != nil, !hostKernels[spec])
			}
			if p == nil {
				return
			}
			checked := 0
			for n, c := range cs {
				for m, x := range norms {
					y := norms[(n+m)%len(norms)]
					if n%3 == 0 {
						y = x
					}
					want := k.Eval(float64(c), float64(x), float64(y))
					if math.Abs(want) > math.MaxFloat32 || c > 1 && p.NonNegativeOnly ||
						!holdsFor(p, float64(x), float64(y)) {
						continue
					}
					checked++
					got := float64(float32(p.Eval(c, float64(x), float64(y))))
					if !WithinTolerance(k, got, want, float64(c), float64(x), float64(y)) {
						t.Fatalf("c = %v, norms %v and %v: found %v, expected %v, tolerance %v", c, x, y, got, want,
							Tolerance(k, float64(c), float64(x), float64(y)))
					}
					if c == 0 && x == y && strings.HasPrefix(spec, "normalise") && got != 1 {
						t.Fatalf("norm %v: found %v on the diagonal, expected 1", x, got)
					}
				}
			}
			if checked < len(cs) {
				t.Errorf("%d values checked of %d", checked, len(cs)*len(norms))
			}
		})
	}
}

func holdsFor(p *device.Program, norms ...float64) bool {
	for _, f := range p.Attributes {
		for _, x := range norms {
			if v := f(x); v != v {
				return false
			}
		}
	}
	return true
}

// ProgramOf returns nil for long, unresolved and user-defined kernels.
func TestProgramsRefused(t *testing.T) {
	custom := musttest.Get(New(
		Custom{
			Name:       "mine",
			Eval:       func(c, x, y float64) float64 { return c * x * y },
			Properties: Properties{UsesNorms: true},
		},
	))(t)
	long := "rbf:gamma=0.1"
	for gamma := range 60 {
		long += fmt.Sprintf(" + rbf:gamma=%d", gamma+1)
	}
	for name, k := range map[string]Kernel{"open": MustParse("rbf"), "custom": custom, "long": MustParse(long)} {
		if ProgramOf(k) != nil {
			t.Errorf("%s: a program, expected none", name)
		}
	}
}
