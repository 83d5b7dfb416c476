package instrument

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The interval contains the true median as often as stated, in samples of a skewed distribution.
func TestMedianInterval(t *testing.T) {
	const samples = 4000
	for _, n := range []int{6, 7, 24, 101} {
		r, missed := rand.New(rand.NewPCG(2, uint64(n))), 0
		for range samples {
			values := musttest.MakeSlice(n, func(i int) float64 { return math.Exp(r.NormFloat64()) })
			m := medianOf(values)
			if !(m.Low <= m.Median && m.Median <= m.High) {
				t.Fatalf("%+v", m)
			}
			if !(m.Low <= 1 && 1 <= m.High) {
				missed++
			}
		}
		// The expected number is at most 200; 5 standard deviations of this binomial are 69.
		if missed > 269 {
			t.Errorf("n = %d: %d of %d intervals miss the median, expected at most 5 %%", n, missed, samples)
		}
	}
	if m := medianOf([]float64{3, 1, 2, 5, 4, 6}); m.Low != 1 || m.High != 6 || m.Median != 3.5 || !m.isWithin(0.8, 6) ||
		m.isWithin(0.5, 6) {
		t.Errorf("six values: %+v", m)
	}
	if m := medianOf([]float64{1, 1, 1}); m.isWithin(0.1, 3) {
		t.Error("three values are enough")
	}
	if m := medianOf(nil); !math.IsNaN(m.Median) {
		t.Errorf("no values: %+v", m)
	}
}
