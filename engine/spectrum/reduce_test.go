package spectrum

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

// symmetricOf returns the matrix of n rows with the values of at on and below the diagonal.
func symmetricOf(n int, at func(i, j int) float64) *mat.SymDense {
	a := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a.SetSym(i, j, at(i, j))
		}
	}
	return a
}

// Eigenvalues agrees with gonum's decomposition, a different algorithm, relative to the largest
// value: for sizes around the block sizes, values of all magnitudes, and matrices without some
// reflections. The number of workers changes no bit.
func TestAllAgainstGonum(t *testing.T) {
	musttest.SkipRace(t)
	r := rand.New(rand.NewPCG(1, 1))
	noise := func(int, int) float64 { return r.NormFloat64() }
	const blocks = undividedRows + panelRows
	matrices := map[string]*mat.SymDense{
		"zeros":    symmetricOf(40, func(int, int) float64 { return 0 }),
		"ones":     symmetricOf(70, func(int, int) float64 { return 1 }),
		"diagonal": symmetricOf(70, func(i, j int) float64 { return map[bool]float64{true: float64(i - 9)}[i == j] }),
		"great":    symmetricOf(50, func(i, j int) float64 { return 1e300 * r.Float64() }),
		"small":    symmetricOf(50, func(i, j int) float64 { return 1e-300 * r.NormFloat64() }),
		"graded": symmetricOf(90, func(i, j int) float64 {
			return math.Pow(10, -float64(i)) * r.NormFloat64()
		}),
		"falling": symmetricOf(90, func(i, j int) float64 {
			return math.Pow(10, float64(i)-90) * r.NormFloat64()
		}),
		"kernel": symmetricOf(2*blocks, func(i, j int) float64 { return math.Exp(-math.Abs(float64(i-j)) / 50) }),
		"wide":   symmetricOf(columnBlock+40, noise),
	}
	for _, n := range []int{1, 2, 3, panelRows - 1, panelRows, panelRows + 1, undividedRows + 1, blocks + 1} {
		matrices[fmt.Sprint("noise of ", n)] = symmetricOf(n, noise)
	}
	for name, a := range matrices {
		got, err := Eigenvalues(t.Context(), a, 1)
		if err != nil {
			t.Fatal(name, err)
		}
		var e mat.EigenSym
		_, exponent := math.Frexp(mat.Max(a)) // gonum's panics for extreme values
		near := symmetricOf(a.SymmetricDim(), func(i, j int) float64 { return math.Ldexp(a.At(i, j), -exponent) })
		if !e.Factorize(near, false) {
			t.Fatal(name)
		}
		want := e.Values(nil)
		slices.Reverse(want)
		for i, v := range want {
			want[i] = math.Ldexp(v, exponent)
		}
		largest := max(math.Abs(want[0]), math.Abs(want[len(want)-1]))
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= 1e-10*largest) {
				t.Errorf("%s: eigenvalue %d is %v, expected %v", name, i, got[i], want[i])
				break
			}
		}
		for _, workers := range []int{2, 7} {
			if again, err := Eigenvalues(t.Context(), a, workers); err != nil || !slices.Equal(again, got) {
				t.Errorf("%s: other values from %d workers, error %v", name, workers, err)
			}
		}
	}
}

// Values that decrease from row to row below what the eigenvalue iteration can scale count as 0.
func TestAllOfExtremeGrades(t *testing.T) {
	for _, by := range []float64{-3, 3} {
		a := symmetricOf(90, func(i, _ int) float64 { return math.Pow(10, by*float64(i)-150) })
		if got, err := Eigenvalues(t.Context(), a, 1); err != nil || !(got[0] >= mat.Max(a)) {
			t.Errorf("%v, error %v", got, err)
		}
	}
}

// ending is a context that is done after a number of calls of Err.
type ending struct {
	context.Context
	left int
}

func (c *ending) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// The reduction ends at the next row after its context is done.
func TestAllIsCancelled(t *testing.T) {
	const n = 60
	p := musttest.Get(pack(t.Context(), with(decaying(n), 1)))(t)
	musttest.WantError(tridiagonalise(&ending{t.Context(), n / 2}, p, 1))(t,
		"after the end of the context", context.Canceled)
}
