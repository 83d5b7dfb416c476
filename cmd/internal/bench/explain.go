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
	ISA           string    `json:"isa"`
	Kernel        string    `json:"kernel"`
	Rows          []headRow `json:"rows"`
	ChosenTerms   int       `json:"chosen_head_terms"`
	ChosenSeconds float64   `json:"chosen_seconds"`
	BestTerms     int       `json:"best_head_terms"`
	AboveBest     float64   `json:"chosen_above_best_percent"`
}

// headRow is the measurement of one head size (see [engine.Head]), with one worker.
type headRow struct {
	NumTerms    int     `json:"head_terms"`
	NumSegments int     `json:"segments"`
	Predicted   float64 `json:"predicted_seconds"` // time that the cost model predicts for the dot products
	headRound
	MinSeconds float64 `json:"seconds_min"`
	MaxSeconds float64 `json:"seconds_max"`
	Chosen     bool    `json:"chosen"`

	engine *engine.Engine
	rounds []headRound
}

// headRound is the result of one round for a head size, or the medians of all rounds.
type headRound struct {
	Seconds     float64 `json:"seconds"`
	Head        float64 `json:"head_seconds"`
	Tail        float64 `json:"tail_seconds"`
	RatioToBest float64 `json:"ratio_to_best"`
}

// thinHeads returns about limit elements of heads. It keeps the first head, the last head, the
// chosen head and its neighbours, and further heads at even intervals.
func thinHeads(heads []engine.Head, chosen, limit int) []engine.Head {
	step := max((len(heads)+limit-4)/(limit-3), 1)
	var out []engine.Head
	for i, h := range heads {
		if i == 0 || i == len(heads)-1 || (i-chosen)%step == 0 || i == chosen-1 || i == chosen+1 {
			out = append(out, h)
		}
	}
	return out
}

func (b *bench) measureHeads(ctx context.Context, head header) (report.Report, error) {
	r := &headsReport{header: head, ISA: string(b.fastestISA()), Kernel: "c"}
	k, err := b.Parse("c")
	if err != nil {
		return nil, err
	}
	embedding := k[0].Embedding()
	chosen, _, err := b.engine(ctx, engineConfig{embedding, b.fastestISA(), 1, 0})
	if err != nil {
		return nil, err
	}
	about := chosen.Info()
	heads := about.Heads
	r.ChosenTerms = about.Head.TermCount
	at := slices.IndexFunc(heads, func(h engine.Head) bool { return h.TermCount == r.ChosenTerms })
	for _, h := range thinHeads(heads, at, 12) {
		row := headRow{NumTerms: h.TermCount, NumSegments: h.SegmentCount, Predicted: h.PredictedTime.Seconds(),
			engine: chosen}
		if row.Chosen = h.TermCount == r.ChosenTerms; !row.Chosen {
			terms := h.TermCount
			if terms == 0 {
				terms = -1 // -1 disables the head; 0 lets the engine choose a head
			}
			if row.engine, _, err = b.engine(ctx, engineConfig{embedding, b.fastestISA(), 1, terms}); err != nil {
				return nil, err
			}
		}
		r.Rows = append(r.Rows, row)
	}
	name := func(i int) string { return report.FormatCountOf(r.Rows[i].NumTerms, "term", "terms") }
	err = b.runRounds(len(r.Rows), name, func(i int) error {
		row := &r.Rows[i]
		seconds, did, err := timeRun(ctx, row.engine, func(ctx context.Context) error {
			return row.engine.EachTile(ctx, nil, engine.Request{OmitSymmetric: true}, func(*engine.Tile) error { return nil })
		})
		row.rounds = append(row.rounds, headRound{Seconds: seconds, Head: did.HeadTime.Seconds(),
			Tail: did.TailTime.Seconds()})
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
	r.BestTerms = chosen.NumTerms
	for i := range r.Rows {
		row := &r.Rows[i]
		for j := range row.rounds {
			row.rounds[j].RatioToBest = row.rounds[j].Seconds / chosen.rounds[j].Seconds
		}
		row.headRound = instrument.Medians(row.rounds)
		least, most := instrument.MinMax(row.rounds)
		row.MinSeconds, row.MaxSeconds = least.Seconds, most.Seconds
		if row.RatioToBest < best {
			best, r.BestTerms = row.RatioToBest, row.NumTerms
		}
	}
	for i := range r.Rows {
		r.Rows[i].RatioToBest /= best
	}
	r.ChosenSeconds, r.AboveBest = chosen.Seconds, 100*(1/best-1)
}

func (r *headsReport) Describe(d *report.Document) {
	r.header.Describe(d)
	d.AddLinef("%s, tiles of %s, one worker; predicted = time estimated by the cost model\n", r.ISA, r.Kernel)
	t := report.NewTable(
		">head terms", ">segments", ">predicted", ">measured", ">min", ">max", ">head", ">tail", ">to best", "")
	for _, row := range r.Rows {
		cells := []string{report.FormatCount(row.NumTerms), report.FormatCount(row.NumSegments)}
		for _, s := range []float64{row.Predicted, row.Seconds, row.MinSeconds, row.MaxSeconds, row.Head, row.Tail} {
			cells = append(cells, report.FormatSeconds(s))
		}
		t.Add(append(cells, fmt.Sprintf("%.3f", row.RatioToBest), map[bool]string{true: "<-- chosen"}[row.Chosen])...)
	}
	d.AddTable("Heads", "", t)
	d.AddLine("")
	d.AddFact("chosen", "%s, %s, %.1f%% above the best measured (%s)",
		report.FormatCountOf(r.ChosenTerms, "term", "terms"), report.FormatSeconds(r.ChosenSeconds), r.AboveBest,
		report.FormatCountOf(r.BestTerms, "term", "terms"))
}
