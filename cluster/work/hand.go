package work

import (
	"bytes"
	"context"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
)

// Dispatcher runs the jobs of a [job.Driver] one after another. RunTasks may run their tasks in
// other processes.
type Dispatcher struct {
	// RunTasks starts tasks, and returns when no more results are expected. Run calls it again for
	// missing tasks, even after an error.
	RunTasks func(ctx context.Context, j *job.Job, tasks []int) error

	// Logf prints an error message.
	Logf func(format string, args ...any)

	// OnStart reports that Run begins job number n, counted from 1. tasks is the number of missing
	// tasks.
	OnStart func(j *job.Job, n, tasks int)

	lastDigest string // digest of the last job that ran
	numJobs    int
}

// maxStarts is the maximum number of times that missing tasks are started.
const maxStarts = 3

// Run runs the missing tasks of a job until all results exist. If Run is called again for the same
// job, it reads and checks all results, because a result was damaged. Run fails if the store fails,
// if tasks are missing after maxStarts attempts, or when ctx is done.
func (h *Dispatcher) Run(ctx context.Context, j *job.Job) error {
	again := h.lastDigest == j.Digest
	if h.lastDigest = j.Digest; !again {
		h.numJobs++
	}
	for try := 0; ; try++ {
		s, err := StatusOf(ctx, j, again, func(bad error) { h.Logf("%v", bad) })
		if err != nil {
			return err
		}
		missing := s.Missing()
		if try == 0 {
			h.OnStart(j, h.numJobs, len(missing))
		}
		if len(missing) == 0 {
			return nil
		}
		if try == maxStarts {
			return fmt.Errorf("job %.12s: results of %d of %d tasks are missing after %d attempts (first: %v); run it again "+
				"to continue", j.Digest, len(missing), j.NumTasks, maxStarts, job.TaskLine{Job: j.Digest, Task: missing[0]})
		}
		err = h.RunTasks(ctx, j, missing)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			h.Logf("job %.12s: %v", j.Digest, err)
		}
	}
}

// RunLocal runs the tasks in this process, for use in Dispatcher.RunTasks. say is called with a
// report of each failed task.
func RunLocal(
	ctx context.Context, kinds []job.Kind, j *job.Job, tasks []int, say func(format string, args ...any),
) error {
	var report bytes.Buffer
	r := NewRunner(j.Host, kinds, &report)
	for _, t := range tasks {
		report.Reset()
		failed := r.NumFailed()
		if err := r.Run(ctx, job.TaskLine{Job: j.Digest, Task: t}); err != nil {
			return err
		}
		if r.NumFailed() > failed {
			say("%s", bytes.TrimSpace(report.Bytes()))
		}
	}
	return r.Close()
}
