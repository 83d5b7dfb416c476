package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/report"
)

type headsReport struct {
	header
	ISA         string    `json:"isa"`
	Kernel      string    `json:"kernel"`
	Rows        []headRow `json:"rows"`
	ChosenTerms int       `json:"chosen_head_terms"`
	ChosenS     float64   `json:"chosen_seconds"`
	BestTerms   int       `json:"best_head_terms"`
	AboveBest   float64   `json:"chosen_above_best_percent"`
}

// headRow describes a head size, measured with one worker.
type headRow struct {
	Terms     int     `json:"head_terms"`
	Segments  int     `json:"segments"`
	Predicted float64 `json:"predicted_seconds"` // time that the cost model predicts for the dot products
	headRound
	Min    float64 `json:"seconds_least"`
	Max    float64 `json:"seconds_most"`
	Chosen bool    `json:"chosen"`

	engine *engine.Engine
	rounds []headRound
}

// headRound is one round for a head size, or the medians of all rounds.
type headRound struct {
	Seconds float64 `json:"seconds"`
	Head    float64 `json:"head_seconds"`
	Tail    float64 `json:"tail_seconds"`
	ToBest  float64 `json:"ratio_to_best"`
}

// thin reduces heads to about the given number. It keeps the first head, the last head, the chosen
// head and its neighbours, and further heads at even intervals.
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

func (b *bench) measureHeads(ctx context.Context, head header) (report.Report, error) {
	r := &headsReport{header: head, ISA: string(b.best()), Kernel: "c"}
	k, err := b.Parse("c")
	if err != nil {
		return nil, err
	}
	embedding := k[0].Embedding()
	chosen, _, err := b.engine(ctx, setting{embedding, b.best(), 1, 0})
	if err != nil {
		return nil, err
	}
	about := chosen.Info()
	heads := about.Heads
	r.ChosenTerms = about.Head.Terms
	at := slices.IndexFunc(heads, func(h engine.Head) bool { return h.Terms == r.ChosenTerms })
	for _, h := range thin(heads, at, 12) {
		row := headRow{Terms: h.Terms, Segments: h.Segments, Predicted: h.Predicted.Seconds(), engine: chosen}
		if row.Chosen = h.Terms == r.ChosenTerms; !row.Chosen {
			terms := h.Terms
			if terms == 0 {
				terms = -1 // no head; with 0 the engine would choose a head
			}
			if row.engine, _, err = b.engine(ctx, setting{embedding, b.best(), 1, terms}); err != nil {
				return nil, err
			}
		}
		r.Rows = append(r.Rows, row)
	}
	name := func(i int) string { return report.Counted(r.Rows[i].Terms, "term", "terms") }
	err = b.rounds(len(r.Rows), name, func(i int) error {
		row := &r.Rows[i]
		seconds, did, err := timed(ctx, row.engine, func(ctx context.Context) error {
			return row.engine.Each(ctx, nil, engine.Request{Half: true}, func(*engine.Tile) error { return nil })
		})
		row.rounds = append(row.rounds, headRound{Seconds: seconds, Head: did.Head.Seconds(), Tail: did.Tail.Seconds()})
		return err
	})
	if err != nil {
		return nil, err
	}
	r.summarise()
	return r, nil
}

func (r *headsReport) summarise() {
	chosen := &r.Rows[slices.IndexFunc(r.Rows, func(row headRow) bool { return row.Chosen })]
	best := 1.0
	r.BestTerms = chosen.Terms
	for i := range r.Rows {
		row := &r.Rows[i]
		for j := range row.rounds {
			row.rounds[j].ToBest = row.rounds[j].Seconds / chosen.rounds[j].Seconds
		}
		row.headRound = instrument.Medians(row.rounds)
		least, most := instrument.Ends(row.rounds)
		row.Min, row.Max = least.Seconds, most.Seconds
		if row.ToBest < best {
			best, r.BestTerms = row.ToBest, row.Terms
		}
	}
	for i := range r.Rows {
		r.Rows[i].ToBest /= best
	}
	r.ChosenS, r.AboveBest = chosen.Seconds, 100*(1/best-1)
}

func (r *headsReport) Describe(d *report.Document) {
	r.header.Describe(d)
	d.Linef("%s, tiles of %s, one worker; predicted = estimate of the cost model\n",
		r.ISA, r.Kernel)
	t := report.NewTable(
		">head terms", ">segments", ">predicted", ">measured", ">min", ">max", ">head", ">tail", ">to best", "")
	for _, row := range r.Rows {
		cells := []string{report.Count(row.Terms), report.Count(row.Segments)}
		for _, s := range []float64{row.Predicted, row.Seconds, row.Min, row.Max, row.Head, row.Tail} {
			cells = append(cells, report.Seconds(s))
		}
		t.Add(append(cells, fmt.Sprintf("%.3f", row.ToBest), map[bool]string{true: "<-- chosen"}[row.Chosen])...)
	}
	d.Table("Heads", "", t)
	d.Line("")
	d.Fact("chosen", "%s, %s, %.1f%% above the best measured (%s)",
		report.Counted(r.ChosenTerms, "term", "terms"), report.Seconds(r.ChosenS), r.AboveBest,
		report.Counted(r.BestTerms, "term", "terms"))
}
