// Package work runs tasks, gathers their results, and reports the status of jobs.
package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
)

// TaskReport is the outcome of a task, printed as a line of JSON.
type TaskReport struct {
	Job     string  `json:"job"`
	Task    int     `json:"task"`
	State   string  `json:"state"` // StateDone, StateExists or StateFailed
	Reason  string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// States of a task.
const (
	StateDone   = "done"   // the result has been stored
	StateExists = "there"  // the result already existed
	StateFailed = "failed" // the task failed, and may be run again
)

// Runner runs tasks one after another. Consecutive tasks of a job share a worker. A Runner must not
// be used concurrently.
type Runner struct {
	host  *job.Host
	kinds []job.Kind
	out   *json.Encoder

	job        *job.Job
	worker     job.Worker
	numFailed  int
	failedJobs map[string]*failedJob // jobs that failed to open, indexed by digest
}

type failedJob struct {
	attemptsLeft int
	err          error
}

// maxOpenAttempts is the maximum number of attempts to open a job whose inputs can't be read. After
// other errors, such as insufficient memory, the job isn't opened again.
const maxOpenAttempts = 3

// NewRunner returns a runner for jobs of these kinds. It writes a [TaskReport] per task to w.
func NewRunner(h *job.Host, kinds []job.Kind, w io.Writer) *Runner {
	return &Runner{host: h, kinds: kinds, out: json.NewEncoder(w), failedJobs: map[string]*failedJob{}}
}

// NumFailed returns the number of failed tasks, including invalid task lines.
func (r *Runner) NumFailed() int { return r.numFailed }

// Run runs a task unless its result exists. If the task fails, Run reports the failure and returns
// nil. Run returns an error only if it can't write the report or when ctx is done.
func (r *Runner) Run(ctx context.Context, l job.TaskLine) error {
	begin := time.Now()
	state, err := r.run(ctx, l)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	rep := TaskReport{Job: l.Job, Task: l.Task, State: state}
	if err != nil {
		rep.State, rep.Reason = StateFailed, err.Error()
		r.numFailed++
	}
	rep.Seconds = float64(time.Since(begin).Round(time.Microsecond)) / float64(time.Second)
	return r.out.Encode(rep)
}

// ReportInvalid reports an invalid line as a failed task. number is the line number.
func (r *Runner) ReportInvalid(number int, err error) error {
	r.numFailed++
	return r.out.Encode(TaskReport{Task: -1, State: StateFailed, Reason: fmt.Sprintf("task line %d: %v", number, err)})
}

func (r *Runner) run(ctx context.Context, l job.TaskLine) (state string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			r.job, r.worker = nil, nil // the worker's state is unknown after a panic
		}
	}()
	if r.job == nil || r.job.Digest != l.Job {
		j, err := r.host.Load(ctx, l.Job)
		if err != nil {
			return "", err
		}
		if err := r.Close(); err != nil {
			return "", err
		}
		r.job = j
	}
	j := r.job
	if l.Task >= j.NumTasks {
		return "", fmt.Errorf("task must be between 0 and %d, got %d", j.NumTasks-1, l.Task)
	}
	name := j.ResultName(l.Task)
	switch _, err := r.host.Store.Check(ctx, name, nil); {
	case err == nil:
		return StateExists, nil
	case !errors.Is(err, store.ErrMissing):
		return "", err
	}
	if err := j.CheckISA(); err != nil {
		return "", err
	}
	if r.worker == nil {
		if r.worker, err = r.open(ctx, j); err != nil {
			return "", err
		}
	}
	parts, err := r.worker.Run(ctx, l.Task)
	if err != nil {
		return "", err
	}
	there, err := r.host.Store.Put(ctx, name, parts...)
	if err != nil {
		return "", err
	}
	if there {
		return StateExists, nil // meanwhile, another worker has stored the result
	}
	return StateDone, nil
}

// open creates a worker for a job. After too many failures, it returns the last error immediately.
func (r *Runner) open(ctx context.Context, j *job.Job) (w job.Worker, err error) {
	s := r.failedJobs[j.Digest]
	if s == nil {
		s = &failedJob{attemptsLeft: maxOpenAttempts}
	}
	if s.attemptsLeft == 0 {
		return nil, fmt.Errorf("%w (not retried)", s.err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err == nil {
			delete(r.failedJobs, j.Digest)
			return
		}
		w = nil
		if s.attemptsLeft--; !job.IsReadError(err) {
			s.attemptsLeft = 0
		}
		s.err = err
		r.failedJobs[j.Digest] = s
	}()
	k, err := job.FindKind(r.kinds, j.Kind)
	if err != nil {
		return nil, err
	}
	return k.Open(ctx, j)
}

// Close closes the current worker, if any.
func (r *Runner) Close() error {
	w := r.worker
	r.job, r.worker = nil, nil
	if w == nil {
		return nil
	}
	return w.Close()
}
