package instrument

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/host"
	"github.com/gramengine/gram/internal/musttest"
)

// BenchmarkCompareHere compares runs on this machine: each loop measures a first run, a second one, and a third whose
// passes take 5 % longer, and reports how many of the second differ from the first, and of the third. Runs come one
// after the other, of 24 rounds each. -benchtime 20x takes some minutes on a quiet machine.
func BenchmarkCompareHere(b *testing.B) {
	o := Options{ISA: asm.Best().ISA, Workers: []int{1}, Bound: 2 * time.Minute, Workloads: Workloads,
		Stage: func(string) {}}
	table := musttest.Get(asm.For(o.ISA))(b)
	m := &measuring{result: &Result{Machine: host.Describe(os.DirFS("/"), ""), ISA: o.ISA}, table: table}
	musttest.Do(b, m.prepare(b.Context(), &o))
	measure := func(slower float64) *Result {
		Slower = slower
		defer func() { Slower = 0 }()
		m.result.Rounds, m.others, m.took = 0, make([]float64, len(m.jobs)), make([]float64, len(m.jobs))
		for _, row := range m.result.Rows {
			row.Seconds, row.Processor, row.MHz, row.Shares = nil, nil, nil, nil
		}
		for range leastRounds {
			for i := range m.jobs {
				musttest.Do(b, m.pass(b.Context(), i))
			}
		}
		r := *m.result
		r.Rows = slices.Clone(r.Rows)
		for i, row := range r.Rows {
			own := *row
			r.Rows[i] = &own
		}
		return &r
	}
	same, found, busy := 0, 0, 0.0
	for b.Loop() {
		first, second, slowed := measure(0), measure(0), measure(0.05)
		for n, r := range map[*int]*Result{&same: second, &found: slowed} {
			c := musttest.Get(Compare(first, r))(b)
			if c.Differs {
				*n++
			}
			b.Logf("ratio %.3f (%.3f to %.3f), differs: %v; others took %.1f cores", c.Mean.Ratio, c.Mean.Low, c.Mean.High,
				c.Differs, r.Rows[0].Others)
			busy += r.Rows[0].Others / 2
		}
	}
	b.ReportMetric(float64(same)/float64(b.N), "differ/equal")
	b.ReportMetric(float64(found)/float64(b.N), "differ/slowed")
	b.ReportMetric(busy/float64(b.N), "other-cores")
}
