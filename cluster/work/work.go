// Package work does tasks, puts their results together, and says how far a job is.
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

// Report is what a task came to, one line of JSON each.
type Report struct {
	Job     string  `json:"job"`
	Task    int     `json:"task"`
	State   string  `json:"state"` // done, there or failed
	Why     string  `json:"why,omitempty"`
	Seconds float64 `json:"seconds"`
}

// The states of a task.
const (
	Done   = "done"   // its result is complete in the store
	There  = "there"  // it was already
	Failed = "failed" // it may be done again
)

// Runner does tasks one after the other. It keeps what the tasks of a job have in common until it
// meets one of another job. It isn't for concurrent use.
type Runner struct {
	host  *job.Host
	kinds []job.Kind
	out   *json.Encoder

	job    *job.Job
	worker job.Worker
	failed int
	shut   map[string]*shut // by job
}

// shut is a job that can't be opened.
type shut struct {
	tries int // that are left
	err   error
}

// openings is how often a job is opened whose inputs can't be read. Other errors are the job's own, such
// as too little memory, and come back whatever is tried.
const openings = 3

// NewRunner returns a runner of jobs of these kinds that writes a [Report] for each task to w.
func NewRunner(h *job.Host, kinds []job.Kind, w io.Writer) *Runner {
	return &Runner{host: h, kinds: kinds, out: json.NewEncoder(w), shut: map[string]*shut{}}
}

// Failed returns how many tasks have failed.
func (r *Runner) Failed() int { return r.failed }

// Do does a task unless its result is there. A task that fails is no error: its report says so.
// Errors are those of writing the report, and the end of ctx.
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

// Bad counts and reports a line that is no task.
func (r *Runner) Bad(number int, err error) error {
	r.failed++
	return r.out.Encode(Report{Task: -1, State: Failed, Why: fmt.Sprintf("task line %d: %v", number, err)})
}

func (r *Runner) do(ctx context.Context, l job.Line) (state string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			r.job, r.worker = nil, nil // whose state nobody knows
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
		return "", fmt.Errorf("task %d, the job has tasks from 0 to %d", l.Task, j.Tasks-1)
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
		return There, nil // another worker was as quick
	}
	return Done, nil
}

// open opens a job, unless that is known to fail: each of its tasks would take as long as the first.
func (r *Runner) open(ctx context.Context, j *job.Job) (w job.Worker, err error) {
	s := r.shut[j.Digest]
	if s == nil {
		s = &shut{tries: openings}
	}
	if s.tries == 0 {
		return nil, fmt.Errorf("%w (as before, and not tried again)", s.err)
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

// Close gives back what the last job's tasks had in common.
func (r *Runner) Close() error {
	w := r.worker
	r.job, r.worker = nil, nil
	if w == nil {
		return nil
	}
	return w.Close()
}
