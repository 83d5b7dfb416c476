package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/cli"
)

func workCommand(stdin io.Reader) *cli.Command {
	return &cli.Command{
		Name: "work", Summary: "run tasks read from standard input, or a share of a job's tasks",
		Help: `
Reads task lines, as plan and gather -missing print them, and does those whose results aren't in the
store yet. Or, with -job, does all tasks of a job, or the share -shard I/N of them: tasks I, I+N, …,
I from 0. -shard auto/N takes I from JOB_COMPLETION_INDEX (Kubernetes), or from SLURM_ARRAY_TASK_ID
modulo N: any N numbers in a row do all shares, and an element that is run again does its own.

Prints a line a task: "state" is done (its result is complete in the store), there (it was) or
failed, and then "why". Exit status 0 where none failed, 1 otherwise: the same lines may be tried
again, by any machine. It may be killed at any moment, and any number of them may do the same tasks.`,
		Examples: `
gramcluster work -store run < tasks.jsonl
gramcluster gather -store run -missing | gramcluster work -store run
gramcluster work -store run -job 3f2a -shard 0/4`,
		NoJSON: true,
		Setup: func(f *cli.Flags) cli.RunFunc {
			w := &workFlags{stdin: stdin}
			f.Usage = "gramcluster work -store URL [-job JOB [-shard I/N]] [flags]"
			w.declareStore(f)
			f.StringVar(&w.job, "job", "",
				"run the tasks of the job whose digest begins with `JOB`, instead of tasks from standard input")
			f.StringVar(&w.shard, "shard", "", "run only part `I/N` of the job's tasks, such as 0/4")
			w.declareComputing(f)
			w.declareCache(f)
			return w.run
		},
	}
}

type workFlags struct {
	hostFlags
	stdin      io.Reader
	job, shard string
}

func (w *workFlags) run(ctx context.Context, e *cli.Env) error {
	first, step := 0, 1
	if w.shard != "" {
		if w.job == "" {
			return cli.Usagef("-shard requires -job")
		}
		var err error
		if first, step, err = parseShard(w.shard, os.Getenv); err != nil {
			return cli.UsageError{Err: err}
		}
	}
	if w.job == "" {
		if err := w.await(ctx); err != nil { // in `plan | work`, plan creates the store first
			return err
		}
	}
	h, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer h.Store.Close()
	r := work.NewRunner(h, jobs.Kinds, e.Stdout)
	if w.job == "" {
		err = w.readLines(ctx, e, r)
	} else {
		var j *job.Job
		if j, err = work.FindJob(ctx, h, w.job); err == nil {
			for t := first; t < j.NumTasks && err == nil; t += step {
				err = r.Run(ctx, job.TaskLine{Job: j.Digest, Task: t})
			}
		}
	}
	if err == nil {
		err = r.Close()
	}
	if err == nil && r.NumFailed() > 0 {
		err = cli.ErrReported
	}
	return err
}

// await waits for the first byte or the end of standard input.
func (w *workFlags) await(ctx context.Context) error {
	in, begun := bufio.NewReader(w.stdin), make(chan struct{})
	w.stdin = in
	go func() {
		defer close(begun)
		_, _ = in.Peek(1) // ReadTaskLines reports the error
	}()
	select {
	case <-begun:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readLines runs the tasks listed on standard input. A goroutine reads the lines, so that readLines
// can return while a read blocks.
func (w *workFlags) readLines(ctx context.Context, e *cli.Env, r *work.Runner) error {
	type line struct {
		number int
		task   job.TaskLine
		err    error
	}
	lines, ended := make(chan line), make(chan error, 1)
	go func() {
		ended <- job.ReadTaskLines(ctx, w.stdin, func(number int, l job.TaskLine, err error) error {
			select {
			case lines <- line{number, l, err}:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	for any := false; ; {
		var err error
		select {
		case l := <-lines:
			any = true
			if l.err != nil {
				err = r.ReportInvalid(l.number, l.err)
			} else {
				err = r.Run(ctx, l.task)
			}
			if err != nil {
				return err
			}
		case err := <-ended:
			if err == nil && !any {
				logUnlessQuiet(e, "gramcluster work: standard input has no task lines, so there is nothing to do")
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// parseShard parses -shard I/N. If I is auto, the scheduler's environment variables determine I.
func parseShard(s string, env func(string) string) (first, step int, err error) {
	of, count, _ := strings.Cut(s, "/")
	if of == "auto" {
		switch index, array := env("JOB_COMPLETION_INDEX"), env("SLURM_ARRAY_TASK_ID"); {
		case index != "":
			of = index
		case array != "":
			// Use the ID modulo N, because Slurm's other variables change if tasks are resubmitted.
			of = array
			if n, err := strconv.Atoi(count); err == nil && n > 0 {
				if id, err := strconv.Atoi(array); err == nil {
					of = strconv.Itoa(id % n)
				}
			}
		default:
			return 0, 0, fmt.Errorf("-shard %s requires JOB_COMPLETION_INDEX or SLURM_ARRAY_TASK_ID to be set", s)
		}
	}
	first, err = strconv.Atoi(of)
	step, err2 := strconv.Atoi(count)
	if err != nil || err2 != nil || step < 1 || first < 0 || first >= step {
		return 0, 0, fmt.Errorf("-shard must be I/N with I from 0 to N-1, such as 0/4, got %s (%s/%s)", s, of, count)
	}
	return first, step, nil
}
