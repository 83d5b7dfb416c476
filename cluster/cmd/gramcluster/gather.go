package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/cli"
)

var gatherCommand = cli.Command{
	Name: "gather", Summary: "combine the results of a job into the output that gram writes",
	Help: `
Writes the file when all results are there and whole, and nothing otherwise: then it says what is
missing, and -missing prints the task lines of it for another work. Exit status 1 in that case.`,
	Examples: `
gramcluster gather -store run -o K.npy
gramcluster gather -store run -missing > again.jsonl`,
	NoJSON: true,
	Setup: func(f *cli.Flags) cli.Work {
		g := &gather{}
		f.Usage = "gramcluster gather -store URL [-job JOB] -o FILE [flags]"
		g.declareStore(f)
		f.StringVar(&g.job, "job", "", "gather the job whose digest begins with `JOB` (default: the only one)")
		f.StringVar(&g.out, "o", "", "write to `FILE`")
		f.StringVar(&g.to, "to", "", "output `FORMAT`, if the kind of job has several; see plan KIND -help")
		f.BoolVar(&g.missing, "missing", false,
			"check all results and print only the task lines of missing results")
		g.declareComputing(f)
		f.Check(g.check)
		return g.run
	},
}

type gather struct {
	host
	job, out, to string
	missing      bool
}

func (g *gather) check() error {
	switch {
	case g.out == "" && !g.missing:
		return cli.Usagef("-o FILE is required")
	case g.out == "-":
		return cli.Usagef("-o must be a file, not standard output")
	case g.out != "" && g.missing:
		return cli.Usagef("-o and -missing cannot be combined")
	}
	return nil
}

func (g *gather) run(ctx context.Context, e *cli.Env) error {
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
		s, err := work.StatusOf(ctx, j, true, func(bad error) { complain(e, "gramcluster: %v", bad) })
		if err != nil {
			return err
		}
		w := bufio.NewWriter(e.Stdout)
		for _, t := range s.Missing() {
			fmt.Fprintln(w, job.Line{Job: j.Digest, Task: t})
		}
		return w.Flush()
	}
	p := e.Progress(false)
	defer p.Clear()
	out := &job.Output{Path: g.out, To: g.to, Progress: p.Update,
		Say: func(format string, args ...any) { say(e, format, args...) }}
	err = work.Gather(ctx, jobs.Kinds, j, out)
	p.Clear()
	if missing := (*work.MissingError)(nil); errors.As(err, &missing) {
		complain(e, "gramcluster gather: job %.12s: %v", j.Digest, err)
		for _, l := range missing.Lines(10) {
			complain(e, "%s", l)
		}
		if n := len(missing.Tasks) - 10; n > 0 {
			complain(e, "and %d more; list all with gramcluster gather -missing", n)
		}
		return cli.ErrReported
	}
	return err
}
