package solver

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// classes returns labels of points by the angle of their first two coordinates.
func classes(x [][]float64, k int) []int {
	out := make([]int, len(x))
	for i, p := range x {
		out[i] = min(int((math.Atan2(p[1], p[0])/math.Pi+1)/2*float64(k)), k-1)
	}
	return out
}

func decide(p *Predictor, rows [][]float32) [][]float64 {
	s := p.NewAccumulator(len(rows))
	s.AddRows(slices.Concat(rows...), len(rows))
	out := make([][]float64, len(rows))
	for r := range out {
		out[r] = make([]float64, len(p.supportColumns))
		s.Result(r, out[r])
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
		c := musttest.Get(Train(context.Background(), m,
			Training{Labels: labels, Classes: k, Scheme: scheme, Parameters: withC(10)}, Options{}))(t)
		columns := c.Support()
		p := musttest.Get(c.NewPredictor(columns, nil))(t)
		var rows [][]float32
		for i := range n {
			row := make([]float32, len(columns))
			for s, doc := range columns {
				row[s] = m.Row(i)[doc]
			}
			rows = append(rows, row)
		}
		dst := decide(p, rows)
		right, held := 0, 0
		for i := range n {
			for j, machine := range c.Functions {
				// the two sums add at most n values each, in different orders; size is the sum of
				// absolute values
				want, tol := decision(m, machine, i), 2*n*0x1p-53*(sizeOf(machine)+math.Abs(machine.Rho))
				if !(math.Abs(dst[i][j]-want) <= tol) {
					t.Fatalf("%v: object %d, machine %d: %v, expected %v", scheme, i, j, dst[i][j], want)
				}
			}
			if labels[i] < 0 {
				held++
				if c.PredictClass(dst[i]) == classes(x[i:i+1], k)[0] {
					right++
				}
			}
		}
		// The chance level is 1/4. About 9/10 of four sectors in three dimensions can be learnt
		// from 300 points.
		if right < held*3/4 {
			t.Errorf("%v: %d of %d held-out points right", scheme, right, held)
		}
	}
}

func TestVotes(t *testing.T) {
	c := &Classifier{Scheme: OneVsOne, Classes: 3, Functions: []*DecisionFunction{{}, {}, {}}}
	for _, x := range []struct {
		decisions []float64
		want      int
	}{
		{[]float64{1, 1, 1}, 0},
		{[]float64{-1, 1, 1}, 1},
		{[]float64{-1, -1, -1}, 2},
		{[]float64{1, -1, 1}, 0}, // one vote each, and all sums are 0: the first class wins
		{[]float64{1, -2, 1}, 2}, // one vote each, and the sums are -1, 0 and 1
		{[]float64{0.5, -1, 3}, 1},
		{[]float64{0, 1, 1}, 1}, // 0 is a vote for the second class, as in LIBSVM
	} {
		if got := c.PredictClass(x.decisions); got != x.want {
			t.Errorf("votes %v: class %d, expected %d", x.decisions, got, x.want)
		}
	}
	c.Functions[0] = nil
	if got := c.PredictClass([]float64{0, 1, 1}); got != 0 {
		t.Errorf("without the first machine class 0 and 1 have a vote each; got %d", got)
	}
}

// The predicted class doesn't depend on the order in which classes first occur.
func TestVotesOfAnyOrder(t *testing.T) {
	const k = 4
	r := rand.New(rand.NewPCG(2, 2))
	for range 1000 {
		c := &Classifier{Scheme: OneVsOne, Classes: k}
		beats := map[[2]int]float64{}
		var decisions []float64
		for _, p := range ClassPairs(k) {
			f := r.NormFloat64()
			beats[p], beats[[2]int{p[1], p[0]}] = f, -f
			c.Functions, decisions = append(c.Functions, &DecisionFunction{}), append(decisions, f)
		}
		want, order := c.PredictClass(decisions), r.Perm(k)
		for i, p := range ClassPairs(k) {
			decisions[i] = beats[[2]int{order[p[0]], order[p[1]]}]
		}
		if got := order[c.PredictClass(decisions)]; got != want {
			t.Fatalf("class %d in the order %v, expected %d", got, order, want)
		}
	}
}

func TestPredictorOddities(t *testing.T) {
	c := &Classifier{
		Scheme: OneVsRest, Classes: 2,
		Functions: []*DecisionFunction{{Support: []int{1}, Coef: []float64{1}}, {Support: []int{0}, Coef: []float64{-1}}},
	}
	musttest.WantError(c.NewPredictor([]int{1}, nil))(t,
		"a missing column", "document 0 has a coefficient in decision function 1 but no column")
	p := musttest.Get(c.NewPredictor([]int{0, 1}, nil))(t)
	if got := decide(p, [][]float32{{1, 2}})[0]; !slices.Equal(got, []float64{2, -1}) {
		t.Errorf("decisions %v, expected 2 and -1", got)
	}
	s := p.NewAccumulator(4)
	s.Add(0, make([]float32, 4))
	for what, add := range map[string]func(){
		"twice": func() { s.Add(0, make([]float32, 4)) }, "beyond": func() { s.Add(1, make([]float32, 8)) },
	} {
		if panicOf(add) == nil {
			t.Errorf("columns %s: no panic", what)
		}
	}
	if got := c.PredictClass([]float64{math.NaN(), -3}); got != 1 {
		t.Errorf("class %d by decisions NaN and -3, expected 1", got)
	}
	// more folds than documents, and class numbers that are too large for an array
	if got := StratifiedFolds([]int{math.MaxInt, -7, 3}, 9, 1); !slices.Equal(got, []int{1, -1, 0}) {
		t.Errorf("parts %v, expected 1, -1, 0", got)
	}
}

// The sums of one object are computed column by column, and of several objects function by
// function. Both have the same bits for any division of the columns.
func TestSumsOfOne(t *testing.T) {
	const classes, columns, objects = 7, 300, 64
	r := rand.New(rand.NewPCG(3, 4))
	c := &Classifier{Scheme: OneVsOne, Classes: classes, Functions: make([]*DecisionFunction, classes*(classes-1)/2)}
	for i := range c.Functions {
		if i == 4 {
			continue // one class of the pair has no documents
		}
		m := &DecisionFunction{Rho: r.NormFloat64()}
		for s := range columns {
			if r.IntN(3) == i%3 && i != 9 { // function 9 has no support vectors
				m.Support, m.Coef = append(m.Support, s), append(m.Coef, math.Exp(8*r.NormFloat64())*r.NormFloat64())
			}
		}
		c.Functions[i] = m
	}
	p := musttest.Get(c.NewPredictor(run.Range(0, columns), nil))(t)
	rows := make([][]float32, objects)
	for i := range rows {
		for range columns {
			rows[i] = append(rows[i], float32(r.NormFloat64()))
		}
	}
	want, got := decide(p, rows), make([]float64, len(c.Functions))
	one := p.NewAccumulator(1)
	for i, row := range rows {
		one.Reset()
		for first := 0; first < columns; {
			n := min(1+r.IntN(100), columns-first)
			one.Add(first, row[first:first+n])
			first += n
		}
		one.Result(0, got)
		if !slices.Equal(got, want[i]) {
			t.Fatalf("object %d: decisions %v alone, %v among others", i, got, want[i])
		}
	}
	if least := int64(16 * p.coefCount); p.Bytes() < least {
		t.Errorf("%d bytes, expected %d for the entries alone", p.Bytes(), least)
	}
}
