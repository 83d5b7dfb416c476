package spectrum

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// bad is a matrix or an operator with arbitrary results.
type bad struct {
	n     int
	at    func() float64
	apply func() error
}

func (b bad) Dim() int                                             { return b.n }
func (b bad) Dims() (int, int)                                     { return b.n, b.n }
func (b bad) SymmetricDim() int                                    { return b.n }
func (b bad) T() mat.Matrix                                        { return b }
func (b bad) At(i, j int) float64                                  { return b.at() }
func (b bad) Apply(ctx context.Context, dst, src *mat.Dense) error { return b.apply() }

// More rows than memory allows are an error.
func TestRefuses(t *testing.T) {
	ctx, one := t.Context(), bad{n: 40, at: func() float64 { return 1 }, apply: func() error { return nil }}
	if _, known := run.AvailableBytes(); known {
		musttest.WantError(Lanczos(ctx, bad{n: 1 << 42}, Options{}))(t,
			"more rows than the machine has memory for", "of memory")
	}
	if e, err := Lanczos(ctx, one, Options{K: math.MaxInt, MaxVectors: math.MaxInt}); err != nil || e.BasisSize != 40 {
		t.Errorf("numbers beyond the rows: %v, error %v", e, err)
	}
}

// A panic in the caller's code ends the computation with an error.
func TestPanics(t *testing.T) {
	broken, ctx := errors.New("broken"), t.Context()
	one := bad{n: 40, apply: func() error { return nil }}
	_, err := Lanczos(ctx, one, Options{Progress: func(int, int, float64) { panic(broken) }})
	if failed := (*run.PanicError)(nil); !errors.As(err, &failed) || !errors.Is(err, broken) {
		t.Errorf("error %v, expected a PanicError", err)
	}
}

// If reading a value panics or ends the goroutine, Eigenvalues returns an error.
func TestMatrixThatEnds(t *testing.T) {
	for _, end := range []func(){func() { panic("broken") }, runtime.Goexit} {
		calls := 0
		_, err := Eigenvalues(t.Context(), bad{n: 3, at: func() float64 {
			if calls++; calls > 3 {
				end()
			}
			return 1
		}}, 0)
		if failed := (*run.PanicError)(nil); !errors.As(err, &failed) {
			t.Errorf("error %v, expected a PanicError", err)
		}
	}
}

// Numbers of bytes don't overflow.
func TestBytes(t *testing.T) {
	if l := LanczosBytes(math.MaxInt, Options{MaxVectors: math.MaxInt}); l != math.MaxInt64 {
		t.Errorf("rows beyond memory take %d bytes", l)
	}
	if all, l := EigenvaluesBytes(1000), LanczosBytes(1000,
		Options{K: 1, BlockSize: 1, MaxVectors: 10}); all != 4*1000*1001+82*8*1000 ||
		l != 8*18*1000+24*100 {
		t.Errorf("1000 rows take %d and %d bytes", all, l)
	}
}
