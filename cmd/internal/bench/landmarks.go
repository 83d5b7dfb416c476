package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
)

// landmarksReport is the report of bench -landmarks: what an iteration of conjugate gradients takes,
// and what its parts would take by themselves.
type landmarksReport struct {
	header
	ISA       string  `json:"isa"`
	Kernel    string  `json:"kernel"`
	Workers   int     `json:"workers"`
	Landmarks int     `json:"landmarks"`
	Searches  int     `json:"searches"` // vectors of a product
	TileDocs  int     `json:"tile_documents"`
	Pairs     int64   `json:"pairs"`
	Madds     int64   `json:"multiply_adds"` // in float64
	Peak      float64 `json:"peak_madd_per_s"`
	landmarksRound
	Min landmarksRound `json:"least"`
	Max landmarksRound `json:"most"`

	rounds []landmarksRound
}

// landmarksRound is what a round gives, or the medians of all.
type landmarksRound struct {
	Tiles     float64 `json:"tile_seconds"`         // so many kernel values, as tiles of the symmetric half are computed
	Products  float64 `json:"multiply_add_seconds"` // at the peak
	Iteration float64 `json:"iteration_seconds"`
	Ratio     float64 `json:"ratio"` // to tiles and multiply-adds
}

const (
	mostTileDocs  = 20000 // documents whose symmetric half is computed
	iterations    = 6     // of a round, whose median counts
	firstMeasured = 2     // passes: the first one prepares documents, the second one begins
)

// measureLandmarks trains with squares, without rows that are kept, for a few passes in each round.
func (b *bench) measureLandmarks(ctx context.Context, head header) (report.Report, error) {
	kernels, err := b.Parse(landmark.DefaultKernel)
	if err != nil {
		return nil, err
	}
	k, workers := kernels[0], b.workers[0]
	if !b.f.Given("workers") {
		workers = runtime.GOMAXPROCS(0)
	}
	docs := b.corpus.Documents
	some := run.Numbers(0, min(docs.Rows(), mostTileDocs))
	x, err := k.Embedding().Fit(docs).TransformRows(ctx, docs, some, workers)
	if err != nil {
		return nil, err
	}
	opt := b.Options(b.best(), b.progress)
	opt.Workers = workers
	e, err := engine.New(x, opt)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	table, err := asm.For(b.best())
	if err != nil {
		return nil, err
	}
	s := landmark.Settings{
		Landmarks: b.landmarks, Kernel: k.String(), Tolerance: 1e-15, Iterations: firstMeasured + iterations,
	}
	r := &landmarksReport{
		header: head, ISA: string(b.best()), Kernel: s.Kernel, Workers: workers, TileDocs: len(some),
		Landmarks: min(b.landmarks, docs.Rows()), Searches: len(b.corpus.Classes),
	}
	if r.Searches == 2 {
		r.Searches = 1
	}
	n, m, p := int64(docs.Rows()), int64(r.Landmarks), int64(r.Searches)
	r.Pairs, r.Madds = n*m, 2*n*m*p+2*m*m*p
	mach := &instrument.Probe{Best: table}
	err = b.rounds(1, func(int) string { return "landmarks" }, func(int) error {
		peak := mach.Peak(table, workers) / 2 // of float64
		tiles, _, err := timed(ctx, e, func(ctx context.Context) error {
			return e.Each(ctx, nil, engine.Request{Half: true}, func(t *engine.Tile) error {
				return mapped(kernel.Resolve(k, x.Cols), table, t)
			})
		})
		if err != nil {
			return err
		}
		own := landmarksRound{Products: float64(r.Madds) / peak}
		own.Tiles = tiles * float64(r.Pairs) / (float64(len(some)) * float64(len(some)+1) / 2)
		if own.Iteration, err = b.iteration(ctx, s, workers); err != nil {
			return err
		}
		own.Ratio = own.Iteration / (own.Tiles + own.Products)
		r.rounds, r.Peak = append(r.rounds, own), max(r.Peak, peak)
		return nil
	})
	if err != nil {
		return nil, err
	}
	r.landmarksRound = instrument.Medians(r.rounds)
	r.Min, r.Max = instrument.Ends(r.rounds)
	return r, nil
}

// mapped applies a kernel to a tile of c, with norms of 0: they change values, not times.
func mapped(k kernel.Kernel, table *asm.Kernels, t *engine.Tile) error {
	norms := make([]float32, t.Rows+t.Width)
	c := t.C[:t.Rows*t.Width]
	return kernel.Apply(k, table, c, c, norms[:t.Rows], norms[t.Rows:])
}

// iteration trains, and returns the median of the times between the ends of passes.
func (b *bench) iteration(ctx context.Context, s landmark.Settings, workers int) (seconds float64, err error) {
	docs := b.corpus.Documents
	var ends []time.Time // of passes
	ended := ""          // the last of them
	// Documents may be kept in the form of the processor, but next to no rows.
	kept := min(8*docs.NNZ()+256*int64(docs.Rows()), int64(docs.Rows())*int64(s.Landmarks)/2)
	opt := landmark.Options{
		ISA: string(b.best()), Workers: workers, MemoryBytes: int64(b.Memory),
		KeptBytes: max(kept, 1),
		Progress: func(p engine.Progress) {
			if p.Done < p.Total || !strings.HasPrefix(p.Stage, "pass ") {
				return
			}
			if p.Stage == ended {
				ends = ends[:len(ends)-1] // an end is told more than once
			}
			ends, ended = append(ends, time.Now()), p.Stage
		},
	}
	if _, err := landmark.Train(ctx, b.corpus, s, opt); err != nil {
		return 0, err
	}
	var took []float64
	for i := firstMeasured; i < min(len(ends), s.Iterations); i++ {
		took = append(took, ends[i].Sub(ends[i-1]).Seconds())
	}
	if len(took) == 0 {
		return 0, fmt.Errorf("%s: training ended after %d passes, expected more to measure", b.corpus.Source, len(ends))
	}
	return report.Median(took), nil
}

func (r *landmarksReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.header)
	fmt.Fprintf(w, "%s, %s, %s landmarks, %s, %s: an iteration of conjugate gradients beside its parts\n\n", r.ISA,
		r.Kernel, report.Count(r.Landmarks), report.Counted(r.Searches, "search", "searches"),
		report.Counted(r.Workers, "worker", "workers"))
	t := report.NewTable("part", ">counted", ">seconds", ">least", ">most").Named("Parts")
	for _, row := range []struct {
		part, counted string
		of            func(r landmarksRound) float64
	}{
		{"kernel values, as in tiles of " + report.Documents(r.TileDocs), report.Count(r.Pairs),
			func(r landmarksRound) float64 { return r.Tiles }},
		{"multiply-adds, in registers", report.Count(r.Madds), func(r landmarksRound) float64 { return r.Products }},
		{"an iteration", "", func(r landmarksRound) float64 { return r.Iteration }},
	} {
		t.Add(row.part, row.counted, report.Seconds(row.of(r.landmarksRound)), report.Seconds(row.of(r.Min)),
			report.Seconds(row.of(r.Max)))
	}
	t.Add("an iteration / sum of its parts", "", fmt.Sprintf("%.2f", r.Ratio), fmt.Sprintf("%.2f", r.Min.Ratio),
		fmt.Sprintf("%.2f", r.Max.Ratio))
	t.Write(w)
}
