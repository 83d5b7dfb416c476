package solver

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// classes labels points by the angle of their first two coordinates.
func classes(x [][]float64, k int) []int {
	out := make([]int, len(x))
	for i, p := range x {
		out[i] = min(int((math.Atan2(p[1], p[0])/math.Pi+1)/2*float64(k)), k-1)
	}
	return out
}

func TestPredictorAgreesWithMachines(t *testing.T) {
	const n, k = 400, 4
	m, x := gaussian(t, 2, n, 3, 0.3)
	labels := classes(x, k)
	for i := range n / 4 {
		labels[4*i] = -1 // held out
	}
	for _, scheme := range []Scheme{OneVsOne, OneVsRest} {
		c, err := Train(
			context.Background(), m,
			Training{Labels: labels, Classes: k, Scheme: scheme, Parameters: Parameters{C: 10}}, Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		columns := c.Support()
		rand.New(rand.NewPCG(1, 1)).Shuffle(
			len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] },
		)
		p, err := c.NewPredictor(columns, nil)
		if err != nil {
			t.Fatal(err)
		}
		var rows [][]float32
		var dst [][]float64
		for i := range n {
			row := make([]float32, len(columns))
			for s, doc := range columns {
				row[s] = m.Row(i)[doc]
			}
			rows, dst = append(rows, row), append(dst, make([]float64, len(c.Machines)))
		}
		if err := p.Decide(rows, dst, 3); err != nil {
			t.Fatal(err)
		}
		right, held := 0, 0
		for i := range n {
			for j, machine := range c.Machines {
				row := make([]float32, len(machine.Support))
				var size float64
				for s, doc := range machine.Support {
					row[s] = m.Row(i)[doc]
					size += math.Abs(machine.Coef[s])
				}
				want := machine.Decide(row)
				// two orders of at most n additions of values that sum to size
				if !(math.Abs(dst[i][j]-want) <= 2*n*0x1p-53*(size+math.Abs(machine.Rho))) {
					t.Fatalf("%v: object %d, machine %d: %v, expected %v", scheme, i, j, dst[i][j], want)
				}
			}
			if labels[i] < 0 {
				held++
				if c.Decide(dst[i]) == classes(x[i:i+1], k)[0] {
					right++
				}
			}
		}
		// Chance is a quarter; four sectors in three dimensions are learnt from 300 points to about
		// nine tenths.
		if right < held*3/4 {
			t.Errorf("%v: %d of %d held-out points right", scheme, right, held)
		}
	}
}

func TestVotes(t *testing.T) {
	c := &Classifier{Scheme: OneVsOne, Classes: 3, Machines: []*Machine{{}, {}, {}}}
	for _, x := range []struct {
		decisions []float64
		want      int
	}{
		{[]float64{1, 1, 1}, 0},
		{[]float64{-1, 1, 1}, 1},
		{[]float64{-1, -1, -1}, 2},
		{[]float64{1, -1, 1}, 0}, // a vote each: the first
		{[]float64{0, 1, 1}, 1},  // nothing is a vote for the second, as in LIBSVM
	} {
		if got := c.Decide(x.decisions); got != x.want {
			t.Errorf("votes %v: class %d, expected %d", x.decisions, got, x.want)
		}
	}
	c.Machines[0] = nil
	if got := c.Decide([]float64{0, 1, 1}); got != 0 {
		t.Errorf("without the first machine class 0 and 1 have a vote each; got %d", got)
	}
}
