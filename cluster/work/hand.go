package work

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
)

// Hand distributes the tasks of jobs to other processes for a [job.Driver], one job after another.
type Hand struct {
	// Out starts tasks, and returns when no more results are expected. Do starts missing tasks
	// again, even after an error of Out.
	Out func(ctx context.Context, j *job.Job, tasks []int) error

	// Say prints errors. Begin is called once per job, with the number of the job, from 1, and the
	// number of missing tasks.
	Say   func(format string, args ...any)
	Begin func(j *job.Job, n, tasks int)

	last string // digest of the last job
	jobs int
}

// tries is the maximum number of times that missing tasks are started.
const tries = 3

// Do returns when all results of a job exist. If Do is called again for the same job, it reads and
// checks all results, because a result was damaged. Do fails if the store fails, if tasks are
// missing after three attempts, or when ctx is done.
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
			return fmt.Errorf("job %.12s: %d of %d tasks are missing after %d attempts, starting with %v; run it again "+
				"to continue", j.Digest, len(missing), j.Tasks, tries, job.Line{Job: j.Digest, Task: missing[0]})
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

// Here implements Hand.Out by running the tasks in this process. It passes the errors of failed
// tasks to say.
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
