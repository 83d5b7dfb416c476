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

// Report is the outcome of a task, printed as a line of JSON.
type Report struct {
	Job     string  `json:"job"`
	Task    int     `json:"task"`
	State   string  `json:"state"` // Done, There or Failed
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// States of a task.
const (
	Done   = "done"   // the result has been stored
	There  = "there"  // the result already existed
	Failed = "failed" // the task may be tried again
)

// Runner runs tasks one after another. Consecutive tasks of a job share a worker. A Runner must not
// be used concurrently.
type Runner struct {
	host  *job.Host
	kinds []job.Kind
	out   *json.Encoder

	job    *job.Job
	worker job.Worker
	failed int
	shut   map[string]*shut // jobs that failed to open, indexed by digest
}

// shut is a job that failed to open.
type shut struct {
	tries int // remaining attempts
	err   error
}

// openings is the maximum number of attempts to open a job whose inputs can't be read. After other
// errors, such as insufficient memory, the job isn't opened again.
const openings = 3

// NewRunner returns a runner for jobs of these kinds. It writes a [Report] per task to w.
func NewRunner(h *job.Host, kinds []job.Kind, w io.Writer) *Runner {
	return &Runner{host: h, kinds: kinds, out: json.NewEncoder(w), shut: map[string]*shut{}}
}

// Failed returns the number of tasks that have failed.
func (r *Runner) Failed() int { return r.failed }

// Do runs a task unless its result exists. If the task fails, Do reports the failure and returns
// nil. It returns an error only if it can't write the report or when ctx is done.
func (r *Runner) Do(ctx context.Context, l job.Line) error {
	begin := time.Now()
	state, err := r.do(ctx, l)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	rep := Report{Job: l.Job, Task: l.Task, State: state}
	if err != nil {
		rep.State, rep.Why = Failed, err.Error()
		r.failed++
	}
	rep.Seconds = float64(time.Since(begin).Round(time.Microsecond)) / float64(time.Second)
	return r.out.Encode(rep)
}

// Bad reports an invalid line as a failed task. number is the line number.
func (r *Runner) Bad(number int, err error) error {
	r.failed++
	return r.out.Encode(Report{Task: -1, State: Failed, Why: fmt.Sprintf("task line %d: %v", number, err)})
}

func (r *Runner) do(ctx context.Context, l job.Line) (state string, err error) {
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
	if l.Task >= j.Tasks {
		return "", fmt.Errorf("task must be between 0 and %d, got %d", j.Tasks-1, l.Task)
	}
	name := j.ResultName(l.Task)
	switch _, err := r.host.Store.Check(ctx, name, nil); {
	case err == nil:
		return There, nil
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
	parts, err := r.worker.Do(ctx, l.Task)
	if err != nil {
		return "", err
	}
	there, err := r.host.Store.Put(ctx, name, parts...)
	if err != nil {
		return "", err
	}
	if there {
		return There, nil // another worker stored the result first
	}
	return Done, nil
}

// open creates a worker for a job. After too many failures, it returns the last error immediately.
func (r *Runner) open(ctx context.Context, j *job.Job) (w job.Worker, err error) {
	s := r.shut[j.Digest]
	if s == nil {
		s = &shut{tries: openings}
	}
	if s.tries == 0 {
		return nil, fmt.Errorf("%w (not retried)", s.err)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if err == nil {
			delete(r.shut, j.Digest)
			return
		}
		w = nil
		if s.tries--; !job.Unread(err) {
			s.tries = 0
		}
		s.err = err
		r.shut[j.Digest] = s
	}()
	k, err := job.KindOf(r.kinds, j.Kind)
	if err != nil {
		return nil, err
	}
	return k.Open(ctx, j)
}

// Close closes the current worker.
func (r *Runner) Close() error {
	w := r.worker
	r.job, r.worker = nil, nil
	if w == nil {
		return nil
	}
	return w.Close()
}
