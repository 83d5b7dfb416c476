package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
)

// headsReport is the report of bench -explain.
type headsReport struct {
	benchHead
	ISA         string    `json:"isa"`
	Kernel      string    `json:"kernel"`
	Rows        []headRow `json:"rows"`
	ChosenTerms int       `json:"chosen_head_terms"`
	ChosenS     float64   `json:"chosen_seconds"`
	BestTerms   int       `json:"best_head_terms"`
	AboveBest   float64   `json:"chosen_above_best_percent"`
}

// headRow is one choice of the head; times are medians over the rounds, on one worker.
type headRow struct {
	Terms     int     `json:"head_terms"`
	Segments  int     `json:"segments"`
	Predicted float64 `json:"predicted_seconds"` // of the dot products
	Seconds   float64 `json:"seconds"`
	Least     float64 `json:"seconds_least"`
	Most      float64 `json:"seconds_most"`
	Head      float64 `json:"head_seconds"`
	Tail      float64 `json:"tail_seconds"`
	ToBest    float64 `json:"ratio_to_best"` // from times of the same round
	Chosen    bool    `json:"chosen"`

	engine                      *engine.Engine
	seconds, headTime, tailTime []float64
}

// thin picks about most of the choices of the head that are worth a look: none, the chosen one and its neighbours, and others at even steps.
func thin(heads []engine.Head, chosen, most int) []engine.Head {
	step := max((len(heads)+most-4)/(most-3), 1)
	var out []engine.Head
	for i, h := range heads {
		if i == 0 || i == len(heads)-1 || (i-chosen)%step == 0 || i == chosen-1 || i == chosen+1 {
			out = append(out, h)
		}
	}
	return out
}

func (b *bench) measureHeads(ctx context.Context, head benchHead) (report, error) {
	r := &headsReport{benchHead: head, ISA: b.isa, Kernel: "c"}
	if r.ISA == "" {
		r.ISA = string(asm.Best().ISA)
	}
	k, err := b.parseKernels("c")
	if err != nil {
		return nil, err
	}
	x, err := b.embed(ctx, k[0].Embedding())
	if err != nil {
		return nil, err
	}
	chosen, err := b.newEngine(x, r.ISA, 1, 0)
	if err != nil {
		return nil, err
	}
	r.ChosenTerms = chosen.HeadTerms()
	heads := chosen.Heads()
	at := slices.IndexFunc(heads, func(h engine.Head) bool { return h.Terms == r.ChosenTerms })
	for _, h := range thin(heads, at, 12) {
		row := headRow{Terms: h.Terms, Segments: h.Segments, Predicted: h.Predicted.Seconds(), Chosen: h.Terms == r.ChosenTerms, engine: chosen}
		if !row.Chosen {
			terms := h.Terms
			if terms == 0 {
				terms = -1 // none; 0 leaves the choice to the engine
			}
			if row.engine, err = b.newEngine(x, r.ISA, 1, terms); err != nil {
				return nil, err
			}
		}
		r.Rows = append(r.Rows, row)
	}
	for round := range b.count {
		for i := range r.Rows {
			row := &r.Rows[i]
			b.progress.stage(fmt.Sprintf("round %d of %d, %s", round+1, b.count, counted(row.Terms, "term", "terms")))
			if err := row.measure(ctx); err != nil {
				return nil, err
			}
		}
	}
	r.summarise()
	return r, nil
}

func (row *headRow) measure(ctx context.Context) error {
	runtime.GC()
	before, begin := row.engine.Stats(), time.Now()
	if err := row.engine.Tiles(ctx, func(*engine.Tile) error { return nil }); err != nil {
		return err
	}
	row.seconds = append(row.seconds, max(time.Since(begin).Seconds(), 1e-9))
	s := row.engine.Stats().Sub(before)
	row.headTime = append(row.headTime, s.Head.Seconds())
	row.tailTime = append(row.tailTime, s.Tail.Seconds())
	return nil
}

func (r *headsReport) summarise() {
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Seconds, row.Least, row.Most = median(row.seconds), slices.Min(row.seconds), slices.Max(row.seconds)
		row.Head, row.Tail = median(row.headTime), median(row.tailTime)
	}
	// Against the chosen one, round by round: the machine's changes of speed leave these ratios alone.
	chosen := r.Rows[slices.IndexFunc(r.Rows, func(row headRow) bool { return row.Chosen })]
	least := 1.0
	r.BestTerms, r.ChosenS = chosen.Terms, chosen.Seconds
	for i := range r.Rows {
		row := &r.Rows[i]
		ratios := make([]float64, len(row.seconds))
		for j, s := range row.seconds {
			ratios[j] = s / chosen.seconds[j]
		}
		row.ToBest = median(ratios)
		if row.ToBest < least {
			least, r.BestTerms = row.ToBest, row.Terms
		}
	}
	for i := range r.Rows {
		r.Rows[i].ToBest /= least
	}
	r.AboveBest = 100 * (1/least - 1)
}

func (r *headsReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.benchHead)
	fmt.Fprintf(w, "%s, tiles of %s, one worker; predicted: the dot products by the cost model\n\n", r.ISA, r.Kernel)
	t := newTable(">head terms", ">segments", ">predicted", ">measured", ">least", ">most", ">head", ">tail", ">to best", "")
	for _, row := range r.Rows {
		mark := ""
		if row.Chosen {
			mark = "<-- chosen"
		}
		t.add(formatCount(row.Terms), formatCount(row.Segments), formatSeconds(row.Predicted), formatSeconds(row.Seconds), formatSeconds(row.Least),
			formatSeconds(row.Most), formatSeconds(row.Head), formatSeconds(row.Tail), fmt.Sprintf("%.3f", row.ToBest), mark)
	}
	t.write(w)
	fmt.Fprintf(w, "\nchosen: %s, %s, %.1f %% above the best measured (%s)\n", counted(r.ChosenTerms, "term", "terms"), formatSeconds(r.ChosenS), r.AboveBest,
		counted(r.BestTerms, "term", "terms"))
}
