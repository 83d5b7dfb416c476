// Package soak implements the command soak, which tests for CPU cores that compute wrong results.
// Package internal/soak runs the test.
package soak

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/soak"
)

// Command is the command soak, which tests CPU cores.
var Command = &cli.Command{
	Name:    "soak",
	Summary: "stress-test all cores, and report any core that computes wrong results",
	Help: `
Runs the engine's computations on all cores at once and, for a tenth of the time (-alone), on one
core at a time: tiles of c, kernel functions and dot products of various sizes, with every
instruction set. One corpus is larger than the last-level cache. Each value is compared bit by bit
with its first result. Correct cores always give the same bits, so a difference shows a fault of the
core or its memory. Tasks with differences are repeated on the same core and on another core.

The report lists core, instruction set, tile and bits of each difference. The exit status is 1 if
there were differences, or if the run was too short for a core. ^C ends the run with a report.`,
	Examples: `
grambench soak -for 8h
grambench soak -for 10m -cores 4-7 -isa avx512 -json`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		s := &soakFlags{f: f}
		f.DeclareReport()
		f.StartGroup("Running", "")
		f.DurationVar(&s.options.Duration, "for", time.Minute,
			"run for at least `TIME`, such as 30s, 20m or 8h; each task runs at least once")
		f.Float64Var(&s.options.SingleCoreFraction, "alone", 0.1,
			"keep all cores but one idle for `FRACTION` of the time")
		f.Func("cores", "use the logical CPUs in `LIST`, such as 0-3,8 (default: all)", s.setCores)
		f.StringVar(&s.isa, "isa", "", "use only the instruction set `ISA`: generic, avx2 or avx512 (default: "+
			"all in turn)")
		f.Uint64Var(&s.options.Seed, "seed", 1, "random `SEED` for the test data")
		f.AddCheck(s.check)
		return s.run
	},
}

type soakFlags struct {
	f       *cli.Flags
	options soak.Options
	isa     string
}

func (s *soakFlags) check() error {
	if s.options.Duration <= 0 {
		return cli.Usagef("-for must be positive, got %s", s.options.Duration)
	}
	if !(s.options.SingleCoreFraction >= 0 && s.options.SingleCoreFraction < 1) {
		return cli.Usagef("-alone must be in [0, 1), got %g", s.options.SingleCoreFraction)
	}
	if s.isa != "" {
		if _, err := asm.KernelsFor(asm.ISA(s.isa)); err != nil {
			return cli.UsageError{Err: fmt.Errorf("-isa: %w", err)}
		}
		s.options.ISAs = []asm.ISA{asm.ISA(s.isa)}
	}
	return nil
}

func (s *soakFlags) run(ctx context.Context, e *cli.Env) error {
	progress := e.NewProgress(true)
	defer progress.Clear()
	begin := time.Now()
	s.options.OnStage = func(stage string) {
		progress.Show(stage, int64(min(time.Since(begin), s.options.Duration).Seconds()),
			int64(s.options.Duration.Seconds()), nil)
	}
	r, err := soak.Run(ctx, s.options)
	if err != nil {
		return err
	}
	progress.Clear()
	found := &soakReport{r, r.DifferenceCount == 0 && r.CheckCoverage() == nil}
	if err := errors.Join(s.f.WriteReportPage(found), report.Write(e.Stdout, found, s.f.JSON)); err != nil {
		return err // the page is written first, because writing to standard output may fail
	}
	switch {
	case r.DifferenceCount == 0 && r.Interrupted:
		return context.Cause(ctx)
	case !found.Passed:
		return cli.ErrReported
	}
	return nil
}

type soakReport struct {
	*soak.Report
	Passed bool `json:"passed"`
}

func (r *soakReport) Describe(d *report.Document) {
	end := "ended"
	if r.Interrupted {
		end = "was interrupted"
	}
	d.Title = "Soak of " + r.StartTime
	d.AddLinef("soak %s after %s in %s; threads pinned to CPUs: %t", end,
		time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), report.FormatCountOf(r.Rounds, "turn", "turns"),
		r.Pinned)
	d.AddLinef("all cores busy for %s of the time, one core for %s", report.FormatPercent(1-r.SingleCoreFraction),
		report.FormatPercent(r.SingleCoreFraction))
	cache := "last-level cache unknown"
	if r.CacheBytes > 0 {
		cache = "last-level cache " + report.FormatBytes(r.CacheBytes)
	}
	d.AddFact("largest corpus", "%s, %s", report.FormatBytes(r.CorpusBytes), cache)
	d.AddLine("")
	t := report.NewTable(">core", ">tasks", ">values compared", ">differences")
	for _, c := range r.Cores {
		t.Add(strconv.Itoa(c.ID), report.FormatCount(c.TaskCount), report.FormatCount(c.ValueCount),
			report.FormatCount(c.DifferenceCount))
	}
	d.AddTable("Cores", "", t)
	r.writeDifferences(d)
	verdict := "passed: all values were bit-identical to the first run"
	switch {
	case r.DifferenceCount > 0:
		verdict = "failed"
	case !r.Passed:
		verdict = "neither passed nor failed: " + r.CheckCoverage().Error()
	}
	d.AddLinef("\n%s", verdict)
}

func (r *soakReport) writeDifferences(d *report.Document) {
	if r.DifferenceCount == 0 {
		return
	}
	t := report.NewTable(">after", ">core", "isa", "what", "place", "bits", "flipped", ">again", "elsewhere")
	for _, x := range r.Differences {
		bits, flipped := fmt.Sprintf("%08x, not %08x", x.GotBits, x.WantBits), fmt.Sprintf("%08x", x.GotBits^x.WantBits)
		if x.Error != "" {
			bits, flipped = x.Error, ""
		}
		t.Add(report.FormatSeconds(x.AfterSeconds), strconv.Itoa(x.CoreID), string(x.ISA), x.Kind+" "+x.Size, x.Position,
			bits, flipped,
			strconv.Itoa(x.SameCoreRepeats), fmt.Sprintf("%d on %d", x.OtherCoreRepeats, x.OtherCoreID))
	}
	d.AddTable("Differences", report.FormatCountOf(r.DifferenceCount, "difference", "differences")+
		"; again = differing retries (of 3) on the same core, elsewhere = on another core", t)
}

// setCores parses the list of CPUs in -cores, such as 0-3,8.
func (s *soakFlags) setCores(text string) error {
	s.options.Cores = nil
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		first, err := strconv.ParseUint(low, 10, 14)
		last := first
		if isRange && err == nil {
			last, err = strconv.ParseUint(high, 10, 14)
		}
		if err != nil || last < first {
			return fmt.Errorf("%q is not a list of CPUs, such as 0-3,8", text)
		}
		s.options.Cores = append(s.options.Cores, run.Range(int(first), int(last)+1)...)
	}
	return nil
}
