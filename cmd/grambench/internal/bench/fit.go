package bench

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

// fitReport is the report of bench -fit.
type fitReport struct {
	*instrument.Fitted
	File string `json:"file"`
}

func (b *bench) runFit(ctx context.Context, e *cli.Env) error {
	b.progress = e.Progress(true)
	defer b.progress.Clear()
	fitted, err := instrument.Fit(ctx, b.best(), func(stage string) { b.progress.Tell(stage, 0, 0, nil) })
	if err != nil {
		return err
	}
	b.progress.Clear()
	costs := &backend.Costs{Schema: 1, Machine: strings.TrimSpace(cpuid.CPU.BrandName), ISA: fitted.ISA,
		Date: time.Now().UTC().Format(time.RFC3339), Cost: fitted.Cost}
	if b.suite.out != "" {
		if _, err := matrixio.Make(b.suite.out, costs.Write); err != nil {
			return err
		}
	}
	return b.Report(e, b.f, &fitReport{fitted, b.suite.out})
}

func (r *fitReport) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s, one worker: nanoseconds of the parts of dot products, and in ratio to a value of the head\n\n",
		r.ISA)
	t := report.NewTable("part", ">here", ">program", ">ratio here", ">program")
	for _, row := range []struct {
		name       string
		here, then float64
	}{
		{"value of the head", r.Cost.HeadValue, r.Table.HeadValue}, {"far from the first cache", r.Cost.HeadFar,
			r.Table.HeadFar},
		{"document of a segment", r.Cost.HeadDocument, r.Table.HeadDocument},
		{"match of the tail", r.Cost.TailMatch, r.Table.TailMatch}, {"list of the tail", r.Cost.TailList, r.Table.TailList},
		{"byte of the third cache", r.Cost.L3Byte, r.Table.L3Byte},
	} {
		t.Add(row.name, fmt.Sprintf("%.3f", row.here), fmt.Sprintf("%.3f", row.then),
			fmt.Sprintf("%.3f", report.Ratio(row.here, r.Cost.HeadValue)), fmt.Sprintf("%.3f", row.then/r.Table.HeadValue))
	}
	t.Write(w)
	fmt.Fprintf(w, "\npredictions of %s are off by %s here, by the program's ratios %s (medians)\n",
		report.Counted(len(r.Heads), "head", "heads"), report.Percent(r.Off), report.Percent(r.Was))
	if r.File != "" {
		fmt.Fprintf(w, "%s: for -costs; results then differ in their bits from those without\n", r.File)
	}
}
