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
	Setup: func(f *cli.Flags) cli.Work {
		s := &work{f: f}
		f.Pages()
		f.Group("Running", "")
		f.DurationVar(&s.o.For, "for", time.Minute, "run for `TIME`, such as 30s, 20m or 8h, and each task at least once")
		f.Float64Var(&s.o.Alone, "alone", 0.1, "`FRACTION` of the time in which all cores but one are idle")
		f.Func("cores", "use the logical CPUs in `LIST`, such as 0-3,8 (default: all)", s.setCores)
		f.StringVar(&s.isa, "isa", "", "use only the instruction set `ISA`: generic, avx2 or avx512 (default: "+
			"all in turn)")
		f.Uint64Var(&s.o.Seed, "seed", 1, "random `SEED` for the test data")
		f.Check(s.check)
		return s.run
	},
}

// work holds the flags of soak.
type work struct {
	f   *cli.Flags
	o   soak.Options
	isa string
}

func (s *work) check() error {
	if s.o.For <= 0 {
		return cli.Usagef("-for must be positive, got %s", s.o.For)
	}
	if !(s.o.Alone >= 0 && s.o.Alone < 1) {
		return cli.Usagef("-alone must be in [0, 1), got %g", s.o.Alone)
	}
	if s.isa != "" {
		if _, err := asm.For(asm.ISA(s.isa)); err != nil {
			return cli.UsageError{Err: fmt.Errorf("-isa: %w", err)}
		}
		s.o.ISAs = []asm.ISA{asm.ISA(s.isa)}
	}
	return nil
}

func (s *work) run(ctx context.Context, e *cli.Env) error {
	progress := e.Progress(true)
	defer progress.Clear()
	begin := time.Now()
	s.o.Stage = func(stage string) {
		progress.Tell(stage, int64(min(time.Since(begin), s.o.For).Seconds()), int64(s.o.For.Seconds()), nil)
	}
	r, err := soak.Run(ctx, s.o)
	if err != nil {
		return err
	}
	progress.Clear()
	found := &soakReport{r, r.DifferenceCount == 0 && r.Idle() == nil}
	if err := errors.Join(s.f.WritePage(found), report.Write(e.Stdout, found, s.f.JSON)); err != nil {
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
	d.Title = "Soak of " + r.Began
	d.Linef("soak %s after %s, %s started; threads pinned to CPUs: %t", end,
		time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), report.Counted(r.Turns, "turn", "turns"), r.Pinned)
	d.Linef("all cores busy for %s of the time, one core for %s", report.Percent(1-r.Alone), report.Percent(r.Alone))
	cache := "last-level cache unknown"
	if r.Cache > 0 {
		cache = "last-level cache " + report.Bytes(r.Cache)
	}
	d.Fact("largest corpus", "%s, %s", report.Bytes(r.Corpus), cache)
	d.Line("")
	t := report.NewTable(">core", ">tasks", ">values compared", ">differences")
	for _, c := range r.Cores {
		t.Add(strconv.Itoa(c.ID), report.Count(c.Tasks), report.Count(c.Values), report.Count(c.Differences))
	}
	d.Table("Cores", "", t)
	r.writeDifferences(d)
	verdict := "passed: all values were bit-identical to the first run"
	switch {
	case r.DifferenceCount > 0:
		verdict = "failed"
	case !r.Passed:
		verdict = "neither passed nor failed: " + r.Idle().Error()
	}
	d.Linef("\n%s", verdict)
}

func (r *soakReport) writeDifferences(d *report.Document) {
	if r.DifferenceCount == 0 {
		return
	}
	t := report.NewTable(">after", ">core", "isa", "what", "place", "bits", "flipped", ">again", "elsewhere")
	for _, x := range r.Differences {
		bits, flipped := fmt.Sprintf("%08x, not %08x", x.Got, x.Want), fmt.Sprintf("%08x", x.Got^x.Want)
		if x.Error != "" {
			bits, flipped = x.Error, ""
		}
		t.Add(report.Seconds(x.At), strconv.Itoa(x.Core), string(x.ISA), x.Kind+" "+x.Size, x.Place, bits, flipped,
			strconv.Itoa(x.Again), fmt.Sprintf("%d on %d", x.Elsewhere, x.Other))
	}
	d.Table("Differences", report.Counted(r.DifferenceCount, "difference", "differences")+
		"; again, elsewhere: how many of 3 retries differ on the same core and on another core", t)
}

// setCores parses the list of CPUs in -cores, such as 0-3,8.
func (s *work) setCores(text string) error {
	s.o.Cores = nil
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
		s.o.Cores = append(s.o.Cores, run.Numbers(int(first), int(last)+1)...)
	}
	return nil
}
