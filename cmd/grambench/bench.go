package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

var benchCommand = command{
	name:    "bench",
	summary: "pairs/s and bytes, by instruction set and kernel, against a merge of sorted lists",
	help: `
Measures how many pairs a second the engine computes when it makes a whole Gram matrix, beside the usual way, which walks the sorted lists of two
documents and adds up the products of matching terms (as LIBSVM's Kernel::dot does), on one core. Every round runs the merge and then every
instruction set and kernel; figures are medians over the rounds, and each ratio is one of two figures of the same round, so that a machine that
changes its speed changes neither much.

Examples:
  grambench bench
  grambench bench -in synthetic:docs=10000,terms=40000 -kernel diffusion:t=0.5 -workers 2
  grambench bench -isa generic -docs 2000 -count 9 -json
`,
	setup: func(f *flags) func(context.Context, *env) error {
		f.sourceFlags()
		f.kernelFlags("c and diffusion:t=0.5")
		f.computeFlags(1)
		f.seedFlag("the choice of documents and pairs")
		count := f.set.Int("count", 5, "take the median of `N` rounds")
		docs := f.set.Int("docs", 0, "take `N` of the documents, chosen at random (default: all)")
		return func(ctx context.Context, e *env) error { return f.bench(ctx, e, *count, *docs) }
	},
}

// mergeISA is what stands in the place of an instruction set in the row of the baseline.
const mergeISA = "merge"

// benchReport is the report of the command bench.
type benchReport struct {
	Corpus  corpusLine `json:"corpus"`
	CPU     string     `json:"cpu"`
	Go      string     `json:"go"`
	Version string     `json:"version"`
	Date    string     `json:"date"`
	Rounds  int        `json:"rounds"`
	Merge   benchRow   `json:"merge"`
	Rows    []benchRow `json:"rows"`
}

// benchRow is one instruction set and kernel. Rates count pairs i < j.
type benchRow struct {
	ISA            string  `json:"isa"`
	Kernel         string  `json:"kernel"`
	Documents      int     `json:"documents"`
	Workers        int     `json:"workers"`
	Pairs          int64   `json:"pairs"`
	Seconds        float64 `json:"seconds"` // median
	PairsPerS      float64 `json:"pairs_per_s"`
	PairsPerSLeast float64 `json:"pairs_per_s_least"`
	PairsPerSMost  float64 `json:"pairs_per_s_most"`
	RatioToMerge   float64 `json:"ratio_to_merge"`
	PeakBytes      int64   `json:"peak_bytes"` // of the whole process while it ran
	Recomputed     int64   `json:"recomputed_pairs"`

	rates, ratios []float64 // one a round
	run           func(ctx context.Context) (int64, error)
}

func (f *flags) bench(ctx context.Context, e *env, count, docs int) error {
	if count < 1 {
		return usagef("-count %d is below 1", count)
	}
	if docs < 0 {
		return usagef("-docs %d is below 0", docs)
	}
	kernels, err := f.parseKernels("c", "diffusion:t=0.5")
	if err != nil {
		return err
	}
	p := newProgress(e.stderr)
	defer p.clear()
	corpus, err := f.read(ctx, e, p)
	if err != nil {
		return err
	}
	if docs > 0 && docs < corpus.Documents.Rows() {
		chosen := rand.New(rand.NewPCG(f.seed, 0)).Perm(corpus.Documents.Rows())[:docs]
		slices.Sort(chosen)
		corpus = corpus.Select(chosen)
	}
	if corpus.Documents.Rows() < 2 {
		return fmt.Errorf("%s holds %s, expected 2 or more", corpus.Source, counted(corpus.Documents.Rows(), "document", "documents"))
	}
	r := &benchReport{Corpus: newCorpusLine(corpus), CPU: strings.TrimSpace(cpuid.CPU.BrandName), Go: runtime.Version(), Version: version,
		Date: time.Now().Format(time.DateOnly), Rounds: count}
	if err := f.prepareBench(r, corpus, kernels, p); err != nil {
		return err
	}
	all := []*benchRow{&r.Merge}
	for i := range r.Rows {
		all = append(all, &r.Rows[i])
	}
	for round := range count {
		for _, row := range all {
			p.stage(fmt.Sprintf("round %d of %d, %s %s", round+1, count, row.ISA, row.Kernel))
			if err := row.measure(ctx, r.Merge.rates); err != nil {
				return err
			}
		}
	}
	for _, row := range all {
		row.summarise()
	}
	p.clear()
	return writeReport(e.stdout, r, f.json)
}

// prepareBench makes the rows of the report, each with what it runs.
func (f *flags) prepareBench(r *benchReport, corpus *sparse.Corpus, kernels []engine.Kernel, p *progress) error {
	n := corpus.Documents.Rows()
	held := runtimeBytes + corpus.Documents.Bytes()
	embedded := map[sparse.Embedding]*sparse.Embedded{}
	for _, k := range kernels {
		x := embedded[k.Embedding()]
		if x == nil {
			var err error
			if x, err = embed(corpus, k.Embedding()); err != nil {
				return err
			}
			embedded[k.Embedding()] = x
		}
		k = engine.Resolve(k, len(x.Embedder.Terms))
		if r.Merge.run == nil {
			r.Merge = benchRow{ISA: mergeISA, Kernel: "c", Documents: n, Workers: 1, run: mergeBaseline(x, f.seed)}
		}
		for _, isa := range f.isas() {
			eng, err := f.newEngine(x, string(isa), f.workers, p)
			if err != nil {
				return err
			}
			held += eng.Bytes()
			if err := f.fits(fmt.Sprintf("a Gram matrix of %s", counted(n, "document", "documents")), held+eng.GramBytes()); err != nil {
				return fmt.Errorf("%w; -docs takes a part of them", err)
			}
			row := benchRow{ISA: string(isa), Kernel: k.String(), Documents: n, Workers: f.workers}
			if row.Workers == 0 {
				row.Workers = runtime.GOMAXPROCS(0)
			}
			at := len(r.Rows)
			row.run = func(ctx context.Context) (int64, error) {
				before := eng.Stats().Recomputed
				_, err := eng.Gram(ctx, k)
				r.Rows[at].Recomputed = eng.Stats().Recomputed - before
				return int64(n) * int64(n-1) / 2, err
			}
			r.Rows = append(r.Rows, row)
		}
	}
	return nil
}

// measure runs the row once; merge holds the rates of the baseline so far, the last of them of this round.
func (row *benchRow) measure(ctx context.Context, merge []float64) error {
	runtime.GC() // the matrix of the row before is no part of this one's memory or time
	resetPeak()
	begin := time.Now()
	pairs, err := row.run(ctx)
	if err != nil {
		return err
	}
	rate := float64(pairs) / max(time.Since(begin).Seconds(), 1e-9)
	row.Pairs = pairs
	row.PeakBytes = max(row.PeakBytes, peakBytes())
	row.rates = append(row.rates, rate)
	if row.ISA == mergeISA {
		row.ratios = append(row.ratios, 1)
	} else {
		row.ratios = append(row.ratios, rate/merge[len(merge)-1])
	}
	return nil
}

// summarise fills in the medians.
func (row *benchRow) summarise() {
	row.PairsPerS = median(row.rates)
	row.PairsPerSLeast, row.PairsPerSMost = slices.Min(row.rates), slices.Max(row.rates)
	row.Seconds = float64(row.Pairs) / row.PairsPerS
	row.RatioToMerge = median(row.ratios)
}

// median returns the middle of values, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}

func (r *benchReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	fmt.Fprintf(w, "%s, %s, grambench %s, %s; median of %s\n\n", orUnknown(r.CPU), r.Go, r.Version, r.Date, counted(r.Rounds, "round", "rounds"))
	t := newTable("isa", "kernel", ">workers", ">pairs/s", ">least", ">most", ">ratio to merge", ">seconds", ">peak memory", ">exact form")
	for _, row := range append([]benchRow{r.Merge}, r.Rows...) {
		seconds, peak, exact := fmt.Sprintf("%.3f", row.Seconds), formatBytes(row.PeakBytes), formatCount(row.Recomputed)
		if row.ISA == mergeISA {
			seconds, peak, exact = "", "", ""
		}
		t.add(row.ISA, shorten(row.Kernel, 34), formatCount(row.Workers), formatRate(row.PairsPerS), formatRate(row.PairsPerSLeast),
			formatRate(row.PairsPerSMost), fmt.Sprintf("%.1f", row.RatioToMerge), seconds, peak, exact)
	}
	t.write(w)
}
