package work

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
)

// Hand has the tasks of jobs done by others, as a [job.Driver] asks for them, one job after the other.
type Hand struct {
	// Out has tasks of a job done, and returns when nothing more is to be expected. What it leaves is
	// handed out again, with an error or without.
	Out func(ctx context.Context, j *job.Job, tasks []int) error

	// Say is told what goes wrong, and Begin how many tasks of the n-th job, from 1, are to be done.
	Say   func(format string, args ...any)
	Begin func(j *job.Job, n, tasks int)

	last string // job
	jobs int
}

// tries is how often what is missing is handed out.
const tries = 3

// Do returns when all results of a job are there. Asked for the same job again, since one of them is
// damaged, it reads all. Errors: those of the store, tasks that are missing after three tries, the end
// of ctx.
func (h *Hand) Do(ctx context.Context, j *job.Job) error {
	again := h.last == j.Digest
	if h.last = j.Digest; !again {
		h.jobs++
	}
	for try := 0; ; try++ {
		s, err := StatusOf(ctx, j, again, func(bad error) { h.Say("%v", bad) })
		if err != nil {
			return err
		}
		missing := s.Missing()
		if try == 0 {
			h.Begin(j, h.jobs, len(missing))
		}
		if len(missing) == 0 {
			return nil
		}
		if try == tries {
			return fmt.Errorf("job %.12s: %d of %d tasks are missing after %d tries, the first is %v: started again, it "+
				"goes on", j.Digest, len(missing), j.Tasks, tries, job.Line{Job: j.Digest, Task: missing[0]})
		}
		err = h.Out(ctx, j, missing)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			h.Say("job %.12s: %v", j.Digest, err)
		}
	}
}

// Here has tasks of a job done in this process, for Hand.Out. say is given reports of those that fail.
func Here(
	ctx context.Context, kinds []job.Kind, j *job.Job, tasks []int, say func(format string, args ...any),
) error {
	var report bytes.Buffer
	r := NewRunner(j.Host, kinds, &report)
	for _, t := range tasks {
		report.Reset()
		failed := r.Failed()
		if err := r.Do(ctx, job.Line{Job: j.Digest, Task: t}); err != nil {
			return err
		}
		if r.Failed() > failed {
			say("%s", bytes.TrimSpace(report.Bytes()))
		}
	}
	return r.Close()
}
