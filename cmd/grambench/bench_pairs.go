package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// mergeISA is what stands in the place of an instruction set in the row of the baseline.
const mergeISA = "merge"

// pairsReport is the report of the command bench.
type pairsReport struct {
	benchHead
	Memory []memoryRow `json:"memory"`
	Merge  *benchRow   `json:"merge"`                  // that of the first kernel's pairing
	Merges []*benchRow `json:"other_merges,omitempty"` // those of other pairings
	Rows   []benchRow  `json:"rows"`
	Plot   string      `json:"plot,omitempty"`
}

// memoryRow is what some workers read and copy at the same time, bytes read and bytes written both counted.
type memoryRow struct {
	Workers    int     `json:"workers"`
	Buffer     int64   `json:"buffer_bytes"`
	ReadPerS   float64 `json:"read_bytes_per_s"`
	CopyPerS   float64 `json:"copy_bytes_per_s"`
	L2ReadPerS float64 `json:"l2_read_bytes_per_s"`
	L1ReadPerS float64 `json:"l1_read_bytes_per_s"`

	rounds []bandwidth
}

// stageShares are parts of workers times seconds.
type stageShares struct {
	Load  float64 `json:"load_share"`
	Tail  float64 `json:"tail_share"`
	Head  float64 `json:"head_share"`
	Close float64 `json:"close_share"`
	Map   float64 `json:"map_share"`
	Store float64 `json:"store_share"`
	Idle  float64 `json:"idle_share"` // what is left
}

// benchRow is one instruction set, kernel and number of workers. Rates count pairs i < j; medians over the rounds unless said.
type benchRow struct {
	ISA            string  `json:"isa"`
	Kernel         string  `json:"kernel"`
	Documents      int     `json:"documents"`
	Workers        int     `json:"workers"`
	Pairs          int64   `json:"pairs"`
	Seconds        float64 `json:"seconds"`
	PairsPerS      float64 `json:"pairs_per_s"`
	PairsPerSLeast float64 `json:"pairs_per_s_least"`
	PairsPerSMost  float64 `json:"pairs_per_s_most"`
	RatioToMerge   float64 `json:"ratio_to_merge"`
	SpeedUp        float64 `json:"speed_up"` // over the first number of workers

	HeadTerms     int     `json:"head_terms"`
	Panel         int     `json:"panel_documents"`
	HeadMadds     int64   `json:"head_madds"`
	HeadUseful    int64   `json:"head_useful_madds"`
	TailMadds     int64   `json:"tail_madds"`
	PeakPerS      float64 `json:"peak_madd_per_s"` // of all workers
	HeadPerS      float64 `json:"head_madd_per_s"` // of all workers, while they compute the head
	HeadShare     float64 `json:"head_peak_share"` // of the peak
	UsefulShare   float64 `json:"head_useful_peak_share"`
	MaddsPerS     float64 `json:"madd_per_s"` // head and tail, over the whole time
	Bytes         int64   `json:"moved_bytes"`
	BytesPerS     float64 `json:"moved_bytes_per_s"`
	ReadShare     float64 `json:"read_bandwidth_share"`
	CopyShare     float64 `json:"copy_bandwidth_share"`
	MapValuesPerS float64 `json:"map_values_per_s"` // of all workers, while they compute the map

	stageShares
	PeakBytes  int64 `json:"peak_bytes"` // of the whole process while it ran
	Recomputed int64 `json:"recomputed_pairs"`

	run    func(ctx context.Context) (int64, error)
	engine *engine.Engine // nil for the baseline
	table  *asm.Kernels   // nil for the GPU
	head   int64          // useful multiply-adds in the head
	values int64          // of the matrix that is stored
	mapped bool           // by a map that computes something

	diffusion bool // that of the diffusion kernel
	first     *benchRow
	merge     *benchRow // that of the same pairing
	memory    *memoryRow
	rounds    []pairsRound
}

// pairsRound is what one round of one row gave.
type pairsRound struct {
	seconds, rate, ratio, peak float64
	stats                      engine.Stats
}

// merges returns all baselines.
func (r *pairsReport) merges() []*benchRow { return append([]*benchRow{r.Merge}, r.Merges...) }

// measurePairs is bench without -maps and -explain.
func (b *bench) measurePairs(ctx context.Context, head benchHead, specs []benchSpec) (report, error) {
	r := &pairsReport{benchHead: head, Plot: b.plot}
	for _, w := range b.workers {
		r.Memory = append(r.Memory, memoryRow{Workers: w, Buffer: 4 * int64(memoryFloats())})
	}
	machine, err := b.prepareRows(ctx, r, specs)
	if err != nil {
		return nil, err
	}
	for round := range b.count {
		for i := range r.Memory {
			r.Memory[i].rounds = append(r.Memory[i].rounds, machine.bandwidth(r.Memory[i].Workers))
		}
		b.progress.stage(fmt.Sprintf("round %d of %d, merge", round+1, b.count))
		for _, merge := range r.merges() {
			if err := merge.measure(ctx, machine, 0); err != nil {
				return nil, err
			}
		}
		for i := range r.Rows {
			row := &r.Rows[i]
			b.progress.stage(fmt.Sprintf("round %d of %d, %s %s", round+1, b.count, row.ISA, row.Kernel))
			if err := row.measure(ctx, machine, row.merge.rounds[round].rate); err != nil {
				return nil, err
			}
		}
	}
	for i := range r.Memory {
		r.Memory[i].summarise()
	}
	for _, merge := range r.merges() {
		merge.summarise()
	}
	for i := range r.Rows {
		r.Rows[i].summarise()
	}
	if b.plot != "" {
		if err := writeRoofline(b.plot, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// prepareRows makes the rows of the report, each with what it runs.
func (b *bench) prepareRows(ctx context.Context, r *pairsReport, specs []benchSpec) (*machine, error) {
	n := b.corpus.Documents.Rows()
	var matrix *engine.Symmetric // of all rows
	for _, s := range specs {
		if !s.tiles && matrix == nil {
			matrix = &engine.Symmetric{N: n}
			if err := b.enough("a Gram matrix of "+counted(n, "document", "documents"), 4*int64(n)*int64(n)); err != nil {
				return nil, err
			}
		}
	}
	type key struct {
		embedding string
		isa       asm.ISA
		workers   int
	}
	engines := map[key]*engine.Engine{}
	merges := map[sparse.Pairing]*benchRow{}
	for _, s := range specs {
		x, err := b.embed(ctx, s.kernel.Embedding())
		if err != nil {
			return nil, err
		}
		merge := merges[x.Embedder.Pairing]
		if merge == nil {
			merge = &benchRow{ISA: mergeISA, Kernel: mergeName(x), Documents: n, Workers: 1, run: mergeBaseline(x, b.seed)}
			if merges[x.Embedder.Pairing] = merge; r.Merge == nil {
				r.Merge = merge
			} else {
				r.Merges = append(r.Merges, merge)
			}
		}
		k := engine.Resolve(s.kernel, len(x.Embedder.Terms))
		for _, isa := range b.backends() {
			for _, workers := range b.workers {
				at := key{x.Embedder.Embedding.String(), isa, workers}
				e := engines[at]
				if e == nil {
					if e, err = b.newEngine(x, string(isa), workers, 0); err != nil {
						return nil, err
					}
					engines[at] = e
				}
				row := benchRow{ISA: string(isa), Kernel: k.String(), Documents: n, Workers: workers, engine: e, merge: merge}
				if isa != cudaBackend {
					if row.table, err = asm.For(isa); err != nil {
						return nil, err
					}
				}
				row.head, _ = useful(x.DocumentFrequency(), e.HeadTerms())
				row.run = func(ctx context.Context) (int64, error) {
					return int64(n) * int64(n-1) / 2, e.GramTo(ctx, k, matrix)
				}
				if s.tiles {
					row.Kernel = s.name
					row.run = func(ctx context.Context) (int64, error) {
						return int64(n) * int64(n-1) / 2, e.Tiles(ctx, func(*engine.Tile) error { return nil })
					}
				} else {
					row.values = int64(n) * int64(n)
					name, _, _ := strings.Cut(row.Kernel, ":")
					row.mapped, row.diffusion = name != "c", name == "diffusion"
				}
				r.Rows = append(r.Rows, row)
			}
		}
	}
	for i := range r.Rows {
		at := i % len(b.workers)
		r.Rows[i].memory, r.Rows[i].first = &r.Memory[at], &r.Rows[i-at]
	}
	// The memory that stands for the machine's is that of the matrix, where this is large enough.
	if matrix == nil {
		return newMachine(nil), b.enough("measuring the bandwidth of memory", 4*int64(memoryFloats()))
	}
	if err := b.enough("a Gram matrix of "+counted(n, "document", "documents"), 4*int64(max(n*n, memoryFloats()))); err != nil {
		return nil, err
	}
	floats := make([]float32, max(n*n, memoryFloats()))
	touch(floats)
	matrix.Data = floats[:n*n]
	return newMachine(floats), nil
}

// measure runs the row once; merge is the rate of the baseline in this round.
func (row *benchRow) measure(ctx context.Context, m *machine, merge float64) error {
	var s pairsRound
	if row.engine != nil {
		runtime.GC() // what others left is no part of this one's memory or time
		if row.table != nil {
			s.peak = m.peak(row.table, row.Workers)
		}
		s.stats = row.engine.Stats()
	}
	resetPeak()
	begin := time.Now()
	pairs, err := row.run(ctx)
	if err != nil {
		return err
	}
	s.seconds = max(time.Since(begin).Seconds(), 1e-9)
	s.rate, s.ratio = float64(pairs)/s.seconds, 1
	if row.engine != nil {
		s.stats = row.engine.Stats().Sub(s.stats)
		s.ratio = s.rate / merge
	}
	row.Pairs = pairs
	row.PeakBytes = max(row.PeakBytes, peakBytes())
	row.rounds = append(row.rounds, s)
	return nil
}

// medianOf is the median over the rounds.
func medianOf[T any](rounds []T, f func(T) float64) float64 {
	values := make([]float64, len(rounds))
	for i, s := range rounds {
		values[i] = f(s)
	}
	return median(values)
}

func (m *memoryRow) summarise() {
	m.ReadPerS = medianOf(m.rounds, func(b bandwidth) float64 { return b.read })
	m.CopyPerS = medianOf(m.rounds, func(b bandwidth) float64 { return b.copy })
	m.L2ReadPerS = medianOf(m.rounds, func(b bandwidth) float64 { return b.l2 })
	m.L1ReadPerS = medianOf(m.rounds, func(b bandwidth) float64 { return b.l1 })
}

// summarise fills in the medians.
func (row *benchRow) summarise() {
	of := func(f func(s pairsRound) float64) float64 { return medianOf(row.rounds, f) }
	rates := make([]float64, len(row.rounds))
	for i, s := range row.rounds {
		rates[i] = s.rate
	}
	row.PairsPerS, row.PairsPerSLeast, row.PairsPerSMost = median(rates), slices.Min(rates), slices.Max(rates)
	row.Seconds = of(func(s pairsRound) float64 { return s.seconds })
	row.RatioToMerge = of(func(s pairsRound) float64 { return s.ratio })
	if row.engine == nil {
		return
	}
	speedUps := make([]float64, len(rates))
	for i, rate := range rates {
		speedUps[i] = rate / row.first.rounds[i].rate
	}
	row.SpeedUp = median(speedUps)
	if row.table == nil {
		return // the stages are the processor's
	}

	stats := row.rounds[0].stats // counts are the same in every round
	w := newWork(stats, row.table.Panel, row.head, row.values)
	row.HeadTerms, row.Panel, row.Recomputed = row.engine.HeadTerms(), row.table.Panel, stats.Recomputed
	row.HeadMadds, row.HeadUseful, row.TailMadds, row.Bytes = w.headMadds, w.headUseful, w.tailMadds, w.bytes
	workers := float64(row.Workers)
	// Times of stages are sums over the workers.
	head := func(s pairsRound) float64 { return workers * over(float64(w.headMadds), s.stats.Head.Seconds()) }
	// A peak is what can be reached, so the greatest of all rounds counts: other work on the machine makes one of them too low, never too high.
	for _, s := range row.rounds {
		row.PeakPerS = max(row.PeakPerS, s.peak)
	}
	row.HeadPerS = of(head)
	row.HeadShare = over(row.HeadPerS, row.PeakPerS)
	row.UsefulShare = row.HeadShare * over(float64(w.headUseful), float64(w.headMadds))
	row.MaddsPerS = of(func(s pairsRound) float64 { return float64(w.madds()) / s.seconds })
	row.BytesPerS = of(func(s pairsRound) float64 { return float64(w.bytes) / s.seconds })
	row.MapValuesPerS = of(func(s pairsRound) float64 {
		if !row.mapped {
			return 0
		}
		return workers * over(float64(row.Pairs), s.stats.Map.Seconds())
	})
	row.ReadShare = over(row.BytesPerS, row.memory.ReadPerS)
	row.CopyShare = over(row.BytesPerS, row.memory.CopyPerS)

	share := func(stage func(s *engine.Stats) time.Duration) float64 {
		return of(func(s pairsRound) float64 { return stage(&s.stats).Seconds() / (workers * s.seconds) })
	}
	row.stageShares = stageShares{
		Load: share(func(s *engine.Stats) time.Duration { return s.Load }), Tail: share(func(s *engine.Stats) time.Duration { return s.Tail }),
		Head: share(func(s *engine.Stats) time.Duration { return s.Head }), Close: share(func(s *engine.Stats) time.Duration { return s.Close }),
		Map: share(func(s *engine.Stats) time.Duration { return s.Map }), Store: share(func(s *engine.Stats) time.Duration { return s.Store }),
		Idle: share(func(s *engine.Stats) time.Duration {
			return -s.Load - s.Tail - s.Head - s.Close - s.Map - s.Store
		}) + 1,
	}
}
