package main

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/work"
)

var gatherCommand = command{
	name: "gather", args: "-store URL [-job JOB] -o FILE [flags]",
	summary: "put the results of a job together, as grambench writes them",
	help: `
Writes the file when all results are there and whole, and nothing otherwise: then it says what is
missing, and -missing prints the task lines of it for another work. Exit status 1 in that case.

Examples:
  gramcluster gather -store run -o K.npy
  gramcluster gather -store run -missing > again.jsonl`,
	setup: func(f *flag.FlagSet) func(context.Context, *env) error {
		g := &gather{}
		g.declareStore(f)
		f.StringVar(&g.job, "job", "", "gather the job whose digest begins with `JOB` (default: the only one)")
		f.StringVar(&g.out, "o", "", "write to `FILE`, for tiles a folder")
		f.StringVar(&g.to, "to", "", "write the form `FORM`, for kinds that have several; see plan KIND -help")
		f.BoolVar(&g.missing, "missing", false,
			"write only the task lines of missing results, after reading all results")
		g.declareComputing(f)
		f.BoolVar(&g.quiet, "q", false, "show no progress")
		return g.run
	},
}

type gather struct {
	host
	job, out, to   string
	missing, quiet bool
}

func (g *gather) run(ctx context.Context, e *env) error {
	switch {
	case g.out == "" && !g.missing:
		return usagef("-o FILE is missing")
	case g.out == "-":
		return usagef("-o -, expected a file, which is there when all of it is")
	case g.out != "" && g.missing:
		return usagef("-o and -missing, expected one of them")
	}
	h, err := g.open(ctx)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	j, err := work.Find(ctx, h, g.job)
	if err != nil {
		return err
	}
	if g.missing {
		s, err := work.StatusOf(ctx, j, true, func(bad error) { e.say("gramcluster: %v", bad) })
		if err != nil {
			return err
		}
		for _, t := range s.Missing() {
			fmt.Fprintln(e.stdout, job.Line{Job: j.Digest, Task: t})
		}
		return nil
	}
	p := newProgress(e, g.quiet)
	defer p.clear()
	out := &job.Output{Path: g.out, To: g.to, Progress: p.update, Say: e.say}
	err = work.Gather(ctx, jobs.Kinds, j, out)
	p.clear()
	if missing := (*work.MissingError)(nil); errors.As(err, &missing) {
		e.say("gramcluster gather: job %.12s: %v", j.Digest, err)
		for _, l := range missing.Lines(10) {
			e.say("%s", l)
		}
		if n := len(missing.Tasks) - 10; n > 0 {
			e.say("and %d more: gramcluster gather -missing prints all", n)
		}
		return errReported
	}
	return err
}
