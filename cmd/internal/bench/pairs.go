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

// pairsReport is the report of grambench bench without -explain and -suite.
type pairsReport struct {
	header
	Memory []memoryRow `json:"memory"`
	Merge  *pairsRow   `json:"merge"` // baseline, on documents with the first kernel's embedding
	Rows   []*pairsRow `json:"rows"`

	numKernels int
}

type memoryRow struct {
	Workers     int   `json:"workers"`
	BufferBytes int64 `json:"buffer_bytes"`
	instrument.Bandwidth

	rounds []instrument.Bandwidth
}

// pairsRow is a measurement for an instruction set, kernel and worker count, or of the baseline.
type pairsRow struct {
	ISA          string `json:"isa"`
	Kernel       string `json:"kernel"`
	NumDocuments int    `json:"documents"`
	Workers      int    `json:"workers"`
	NumPairs     int64  `json:"pairs"`
	pairsRound
	MinPairsPerS float64 `json:"pairs_per_s_min"`
	MaxPairsPerS float64 `json:"pairs_per_s_max"`

	HeadTerms int `json:"head_terms"`
	PanelSize int `json:"panel_documents"`
	instrument.OperationCounts
	HeadShare     float64 `json:"head_peak_share"` // rate of the head as a fraction of the peak rate
	UsefulShare   float64 `json:"head_useful_peak_share"`
	ReadShare     float64 `json:"read_bandwidth_share"`
	CopyShare     float64 `json:"copy_bandwidth_share"`
	PeakBytes     int64   `json:"peak_bytes"` // peak memory of the process
	NumRecomputed int64   `json:"recomputed_pairs"`
	NumBelowLimit int64   `json:"found,omitempty"`   // number of values below the limit of a neighbour list
	NumInserted   int64   `json:"entered,omitempty"` // number of insertions into neighbour lists

	run         func(ctx context.Context) error
	engine      *engine.Engine // nil for the baseline
	kernels     *asm.Kernels   // routines of the instruction set; nil for the baseline and the GPU
	usefulMadds int64          // number of multiply-adds of the head for terms in both documents
	numValues   int64          // number of stored values
	mapped      bool           // true if a kernel function is applied to c

	fewestWorkers, merge *pairsRow // reference rows: the row with the first number of workers, and the baseline
	memory               *memoryRow
	rounds               []pairsRound
}

// pairsRound is the result of one round for a row, or the medians of all rounds. Rates of stages
// are totals over all workers. Shares are fractions of the workers' total time.
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
	Idle  float64 `json:"idle_share"` // fraction of the workers' time outside the stages
}

// allRows returns the baseline and the rows in the order of measurement.
func (r *pairsReport) allRows() []*pairsRow { return append([]*pairsRow{r.Merge}, r.Rows...) }

// measurePairs measures pairs per second for each kernel, instruction set and number of workers.
func (b *bench) measurePairs(ctx context.Context, head header) (report.Report, error) {
	r := &pairsReport{header: head, numKernels: len(b.specs)}
	for _, w := range b.workers {
		r.Memory = append(r.Memory, memoryRow{Workers: w, BufferBytes: 4 * int64(instrument.BufferLen())})
	}
	m, err := b.prepare(ctx, r)
	if err != nil {
		return nil, err
	}
	all := r.allRows()
	err = b.runRounds(len(all), func(i int) string { return all[i].ISA + " " + all[i].Kernel }, func(i int) error {
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

func (b *bench) prepare(ctx context.Context, r *pairsReport) (*instrument.Probe, error) {
	n := b.corpus.Documents.Rows()
	// The matrix and the measurement of memory bandwidth share one buffer.
	what, floats := "measuring memory bandwidth", instrument.BufferLen()
	if slices.ContainsFunc(b.specs, func(s spec) bool { return s.pass == nil }) {
		what, floats = "a Gram matrix of "+report.FormatDocuments(n), max(n*n, floats)
	}
	buffer, err := b.allocate(what, floats)
	if err != nil {
		return nil, err
	}
	matrix := &engine.Symmetric{N: n, Data: buffer[:min(n*n, floats)]} // all rows use this buffer in turn
	for _, s := range b.specs {
		for _, isa := range b.Backends() {
			for i, workers := range b.workers {
				e, x, err := b.engine(ctx, engineConfig{s.kernel.Embedding(), isa, workers, 0})
				if err != nil {
					return nil, err
				}
				if r.Merge == nil {
					r.Merge = mergeRow(x, b.seed)
				}
				k := kernel.Resolve(s.kernel, len(x.Embedder.Terms))
				row := &pairsRow{
					ISA: string(isa), Kernel: k.String(), NumDocuments: n, Workers: workers,
					NumPairs: int64(n) * int64(n-1) / 2, numValues: int64(n) * int64(n),
					engine: e, merge: r.Merge, memory: &r.Memory[i],
					run: func(ctx context.Context) error { _, err := e.Gram(ctx, k, matrix); return err },
				}
				name, _, _ := strings.Cut(row.Kernel, ":")
				row.mapped = name != "c" && s.pass == nil
				if s.pass != nil {
					row.Kernel, row.numValues = s.name, 0
					row.run = func(ctx context.Context) error { return s.pass(ctx, e, k) }
				}
				if isa != backend.CUDA {
					if row.kernels, err = asm.KernelsFor(isa); err != nil {
						return nil, err
					}
				}
				chosen := e.Info().Head
				row.HeadTerms = chosen.TermCount
				row.usefulMadds, _ = instrument.CountMatches(x.DocumentFrequency(), row.HeadTerms)
				r.Rows = append(r.Rows, row)
				row.fewestWorkers = r.Rows[len(r.Rows)-1-i]
			}
		}
	}
	return &instrument.Probe{BestKernels: asm.BestKernels(), Buffer: buffer[:instrument.BufferLen()]}, nil
}

func (row *pairsRow) measure(ctx context.Context, m *instrument.Probe) error {
	var s pairsRound
	if row.kernels != nil {
		s.PeakPerS = m.PeakMaddRate(row.kernels, row.Workers)
	}
	seconds, did, err := timeRun(ctx, row.engine, row.run)
	if err != nil {
		return err
	}
	row.PeakBytes = max(row.PeakBytes, backend.PeakBytes())
	s.Seconds, s.PairsPerS = seconds, float64(row.NumPairs)/seconds
	round := len(row.rounds)
	row.rounds = append(row.rounds, s)
	to := &row.rounds[round]
	to.RatioToMerge = s.PairsPerS / row.merge.rounds[round].PairsPerS
	if row.engine == nil {
		return nil
	}
	to.SpeedUp = s.PairsPerS / row.fewestWorkers.rounds[round].PairsPerS
	if row.kernels == nil {
		return nil // stages are measured only on the CPU
	}
	row.PanelSize, row.NumRecomputed = row.kernels.PanelWidth, did.RecomputedPairs
	row.NumBelowLimit, row.NumInserted = did.NeighbourCandidates, did.NeighbourInsertions
	// The operation counts are the same in every round.
	row.OperationCounts = instrument.NewOperationCounts(did, row.PanelSize, row.usefulMadds, row.numValues)
	workers := float64(row.Workers)
	to.HeadPerS = workers * report.Ratio(float64(row.HeadMadds), did.HeadTime.Seconds())
	to.MaddsPerS, to.BytesPerS = float64(row.Madds())/seconds, float64(row.MovedBytes)/seconds
	if row.mapped {
		to.MapValuesPerS = workers * report.Ratio(float64(row.NumPairs), did.MapTime.Seconds())
	}
	to.Idle = 1
	for _, stage := range []struct {
		share *float64
		took  time.Duration
	}{
		{&to.Load, did.LoadTime}, {&to.Tail, did.TailTime}, {&to.Head, did.HeadTime},
		{&to.Close, did.ConvertTime}, {&to.Map, did.MapTime}, {&to.Store, did.StoreTime},
	} {
		*stage.share = stage.took.Seconds() / (workers * seconds)
		to.Idle -= *stage.share
	}
	return nil
}

// pairsPerSecondTitle is the title of a table and of its chart.
const pairsPerSecondTitle = "Pairs per second"

func (row *pairsRow) summarise() {
	least, most := instrument.MinMax(row.rounds)
	row.pairsRound, row.MinPairsPerS, row.MaxPairsPerS = instrument.Medians(row.rounds), least.PairsPerS, most.PairsPerS
	if row.kernels == nil {
		return
	}
	// Use the maximum over the rounds, because other programs can only lower a measured peak.
	row.PeakPerS = most.PeakPerS
	row.HeadShare = report.Ratio(row.HeadPerS, row.PeakPerS)
	row.UsefulShare = row.HeadShare * report.Ratio(float64(row.HeadUsefulMadds), float64(row.HeadMadds))
	row.ReadShare = report.Ratio(row.BytesPerS, row.memory.Read)
	row.CopyShare = report.Ratio(row.BytesPerS, row.memory.Copy)
}

func (r *pairsReport) Describe(d *report.Document) {
	r.header.Describe(d)
	table := func(name, text string, rows []*pairsRow, cells func(row *pairsRow) []string, titles ...string) {
		t := report.NewTable(append([]string{"isa", "kernel", ">workers"}, titles...)...)
		for _, row := range rows {
			own := []string{row.ISA, report.TruncateStart(row.Kernel, 34), report.FormatCount(row.Workers)}
			t.Add(append(own, cells(row)...)...)
		}
		d.AddTable(name, text, t)
	}
	table(pairsPerSecondTitle, "", r.allRows(), func(row *pairsRow) []string {
		cells := []string{
			report.FormatRate(row.PairsPerS), report.FormatRate(row.MinPairsPerS), report.FormatRate(row.MaxPairsPerS),
			fmt.Sprintf("%.1f", row.RatioToMerge),
		}
		if row.engine != nil {
			cells = append(cells, fmt.Sprintf("%.2f", row.SpeedUp), report.FormatSeconds(row.Seconds),
				report.FormatBytes(row.PeakBytes), backend.FormatRecomputed(row.ISA, row.NumRecomputed))
		}
		return cells
	}, ">pairs/s", ">min", ">max", ">x merge", ">speed-up", ">seconds", ">peak memory", ">exact form")

	// The GPU's utilisation is measured by cuda/check.sh.
	onProcessor := slices.DeleteFunc(slices.Clone(r.Rows), func(row *pairsRow) bool { return row.kernels == nil })
	const against = "Hardware utilisation: multiply-adds/s of the head stage, and memory traffic"
	table("Hardware utilisation", against, onProcessor, func(row *pairsRow) []string {
		return []string{
			report.FormatCount(row.HeadTerms), report.FormatCount(row.PanelSize), report.FormatRate(row.PeakPerS),
			report.FormatRate(row.HeadPerS),
			report.FormatPercent(row.HeadShare), report.FormatPercent(row.UsefulShare),
			report.FormatRate(float64(row.MovedBytes)),
			report.FormatRate(row.BytesPerS), report.FormatPercent(row.ReadShare), report.FormatPercent(row.CopyShare),
		}
	}, ">head terms", ">panel", ">peak", ">head", ">of peak", ">useful", ">bytes", ">bytes/s", ">of read", ">of copy")

	t := report.NewTable(">workers", ">read", ">copy", ">read L2", ">read L1")
	for _, m := range r.Memory {
		t.Add(report.FormatCount(m.Workers), report.FormatRate(m.Read), report.FormatRate(m.Copy), report.FormatRate(m.L2),
			report.FormatRate(m.L1))
	}
	d.AddTable("Bandwidth", fmt.Sprintf("Memory bandwidth in bytes/s, measured with a buffer of %s and with half of each "+
		"cache", report.FormatBytes(r.Memory[0].BufferBytes)), t)

	table("Where the time goes", "Where the time goes", onProcessor, func(row *pairsRow) (cells []string) {
		for _, share := range []float64{row.Load, row.Tail, row.Head, row.Close, row.Map, row.Store, row.Idle} {
			cells = append(cells, report.FormatPercent(share))
		}
		if row.MapValuesPerS > 0 {
			cells = append(cells, report.FormatRate(row.MapValuesPerS))
		}
		return cells
	}, ">load", ">tail", ">head", ">close", ">map", ">store", ">idle", ">map values/s")
	d.AddChart(pairsPerSecondTitle, r.chart(), "as in the table")
}

func (r *pairsReport) chart() *chart.Chart {
	n := len(r.Rows) / r.numKernels // rows per kernel
	var kernels, sets []string
	for i, row := range r.Rows {
		if i%n == 0 {
			kernels = append(kernels, report.TruncateStart(row.Kernel, 20))
		}
		if i < n {
			sets = append(sets, row.ISA)
		}
		if i < n && len(r.Memory) > 1 {
			sets[i] += ", " + report.FormatCountOf(row.Workers, "worker", "workers")
		}
	}
	c := chart.New("By kernel and instruction set", "", "million pairs/s")
	c.AddBars(kernels, sets, func(k, s int) float64 { return r.Rows[k*n+s].PairsPerS / 1e6 })
	return c
}
