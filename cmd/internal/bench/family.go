package bench

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// familyReport is the report of bench -family.
type familyReport struct {
	header
	ISA  string      `json:"isa"`
	Base string      `json:"base_kernel"`
	Rows []familyRow `json:"rows"` // the slowest first
}

// familyRow is one kernel's whole matrix, one worker.
type familyRow struct {
	Kernel    string `json:"kernel"`
	Embedding string `json:"embedding"`
	familyRound
	Min float64 `json:"ratio_to_base_least"`
	Max float64 `json:"ratio_to_base_most"`

	kernel kernel.Kernel
	engine *engine.Engine
	rounds []familyRound
}

// familyRound is what one round of a kernel gives, or the medians of all.
type familyRound struct {
	Seconds   float64 `json:"seconds"`
	NsPerPair float64 `json:"map_ns_per_pair"` // of the map alone
	Ratio     float64 `json:"ratio_to_base"`
}

const (
	familyBase  = "diffusion:t=0.5" // the kernel that all others are compared with
	familyEvery = 4                 // kernels that are measured between two matrices of that
)

// measureFamily computes the whole matrix of every kernel, and one of the diffusion kernel before
// every few, which they are compared with.
func (b *bench) measureFamily(ctx context.Context, head header) (report.Report, error) {
	kernels, err := b.Parse(source.Examples()...)
	if err != nil {
		return nil, err
	}
	r := &familyReport{header: head, ISA: string(b.best()), Base: familyBase}
	n := b.corpus.Documents.Rows()
	data, err := b.memory("a Gram matrix of "+report.Documents(n), n*n)
	if err != nil {
		return nil, err
	}
	matrix := &engine.Symmetric{N: n, Data: data}
	add := func(k kernel.Kernel) error {
		e, x, err := b.engine(ctx, setting{k.Embedding(), b.best(), 1, 0})
		if err != nil {
			return err
		}
		resolved := kernel.Resolve(k, len(x.Embedder.Terms))
		r.Rows = append(r.Rows,
			familyRow{Kernel: k.String(), Embedding: k.Embedding().String(), kernel: resolved, engine: e})
		// Tables are made at the first use.
		one := []float32{1}
		return kernel.Apply(resolved, asm.Best(), make([]float32, 1), []float32{0.5}, one, one)
	}
	if err := add(kernel.MustParse(familyBase)); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, k := range kernels {
		// Histograms have no dot products: their time is measured against a merge.
		if seen[k.String()] || len(b.Specs) == 0 && k.Embedding().Pairing != sparse.Dot {
			continue
		}
		seen[k.String()] = true
		if err := add(k); err != nil {
			return nil, err
		}
	}
	base, rows := r.Rows[0], r.Rows[1:]
	pairs := float64(n) * float64(n-1) / 2
	compute := func(row *familyRow, against float64) (familyRound, error) {
		seconds, did, err := timed(ctx, row.engine, func(ctx context.Context) error {
			return row.engine.GramTo(ctx, row.kernel, matrix)
		})
		return familyRound{seconds, 1e9 * did.Map.Seconds() / pairs, seconds / against}, err
	}
	name := func(i int) string {
		return fmt.Sprintf("kernel %d of %d, %s", i+1, len(rows), report.Shorten(rows[i].Kernel, 40))
	}
	var against familyRound
	err = b.rounds(len(rows), name, func(i int) (err error) {
		if i%familyEvery == 0 {
			if against, err = compute(&base, 1); err != nil {
				return err
			}
		}
		round, err := compute(&rows[i], against.Seconds)
		rows[i].rounds = append(rows[i].rounds, round)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range rows {
		row := &rows[i]
		row.familyRound = instrument.Medians(row.rounds)
		least, most := instrument.Ends(row.rounds)
		row.Min, row.Max = least.Ratio, most.Ratio
	}
	slices.SortStableFunc(rows, func(a, b familyRow) int { return cmp.Compare(b.Ratio, a.Ratio) })
	r.Rows = rows
	return r, nil
}

func (r *familyReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.header)
	fmt.Fprintf(w, "Whole matrices, %s, one worker, against that of %s before every few\n", r.ISA, r.Base)
	t := report.NewTable("kernel", "embedding", ">seconds", ">map ns/pair", ">x diffusion", ">least",
		">most").Named("Kernels")
	for _, row := range r.Rows {
		cells := []string{report.Shorten(row.Kernel, 70), row.Embedding, report.Seconds(row.Seconds)}
		for _, v := range []float64{row.NsPerPair, row.Ratio, row.Min, row.Max} {
			cells = append(cells, fmt.Sprintf("%.2f", v))
		}
		t.Add(cells...)
	}
	t.Write(w)
}
