package bench

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/instrument"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

const suiteTopic = "suite"

// SuiteTopic is the help topic on -suite, the standard workloads.
var SuiteTopic = cli.Topic{Name: suiteTopic, Text: `
bench -suite measures standard workloads, which are identical on all computers:
` + workloads() + `
First the results of each workload are checked: they must have a known digest, and a sample must be
within tolerance of a float64 reference. Then rounds of all workloads are measured until the 95%
interval of each median is within 2%, or until the time limit.

  grambench bench -suite quick -o a.txt               one worker
  grambench bench -suite normal -o a.txt              one worker, and all
  grambench bench -suite full                         1, 2, 4, ... workers
  grambench bench -suite quick -workers 1,2,...,all   the same in less time

The output file has the format of Go benchmarks, with a line per round. To compare two computers or
versions, run benchstat a.txt b.txt (go install golang.org/x/perf/cmd/benchstat@latest).`,
	Declare: func(f *cli.Flags) { (&suite{}).declare(f) }}

func workloads() string {
	var b strings.Builder
	for _, w := range instrument.Workloads {
		fmt.Fprintf(&b, "  %-13s %s\n", w, w.Description)
	}
	return b.String()
}

type suite struct{ size, out string }

// sizes holds the time limit and the numbers of workers for each value of -suite.
var sizes = map[string]struct {
	bound   time.Duration
	workers string
}{"quick": {20 * time.Second, "1"}, "normal": {5 * time.Minute, "1,all"}, "full": {20 * time.Minute, "1,2,...,all"}}

func (s *suite) declare(f *cli.Flags) {
	f.StartGroup("Suite", suiteTopic)
	f.ChoiceVar(&s.size, "suite", "", "run the standard workloads; `SIZE` = quick (30 s, 1 worker), normal (5 min, "+
		"1 and all workers) or full (20 min; 1, 2, 4, ... workers)", []string{"quick", "normal", "full"})
	f.OutputVar(&s.out, "o", "write the results of -suite to `FILE` in the format of benchstat")
}

// checkSuite returns a usage error for -o without -suite, or for flags that don't apply to -suite.
func (b *bench) checkSuite() error {
	switch {
	case b.suite.size == "" && b.suite.out != "":
		return cli.Usagef("-o requires -suite")
	case b.suite.size == "":
		return nil
	case b.OnGPU():
		return cli.Usagef("-suite requires -backend cpu")
	}
	wrong := ""
	b.f.Visit(func(fl *flag.Flag) {
		if !slices.Contains([]string{"suite", "o", "workers", "isa", "json", "q", "report", "backend"}, fl.Name) {
			wrong = fl.Name
		}
	})
	if wrong != "" {
		return cli.Usagef("-%s does not apply to -suite", wrong)
	}
	return nil
}

type suiteReport struct {
	environment
	*instrument.Result
}

func (b *bench) runSuite(ctx context.Context, e *cli.Env) error {
	size := sizes[b.suite.size]
	b.progress = e.NewProgress(false)
	defer b.progress.Clear()
	workers := b.workers
	if !b.f.IsSet("workers") {
		_ = workers.Set(size.workers) // can't fail, because sizes has only valid lists
	}
	slices.Sort(workers)
	r, err := instrument.Run(ctx, instrument.Options{ISA: asm.ISA(b.ISA), WorkerCounts: workers,
		TimeLimit: size.bound, OnStage: func(stage string) { b.progress.Show(stage, 0, 0, nil) }})
	if r == nil {
		return err
	}
	interrupted := err // reason why the run is incomplete, or nil
	b.progress.Clear()
	if b.suite.out != "" {
		if _, err := matrixio.WriteFile(b.suite.out, r.Write); err != nil {
			return err
		}
	}
	return cmp.Or(b.PrintReport(e, b.f, &suiteReport{newEnvironment(r.Rounds), r}), interrupted)
}

func (s *suiteReport) Describe(d *report.Document) {
	d.Title = "Suite on " + report.OrUnknown(s.CPU)
	d.AddLine(s.line())
	if s.Incomplete {
		d.AddFact("incomplete", "the run was interrupted, so its results were not verified")
	}
	d.AddLine("")
	t := report.NewTable("workload", ">workers", "unit", ">per second", ">min", ">max", ">±", ">speed-up", ">error",
		"digest")
	wide, one := 0, map[string]float64{}
	for _, row := range s.Rows {
		if !row.IsPrecise {
			wide++
		}
		speedUp := ""
		if row.Workers == 1 {
			one[row.Workload] = row.Rate.Median
		} else if one[row.Workload] > 0 {
			speedUp = fmt.Sprintf("%.2f", row.Rate.Median/one[row.Workload])
		}
		t.Add(fmt.Sprintf("%s/%d", row.Workload, row.Version), report.FormatCount(row.Workers), row.Unit,
			report.FormatRate(row.Rate.Median), report.FormatRate(row.Rate.Low), report.FormatRate(row.Rate.High),
			report.FormatPercent((row.Rate.High-row.Rate.Low)/2/row.Rate.Median), speedUp,
			fmt.Sprintf("%.2f", row.Error.ToleranceRatio), map[bool]string{true: "as known", false: "new"}[row.HasKnownDigest])
	}
	d.AddTable("Workloads", "", t)
	d.AddFact("wide", "%d of %s were wider than 2%% when the time limit was reached", wide,
		report.FormatCountOf(len(s.Rows), "interval", "intervals"))
}

// expandRanges splits s at commas. It replaces "..." between two numbers a and b with a·2, a·4 and
// so on, up to the last number below b.
func expandRanges(s string) (parts []string) {
	list := strings.Split(strings.ReplaceAll(s, "…", "..."), ",")
	for i, part := range list {
		if part != "..." || i == 0 || i == len(list)-1 {
			parts = append(parts, part)
			continue
		}
		var from, to int
		fmt.Sscan(parts[len(parts)-1], &from)
		if fmt.Sscan(list[i+1], &to); list[i+1] == "all" || list[i+1] == "0" {
			to = runtime.GOMAXPROCS(0)
		}
		for n := 2 * from; from > 0 && n < to; n *= 2 {
			parts = append(parts, fmt.Sprint(n))
		}
	}
	return parts
}
