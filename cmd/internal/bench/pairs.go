package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/report"
)

// pairsReport is the output of grambench bench for pairs of documents.
type pairsReport struct {
	header
	Memory []memoryRow `json:"memory"`
	Merge  *pairsRow   `json:"merge"` // baseline, on documents with the first kernel's embedding
	Rows   []*pairsRow `json:"rows"`

	kernels int
}

// memoryRow is the memory bandwidth for a number of workers.
type memoryRow struct {
	Workers int   `json:"workers"`
	Buffer  int64 `json:"buffer_bytes"`
	instrument.Bandwidth

	rounds []instrument.Bandwidth
}

// pairsRow is a measurement for an instruction set, kernel and worker count, or of the baseline.
type pairsRow struct {
	ISA       string `json:"isa"`
	Kernel    string `json:"kernel"`
	Documents int    `json:"documents"`
	Workers   int    `json:"workers"`
	Pairs     int64  `json:"pairs"`
	pairsRound
	PairsPerSLeast float64 `json:"pairs_per_s_least"`
	PairsPerSMost  float64 `json:"pairs_per_s_most"`

	HeadTerms int `json:"head_terms"`
	Panel     int `json:"panel_documents"`
	instrument.Work
	HeadShare   float64 `json:"head_peak_share"` // fraction of the peak rate
	UsefulShare float64 `json:"head_useful_peak_share"`
	ReadShare   float64 `json:"read_bandwidth_share"`
	CopyShare   float64 `json:"copy_bandwidth_share"`
	PeakBytes   int64   `json:"peak_bytes"` // peak memory of the process
	Recomputed  int64   `json:"recomputed_pairs"`
	Found       int64   `json:"found,omitempty"`   // number of values below the limit of a neighbour list
	Entered     int64   `json:"entered,omitempty"` // number of insertions into neighbour lists

	run    func(ctx context.Context) error
	engine *engine.Engine // engine; nil for the baseline
	table  *asm.Kernels   // instruction set; nil for the baseline and the GPU
	useful int64          // number of multiply-adds of the head for terms in both documents
	values int64          // number of stored values
	mapped bool           // true if a kernel function is applied to c

	first, merge *pairsRow // rows to compare with: first number of workers, and baseline
	memory       *memoryRow
	rounds       []pairsRound
}

// pairsRound is one round of a row, or the medians of all rounds. Rates of stages are totals over
// all workers. Shares are fractions of the workers' total time.
type pairsRound struct {
	Seconds       float64 `json:"seconds"`
	PairsPerS     float64 `json:"pairs_per_s"`
	RatioToMerge  float64 `json:"ratio_to_merge"`
	SpeedUp       float64 `json:"speed_up"`        // speed relative to the first number of workers
	PeakPerS      float64 `json:"peak_madd_per_s"` // peak over all workers; for medians, the maximum over the rounds
	HeadPerS      float64 `json:"head_madd_per_s"`
	MaddsPerS     float64 `json:"madd_per_s"` // multiply-adds of head and tail, per second of the total time
	BytesPerS     float64 `json:"moved_bytes_per_s"`
	MapValuesPerS float64 `json:"map_values_per_s"`

	Load  float64 `json:"load_share"`
	Tail  float64 `json:"tail_share"`
	Head  float64 `json:"head_share"`
	Close float64 `json:"close_share"`
	Map   float64 `json:"map_share"`
	Store float64 `json:"store_share"`
	Idle  float64 `json:"idle_share"` // fraction of time outside the stages
}

// all returns the baseline and the rows in the order of measurement.
func (r *pairsReport) all() []*pairsRow { return append([]*pairsRow{r.Merge}, r.Rows...) }

// measurePairs measures pairs per second, for bench without -explain.
func (b *bench) measurePairs(ctx context.Context, head header) (report.Report, error) {
	r := &pairsReport{header: head, kernels: len(b.specs)}
	for _, w := range b.workers {
		r.Memory = append(r.Memory, memoryRow{Workers: w, Buffer: 4 * int64(instrument.MemoryFloats())})
	}
	m, err := b.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	all := r.all()
	err = b.rounds(len(all), func(i int) string { return all[i].ISA + " " + all[i].Kernel }, func(i int) error {
		for k := range r.Memory {
			if row := &r.Memory[k]; i == 0 {
				row.rounds = append(row.rounds, m.Bandwidth(row.Workers))
			}
		}
		return all[i].measure(ctx, m)
	})
	if err != nil {
		return nil, err
	}
	for i := range r.Memory {
		r.Memory[i].Bandwidth = instrument.Medians(r.Memory[i].rounds)
	}
	for _, row := range all {
		row.summarise()
	}
	return r, nil
}

// prepare creates the rows and their engines.
func (b *bench) prepare(ctx context.Context, r *pairsReport) (*instrument.Probe, error) {
	n := b.corpus.Documents.Rows()
	// The memory bandwidth is measured in the memory of the matrix if the matrix is large enough.
	what, floats := "measuring memory bandwidth", instrument.MemoryFloats()
	if slices.ContainsFunc(b.specs, func(s spec) bool { return s.pass == nil }) {
		what, floats = "a Gram matrix of "+report.Documents(n), max(n*n, floats)
	}
	buffer, err := b.memory(what, floats)
	if err != nil {
		return nil, err
	}
	matrix := &engine.Symmetric{N: n, Data: buffer[:min(n*n, floats)]} // shared by all rows
	for _, s := range b.specs {
		for _, isa := range b.All() {
			for i, workers := range b.workers {
				e, x, err := b.engine(ctx, setting{s.kernel.Embedding(), isa, workers, 0})
				if err != nil {
					return nil, err
				}
				if r.Merge == nil {
					r.Merge = mergeRow(x, b.seed)
				}
				k := kernel.Resolve(s.kernel, len(x.Embedder.Terms))
				row := &pairsRow{
					ISA: string(isa), Kernel: k.String(), Documents: n, Workers: workers,
					Pairs: int64(n) * int64(n-1) / 2, values: int64(n) * int64(n),
					engine: e, merge: r.Merge, memory: &r.Memory[i],
					run: func(ctx context.Context) error { _, err := e.Gram(ctx, k, matrix); return err },
				}
				name, _, _ := strings.Cut(row.Kernel, ":")
				row.mapped = name != "c" && s.pass == nil
				if s.pass != nil {
					row.Kernel, row.values = s.name, 0
					row.run = func(ctx context.Context) error { return s.pass(ctx, e, k) }
				}
				if isa != backend.CUDA {
					if row.table, err = asm.For(isa); err != nil {
						return nil, err
					}
				}
				chosen := e.Info().Head
				row.HeadTerms = chosen.Terms
				row.useful, _ = instrument.Useful(x.DocumentFrequency(), row.HeadTerms)
				r.Rows = append(r.Rows, row)
				row.first = r.Rows[len(r.Rows)-1-i]
			}
		}
	}
	return &instrument.Probe{Best: asm.Best(), Buffer: buffer[:instrument.MemoryFloats()]}, nil
}

func (row *pairsRow) measure(ctx context.Context, m *instrument.Probe) error {
	var s pairsRound
	if row.table != nil {
		s.PeakPerS = m.Peak(row.table, row.Workers)
	}
	seconds, did, err := timed(ctx, row.engine, row.run)
	if err != nil {
		return err
	}
	row.PeakBytes = max(row.PeakBytes, backend.PeakBytes())
	s.Seconds, s.PairsPerS = seconds, float64(row.Pairs)/seconds
	round := len(row.rounds)
	row.rounds = append(row.rounds, s)
	to := &row.rounds[round]
	to.RatioToMerge = s.PairsPerS / row.merge.rounds[round].PairsPerS
	if row.engine == nil {
		return nil
	}
	to.SpeedUp = s.PairsPerS / row.first.rounds[round].PairsPerS
	if row.table == nil {
		return nil // stages are measured only on the CPU
	}
	row.Panel, row.Recomputed = row.table.Panel, did.Recomputed
	row.Found, row.Entered = did.Found, did.Entered
	row.Work = instrument.NewWork(did, row.Panel, row.useful, row.values) // the same in every round
	workers := float64(row.Workers)
	to.HeadPerS = workers * report.Ratio(float64(row.HeadMadds), did.Head.Seconds())
	to.MaddsPerS, to.BytesPerS = float64(row.Madds())/seconds, float64(row.Bytes)/seconds
	if row.mapped {
		to.MapValuesPerS = workers * report.Ratio(float64(row.Pairs), did.Map.Seconds())
	}
	to.Idle = 1
	for _, stage := range []struct {
		share *float64
		took  time.Duration
	}{
		{&to.Load, did.Load}, {&to.Tail, did.Tail}, {&to.Head, did.Head},
		{&to.Close, did.Close}, {&to.Map, did.Map}, {&to.Store, did.Store},
	} {
		*stage.share = stage.took.Seconds() / (workers * seconds)
		to.Idle -= *stage.share
	}
	return nil
}

// perSecond is the title of a table and of the chart of its values.
const perSecond = "Pairs per second"

// summarise sets the medians and shares.
func (row *pairsRow) summarise() {
	least, most := instrument.Ends(row.rounds)
	row.pairsRound, row.PairsPerSLeast, row.PairsPerSMost = instrument.Medians(row.rounds), least.PairsPerS, most.PairsPerS
	if row.table == nil {
		return
	}
	// Use the maximum over the rounds, because other programs can only lower a measured peak.
	row.PeakPerS = most.PeakPerS
	row.HeadShare = report.Ratio(row.HeadPerS, row.PeakPerS)
	row.UsefulShare = row.HeadShare * report.Ratio(float64(row.HeadUseful), float64(row.HeadMadds))
	row.ReadShare = report.Ratio(row.BytesPerS, row.memory.Read)
	row.CopyShare = report.Ratio(row.BytesPerS, row.memory.Copy)
}

func (r *pairsReport) Describe(d *report.Document) {
	r.header.Describe(d)
	table := func(name, text string, rows []*pairsRow, cells func(row *pairsRow) []string, titles ...string) {
		t := report.NewTable(append([]string{"isa", "kernel", ">workers"}, titles...)...)
		for _, row := range rows {
			own := []string{row.ISA, report.Shorten(row.Kernel, 34), report.Count(row.Workers)}
			t.Add(append(own, cells(row)...)...)
		}
		d.Table(name, text, t)
	}
	table(perSecond, "", r.all(), func(row *pairsRow) []string {
		cells := []string{
			report.Rate(row.PairsPerS), report.Rate(row.PairsPerSLeast), report.Rate(row.PairsPerSMost),
			fmt.Sprintf("%.1f", row.RatioToMerge),
		}
		if row.engine != nil {
			cells = append(cells, fmt.Sprintf("%.2f", row.SpeedUp), report.Seconds(row.Seconds),
				report.Bytes(row.PeakBytes), backend.Recomputed(row.ISA, row.Recomputed))
		}
		return cells
	}, ">pairs/s", ">min", ">max", ">x merge", ">speed-up", ">seconds", ">peak memory", ">exact form")

	// The GPU's utilisation is measured by cuda/check.sh.
	onProcessor := slices.DeleteFunc(slices.Clone(r.Rows), func(row *pairsRow) bool { return row.table == nil })
	const against = "Hardware utilisation: multiply-adds/s of the head stage, and memory traffic"
	table("Hardware utilisation", against, onProcessor, func(row *pairsRow) []string {
		return []string{
			report.Count(row.HeadTerms), report.Count(row.Panel), report.Rate(row.PeakPerS), report.Rate(row.HeadPerS),
			report.Percent(row.HeadShare), report.Percent(row.UsefulShare), report.Rate(float64(row.Bytes)),
			report.Rate(row.BytesPerS), report.Percent(row.ReadShare), report.Percent(row.CopyShare),
		}
	}, ">head terms", ">panel", ">peak", ">head", ">of peak", ">useful", ">bytes", ">bytes/s", ">of read", ">of copy")

	t := report.NewTable(">workers", ">read", ">copy", ">read L2", ">read L1")
	for _, m := range r.Memory {
		t.Add(report.Count(m.Workers), report.Rate(m.Read), report.Rate(m.Copy), report.Rate(m.L2), report.Rate(m.L1))
	}
	d.Table("Bandwidth", fmt.Sprintf("Memory bandwidth in bytes/s, measured on a buffer of %s and on half of each cache",
		report.Bytes(r.Memory[0].Buffer)), t)

	table("Where the time goes", "Where the time goes", onProcessor, func(row *pairsRow) (cells []string) {
		for _, share := range []float64{row.Load, row.Tail, row.Head, row.Close, row.Map, row.Store, row.Idle} {
			cells = append(cells, report.Percent(share))
		}
		if row.MapValuesPerS > 0 {
			cells = append(cells, report.Rate(row.MapValuesPerS))
		}
		return cells
	}, ">load", ">tail", ">head", ">close", ">map", ">store", ">idle", ">map values/s")
	d.Chart(perSecond, r.chart(), "as in the table")
}

// chart plots pairs/s by kernel and instruction set.
func (r *pairsReport) chart() *chart.Chart {
	n := len(r.Rows) / r.kernels // rows per kernel
	var kernels, sets []string
	for i, row := range r.Rows {
		if i%n == 0 {
			kernels = append(kernels, report.Shorten(row.Kernel, 20))
		}
		if i < n {
			sets = append(sets, row.ISA)
		}
		if i < n && len(r.Memory) > 1 {
			sets[i] += ", " + report.Counted(row.Workers, "worker", "workers")
		}
	}
	c := chart.New("By kernel and instruction set", "", "million pairs/s")
	c.Bars(kernels, sets, func(k, s int) float64 { return r.Rows[k*n+s].PairsPerS / 1e6 })
	return c
}
