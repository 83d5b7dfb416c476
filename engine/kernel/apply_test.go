package kernel

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
)

// Every kernel rejects inconsistent lengths before it writes a value.
func TestApplyRefuses(t *testing.T) {
	filled := func(n int, v float32) []float32 {
		return slices.Repeat([]float32{v}, n)
	}
	type call struct {
		dst, c, x, y []float32
		says         string
	}
	calls := map[string]call{
		"a short dst":       {filled(19, 9), filled(20, 0.5), filled(4, 1), filled(5, 1), "dst has 19"},
		"a long dst":        {filled(21, 9), filled(20, 0.5), filled(4, 1), filled(5, 1), "dst has 21"},
		"a short c":         {filled(20, 9), filled(19, 0.5), filled(4, 1), filled(5, 1), "c has 19 values"},
		"no c":              {filled(20, 9), nil, filled(4, 1), filled(5, 1), "c has 0 values"},
		"a row too many":    {filled(20, 9), filled(20, 0.5), filled(5, 1), filled(5, 1), "5 row norms"},
		"a row too few":     {filled(20, 9), filled(20, 0.5), filled(3, 1), filled(5, 1), "3 row norms"},
		"no rows":           {filled(20, 9), filled(20, 0.5), nil, filled(5, 1), "0 row norms"},
		"no columns":        {filled(20, 9), filled(20, 0.5), filled(4, 1), nil, "0 column norms"},
		"a column too many": {filled(20, 9), filled(20, 0.5), filled(4, 1), filled(6, 1), "6 column norms"},
	}
	everyMap(t, func(t *testing.T, table *asm.Kernels, k Kernel) {
		for name, c := range calls {
			before := slices.Clone(c.dst)
			musttest.WantError(Apply(k, table, c.dst, c.c, c.x, c.y))(t, name, c.says)
			if !sameBits(c.dst, before) {
				t.Errorf("%s: dst has been written to", name)
			}
		}
		dst := []float32{9, 9}
		if err := Apply(k, table, dst, []float32{0.5, 1}, nil, nil); (err != nil) != UsesNorms(k) {
			t.Errorf("without norms: error %v", err)
		}
		if err := Apply(k, table, nil, nil, nil, nil); err != nil {
			t.Errorf("nothing: error %v", err)
		}
	})
	one := filled(1, 1)
	if Apply(nil, asm.BestKernels(), one, one, one, one) == nil {
		t.Error("no kernel: no error")
	}
}

// New returns the documented error if Eval of a custom kernel panics.
func TestNewOfAKernelThatPanics(t *testing.T) {
	var failed *PanicError
	broken := errors.New("broken")
	k, err := New(Custom{Name: "bad", Eval: func(c, x, y float64) float64 { panic(broken) }})
	if k != nil || !errors.As(err, &failed) || failed.Function != "engine: kernel bad" || !errors.Is(err, broken) ||
		!strings.Contains(string(failed.Stack), "apply_test.go") {
		t.Errorf("kernel %v, error %v, expected a PanicError", k, err)
	}
}
