package spectrum

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/run"
)

// bad is a matrix or an operator that says what it likes.
type bad struct {
	n     int
	at    func() float64
	apply func() error
}

func (b bad) Len() int                                            { return b.n }
func (b bad) Dims() (int, int)                                    { return b.n, b.n }
func (b bad) SymmetricDim() int                                   { return b.n }
func (b bad) T() mat.Matrix                                       { return b }
func (b bad) At(i, j int) float64                                 { return b.at() }
func (b bad) Apply(ctx context.Context, dst, src []float64) error { return b.apply() }

// Options out of range, what isn't there and what isn't finite are errors.
func TestRefuses(t *testing.T) {
	ctx, one := t.Context(), bad{n: 40, at: func() float64 { return 1 }, apply: func() error { return nil }}
	lanczos := func(a Operator, opt Options) func() error {
		return func() error { _, err := Lanczos(ctx, a, opt); return err }
	}
	apply := func(to, from int) func() error {
		return func() error { return CentreOperator(one).Apply(ctx, make([]float64, to), make([]float64, from)) }
	}
	for name, use := range map[string]func() error{
		"no operator":        lanczos(nil, Options{}),
		"rows below 0":       lanczos(bad{n: -1}, Options{}),
		"most rows":          lanczos(bad{n: math.MaxInt}, Options{}),
		"values below 0":     lanczos(one, Options{K: -1}),
		"steps below 0":      lanczos(one, Options{Steps: -1}),
		"tolerance below 0":  lanczos(one, Options{Tolerance: -1}),
		"tolerance NaN":      lanczos(one, Options{Tolerance: math.NaN()}),
		"no matrix":          func() error { _, err := All(ctx, nil, 0); return err },
		"workers below 0":    func() error { _, err := All(ctx, one, -1); return err },
		"values of NaN":      func() error { _, err := All(ctx, bad{n: 3, at: math.NaN}, 0); return err },
		"a short vector":     apply(40, 39),
		"a long destination": apply(41, 40),
	} {
		if err := use(); err == nil || !strings.HasPrefix(err.Error(), "spectrum: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, known := run.Available(); known {
		_, err := Lanczos(ctx, bad{n: 1 << 42}, Options{})
		if err == nil || !strings.Contains(err.Error(), "of memory") {
			t.Errorf("more rows than the machine has memory for: error %v", err)
		}
	}
	if e, err := Lanczos(ctx, one, Options{K: math.MaxInt, Steps: math.MaxInt}); err != nil || e.Steps != 40 {
		t.Errorf("numbers beyond the rows: %v, error %v", e, err)
	}
}

// What the caller hands over and panics ends the computation with an error.
func TestPanics(t *testing.T) {
	broken, ctx := errors.New("broken"), t.Context()
	one := bad{n: 40, apply: func() error { return nil }}
	calls := 0
	for name, use := range map[string]func() error{
		"Progress": func() error {
			_, err := Lanczos(ctx, one, Options{Progress: func(int, int, float64) { panic(broken) }})
			return err
		},
		"At on another goroutine": func() error {
			_, err := All(ctx, bad{n: 3, at: func() float64 {
				if calls++; calls > 3 {
					panic(broken)
				}
				return 1
			}}, 0)
			return err
		},
	} {
		var failed *run.PanicError
		if err := use(); !errors.As(err, &failed) || !errors.Is(err, broken) {
			t.Errorf("%s: error %v, expected a PanicError", name, err)
		}
	}
}

// A matrix that ends the goroutine on which its values are read ends All with an error.
func TestGoexit(t *testing.T) {
	calls := 0
	_, err := All(t.Context(), bad{n: 3, at: func() float64 {
		if calls++; calls > 3 {
			runtime.Goexit()
		}
		return 1
	}}, 0)
	if failed := (*run.PanicError)(nil); !errors.As(err, &failed) {
		t.Errorf("error %v, expected a PanicError", err)
	}
}

// What is to be centred must be there.
func TestCentreRefuses(t *testing.T) {
	for name, use := range map[string]func(){
		"no matrix":    func() { Centre(nil) },
		"no operator":  func() { CentreOperator(nil) },
		"rows below 0": func() { CentreOperator(bad{n: -1}) },
	} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "spectrum: Centre") {
					t.Errorf("%s: panic %q", name, text)
				}
			}()
			use()
		}()
	}
}

// Numbers of bytes are never below 0 or wrapped round.
func TestBytes(t *testing.T) {
	for _, n := range []int{1518500250, 1 << 32, 3 << 31, math.MaxInt} {
		if all, l := AllBytes(n), LanczosBytes(n, math.MaxInt); all != math.MaxInt64 || l != math.MaxInt64 {
			t.Errorf("%d rows take %d and %d bytes", n, all, l)
		}
	}
	if all, l := AllBytes(-5), LanczosBytes(-5, -5); all != 0 || l != 0 {
		t.Errorf("-5 rows take %d and %d bytes", all, l)
	}
	if all, l := AllBytes(1000), LanczosBytes(1000, 10); all != 4*1000*1001+82*8*1000 || l != 8*(13*1000+120) {
		t.Errorf("1000 rows take %d and %d bytes", all, l)
	}
	if b := RademacherBound([]float64{1}, -3, 1, 1, math.Inf(-1), 1); b != 0 {
		t.Errorf("no documents have the bound %v", b)
	}
}

func TestDoors(t *testing.T) {
	one := bad{n: 40, at: func() float64 { return 1 }, apply: func() error { return nil }}
	nan := func() float64 { return math.NaN() }
	eye := mat.NewSymDense(2, []float64{2, 1, 1, 2})
	doortest.Run(t, doortest.Package{
		Good: []any{doortest.As[Operator](one), doortest.As[mat.Symmetric](eye), doortest.As[BlockOperator](blocks{eye})},
		Bad: []any{
			doortest.As[Operator](bad{n: -1}), doortest.As[Operator](bad{n: math.MaxInt}),
			doortest.As[Operator](bad{n: 9, apply: func() error { return errors.New("failed") }}),
			doortest.As[mat.Symmetric](bad{n: 3, at: nan}), doortest.As[mat.Symmetric](bad{}),
		},
		Calls: [][]any{
			{All}, {AllBytes}, {Rounding}, {Centre}, {CentreOperator}, {LanczosBytes}, {Lanczos}, {LeadingBytes}, {Leading},
			{CoveringRadius, []float64{3, 2, 1}, 1}, {RademacherSum, []float64{3, 2, 1}, 1},
			{RademacherBound, []float64{3, 2, 1}, 10, 9, 5, 0.1, 1},
			{RademacherSupremum, []float64{3, 2, 1}, []float64{1, -1, 1}, 1},
		},
	})
}
