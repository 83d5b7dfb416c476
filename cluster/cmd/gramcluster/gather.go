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
	Setup: func(f *cli.Flags) cli.RunFunc {
		g := &gatherFlags{}
		f.Usage = "gramcluster gather -store URL [-job JOB] -o FILE [flags]"
		g.declareStore(f)
		f.StringVar(&g.job, "job", "", "gather the job whose digest begins with `JOB` (default: the only one)")
		f.StringVar(&g.out, "o", "", "write to `FILE`")
		f.StringVar(&g.format, "to", "", "output `FORMAT`, if the kind of job has several; see plan KIND -help")
		f.BoolVar(&g.missing, "missing", false,
			"check all results and print only the task lines of missing results")
		g.declareComputing(f)
		f.AddCheck(g.check)
		return g.run
	},
}

type gatherFlags struct {
	hostFlags
	job, out, format string
	missing          bool
}

func (g *gatherFlags) check() error {
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

func (g *gatherFlags) run(ctx context.Context, e *cli.Env) error {
	h, err := g.open(ctx)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	j, err := work.FindJob(ctx, h, g.job)
	if err != nil {
		return err
	}
	if g.missing {
		s, err := work.StatusOf(ctx, j, true, func(bad error) { logMessage(e, "gramcluster: %v", bad) })
		if err != nil {
			return err
		}
		w := bufio.NewWriter(e.Stdout)
		for _, t := range s.Missing() {
			fmt.Fprintln(w, job.TaskLine{Job: j.Digest, Task: t})
		}
		return w.Flush()
	}
	p := e.NewProgress(false)
	defer p.Clear()
	out := &job.Output{Path: g.out, Format: g.format, Progress: p.Update,
		Logf: func(format string, args ...any) { logUnlessQuiet(e, format, args...) }}
	err = work.Gather(ctx, jobs.Kinds, j, out)
	p.Clear()
	if missing := (*work.MissingError)(nil); errors.As(err, &missing) {
		logMessage(e, "gramcluster gather: job %.12s: %v", j.Digest, err)
		for _, l := range missing.TaskLines(10) {
			logMessage(e, "%s", l)
		}
		if n := len(missing.Tasks) - 10; n > 0 {
			logMessage(e, "and %d more; list all with gramcluster gather -missing", n)
		}
		return cli.ErrReported
	}
	return err
}
