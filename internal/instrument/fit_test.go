package instrument

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/asm"
)

// Costs that made the times come out of them again, those of 0 included, and what no equation shows keeps its ratio.
func TestSolveCosts(t *testing.T) {
	table := asm.Best().Cost
	want := asm.Cost{HeadValue: 0.7, HeadFar: 0, HeadDocument: 3, TailMatch: 0.9, TailList: 11}
	want.L3Byte = table.L3Byte * want.HeadValue / table.HeadValue
	r := rand.New(rand.NewPCG(1, 1))
	var equations []equation
	for range 12 {
		head := asm.Cost{HeadValue: 1e6 * r.Float64(), HeadFar: 1e5 * r.Float64(), HeadDocument: 1e5 * r.Float64()}
		tail := asm.Cost{TailMatch: 1e6 * r.Float64(), TailList: 1e5 * r.Float64()}
		for _, c := range []asm.Cost{head, tail} {
			e := equation{ns: want.Of(c)}
			for p, n := range parts(&c) {
				e.counts[p] = *n
			}
			equations = append(equations, e)
		}
	}
	equations = append(equations, equation{}) // a head of no terms takes no time
	got := solveCosts(equations, table)
	wanted := parts(&want)
	for p, v := range parts(&got) {
		if !(math.Abs(*v-*wanted[p]) <= 1e-6*(1+*wanted[p])) {
			t.Errorf("cost %d is %v, expected %v", p, *v, *wanted[p])
		}
	}
	f := &Fitted{Table: table, Cost: want, Heads: []FittedRow{{Measured: want.Of(asm.Cost{HeadValue: 1e9}) / 1e9}}}
	if f.judge([]asm.Cost{{HeadValue: 1e9}}); !(f.Off < 1e-12) || !(f.Was < 1e-12) {
		t.Errorf("off by %v and %v, expected 0: one part has no ratio", f.Off, f.Was)
	}
}

// A fit on this machine gives costs above 0 for what takes most of the time, from heads of several sizes.
func TestFit(t *testing.T) {
	own := fitCorpora
	t.Cleanup(func() { fitCorpora = own })
	fitCorpora = []string{"docs=400,terms=3000,length=60,seed=1"}
	f, err := Fit(t.Context(), asm.Best().ISA, func(string) {})
	if err != nil || len(f.Heads) != fitHeads || !(f.Cost.HeadValue > 0) || !(f.Cost.TailMatch+f.Cost.TailList > 0) {
		t.Errorf("%+v, %v", f, err)
	}
}
