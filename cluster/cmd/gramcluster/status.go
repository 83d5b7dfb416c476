package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

var statusCommand = cli.Command{
	Name: "status", Summary: "show the progress of jobs",
	Help: `
Counts the results of a job, or of all jobs, by their names; -check reads them all and counts those
that are damaged as missing. -watch goes on until all are there, with an estimate of when that is.`,
	Examples: `
gramcluster status -store run -check
gramcluster status -store s3://bucket/run -watch -every 1m`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		s := &statusFlags{}
		f.Usage = "gramcluster status -store URL [-job JOB] [-watch] [flags]"
		s.declareStore(f)
		f.StringVar(&s.job, "job", "", "show only jobs whose digest begins with `JOB`")
		f.BoolVar(&s.check, "check", false, "read all results")
		f.BoolVar(&s.watch, "watch", false, "update until all tasks are done")
		f.DurationVar(&s.interval, "every", 5*time.Second, "update every `TIME`, with -watch")
		f.Lookup("json").Usage = "print one line of JSON per job"
		f.AddCheck(func() error {
			if s.interval < 100*time.Millisecond {
				return cli.Usagef("-every must be at least 100ms, got %v", s.interval)
			}
			return nil
		})
		s.flags = f
		return s.run
	},
}

type statusFlags struct {
	hostFlags
	flags        *cli.Flags
	job          string
	check, watch bool
	interval     time.Duration
}

func (s *statusFlags) run(ctx context.Context, e *cli.Env) error {
	h, err := s.open(ctx)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	// formatRemaining needs the time and the number of results at the first check.
	begin, before := time.Now(), -1
	for {
		found, err := work.JobDigests(ctx, h.Store, s.job) // inside the loop, because gramcluster drive may add jobs
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return fmt.Errorf("no job %sin the store %s; create one with gramcluster plan",
				s.job+map[bool]string{true: " "}[s.job != ""], h.Store)
		}
		stored, tasks, bad := 0, 0, false
		for _, digest := range found {
			j, err := h.Load(ctx, digest)
			if err != nil && ctx.Err() == nil && len(found) > 1 { // continue with the other jobs
				logMessage(e, "gramcluster: job %.12s: %v", digest, err)
				bad = true
				continue
			}
			if err != nil {
				return err
			}
			st, err := work.StatusOf(ctx, j, s.check, func(bad error) { logMessage(e, "gramcluster: %v", bad) })
			if err != nil {
				return err
			}
			stored, tasks = stored+st.NumTasks-len(st.Missing()), tasks+st.NumTasks
			if err := s.print(e, j, st); err != nil {
				return err
			}
		}
		if before < 0 {
			before = stored
		}
		switch done := !s.watch || stored == tasks; {
		case done && bad:
			return cli.ErrReported
		case done:
			return nil
		}
		if s.watch && !s.flags.JSON {
			logUnlessQuiet(e, "%s", formatRemaining(stored-before, tasks-stored, time.Since(begin)))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.interval):
		}
	}
}

func (s *statusFlags) print(e *cli.Env, j *job.Job, st *work.Status) error {
	if s.flags.JSON {
		return json.NewEncoder(e.Stdout).Encode(st)
	}
	percent := 100.0
	if st.NumTasks > 0 {
		percent = 100 * float64(st.NumTasks-len(st.Missing())) / float64(st.NumTasks)
	}
	line := fmt.Sprintf("%.12s  %-10s %9d of %d tasks  %5.1f%%  %s", j.Digest, j.Kind, st.NumTasks-len(st.Missing()),
		st.NumTasks, percent, report.FormatBytes(st.Bytes))
	if st.NumDamaged+st.NumRewritten > 0 {
		line += fmt.Sprintf("  %d damaged, %d rewritten", st.NumDamaged, st.NumRewritten)
	}
	_, err := fmt.Fprintln(e.Stdout, line)
	return err
}

// formatRemaining formats the number of remaining tasks and, if done > 0, the remaining time.
func formatRemaining(done, left int, took time.Duration) string {
	if done <= 0 {
		return fmt.Sprintf("%d tasks left", left)
	}
	rest := time.Duration(float64(took) / float64(done) * float64(left))
	return fmt.Sprintf("%d tasks left, about %v", left, max(rest.Round(time.Second), time.Second))
}
