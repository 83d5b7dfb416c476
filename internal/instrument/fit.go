package instrument

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/report"
)

// Fitted is what [Fit] finds.
type Fitted struct {
	ISA   asm.ISA     `json:"isa"`
	Table asm.Cost    `json:"table_ns"` // of the program
	Cost  asm.Cost    `json:"cost_ns"`  // of this machine
	Off   float64     `json:"off"`      // median relative error of the times that the cost predicts
	Was   float64     `json:"table_off"`
	Heads []FittedRow `json:"rows"`
}

// FittedRow is a head of a corpus, and its times in seconds.
type FittedRow struct {
	Corpus   string  `json:"corpus"`
	Terms    int     `json:"head_terms"`
	Measured float64 `json:"seconds"` // of head and tail
	Fitted   float64 `json:"fitted_seconds"`
	Table    float64 `json:"table_seconds"` // by the program's cost, scaled to the same sum
}

// The corpora that costs are fitted on: usual text, short documents, and few terms.
var fitCorpora = []string{textCorpus, shortCorpus, "docs=4096,terms=2000,length=100,seed=7"}

const (
	fitHeads  = 8 // of a corpus
	fitRounds = 5
)

// equation says what counts of parts take.
type equation struct {
	counts [6]float64
	ns     float64
}

// parts are the fields of a cost.
func parts(c *asm.Cost) [6]*float64 {
	return [6]*float64{&c.HeadValue, &c.HeadFar, &c.HeadDocument, &c.TailMatch, &c.TailList, &c.L3Byte}
}

// Fit measures heads of several sizes on one worker, and fits the costs to the times of head and tail, each weighed by
// its inverse, none below 0: those of least squares of relative errors. What no head shows, as a panel beyond the
// second-level cache, keeps its ratio to the head's values.
func Fit(ctx context.Context, isa asm.ISA, stage func(string)) (*Fitted, error) {
	table, err := asm.For(isa)
	if err != nil {
		return nil, err
	}
	f := &Fitted{ISA: isa, Table: table.Cost}
	var equations []equation
	var counts []asm.Cost
	d := newDocuments(runtime.GOMAXPROCS(0))
	for _, corpus := range fitCorpora {
		own, x, err := d.engine(ctx, corpus, setting{isa, 1})
		if err != nil {
			return nil, err
		}
		heads := own.Heads()
		for k := range fitHeads {
			h := heads[k*(len(heads)-1)/(fitHeads-1)]
			stage(fmt.Sprintf("%s, %s", corpus, report.Counted(h.Terms, "dense term", "dense terms")))
			terms := h.Terms
			if terms == 0 {
				terms = -1 // none; 0 leaves the choice to the engine
			}
			e, err := engine.New(x, engine.Options{ISA: string(isa), Workers: 1, HeadTerms: terms})
			if err != nil {
				return nil, err
			}
			head, tail, err := stagesOf(ctx, e)
			if err != nil {
				return nil, err
			}
			c := h.Counts
			equations = append(equations, equation{[6]float64{c.HeadValue, c.HeadFar, c.HeadDocument, 0, 0, c.L3Byte},
				1e9 * head},
				equation{[6]float64{3: c.TailMatch, 4: c.TailList}, 1e9 * tail})
			counts = append(counts, c)
			f.Heads = append(f.Heads, FittedRow{Corpus: corpus, Terms: h.Terms, Measured: head + tail})
		}
	}
	f.Cost = solveCosts(equations, f.Table)
	f.judge(counts)
	return f, nil
}

// stagesOf are the medians of the seconds of head and tail over some rounds.
func stagesOf(ctx context.Context, e *engine.Engine) (head, tail float64, err error) {
	var heads, tails []float64
	for range fitRounds {
		before := e.Stats()
		if err := e.Tiles(ctx, func(*engine.Tile) error { return nil }); err != nil {
			return 0, 0, err
		}
		did := e.Stats().Sub(before)
		heads, tails = append(heads, did.Head.Seconds()), append(tails, did.Tail.Seconds())
	}
	return report.Median(heads), report.Median(tails), nil
}

// solveCosts finds the costs not below 0 that minimise Σ (Σ counts·cost/ns - 1)², by descent along one at a time, which
// ends at the optimum of a convex problem.
func solveCosts(equations []equation, table asm.Cost) (cost asm.Cost) {
	cost = table
	at := parts(&cost)
	for range 20000 {
		moved := 0.0
		for p := range at {
			var slope, curve float64
			for _, e := range equations {
				if e.ns <= 0 {
					continue // a stage that didn't run
				}
				off, by := -1.0, e.counts[p]/e.ns
				for q := range at {
					off += e.counts[q] / e.ns * *at[q]
				}
				slope, curve = slope+off*by, curve+by*by
			}
			if curve == 0 {
				continue
			}
			next := max(*at[p]-slope/curve, 0)
			moved = max(moved, math.Abs(next-*at[p])/(*at[p]+1e-9))
			*at[p] = next
		}
		if moved < 1e-9 {
			break
		}
	}
	shown := [6]bool{}
	for _, e := range equations {
		for p, n := range e.counts {
			shown[p] = shown[p] || n > 0
		}
	}
	for p, own := range parts(&table) {
		if !shown[p] {
			*at[p] = *own * cost.HeadValue / table.HeadValue
		}
	}
	return cost
}

// judge says how far the costs are off. Those of the program are of another machine: their ratios count alone.
func (f *Fitted) judge(counts []asm.Cost) {
	var scale []float64
	for i, row := range f.Heads {
		scale = append(scale, 1e9*row.Measured/f.Table.Of(counts[i]))
	}
	by := report.Median(scale)
	var off, was []float64
	for i := range f.Heads {
		row := &f.Heads[i]
		row.Fitted, row.Table = f.Cost.Of(counts[i])/1e9, by*f.Table.Of(counts[i])/1e9
		off = append(off, math.Abs(row.Fitted/row.Measured-1))
		was = append(was, math.Abs(row.Table/row.Measured-1))
	}
	f.Off, f.Was = report.Median(off), report.Median(was)
}
