package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/internal/musttest"
)

// fake is a kind of job, and its worker, with functions set by a test.
type fake struct {
	opens, closes int
	do            func(task int) ([][]byte, error)
	gather        error
}

func (f *fake) kind() job.Kind { return job.Kind{Name: "fake", Open: f.Open, Gather: f.Gather} }

func (f *fake) Open(context.Context, *job.Job) (job.Worker, error) {
	f.opens++
	return f, nil
}

func (f *fake) Run(_ context.Context, task int) ([][]byte, error) {
	if f.do != nil {
		return f.do(task)
	}
	return [][]byte{{byte(task)}, []byte(" done")}, nil
}

func (f *fake) Close() error { f.closes++; return nil }

func (f *fake) Gather(ctx context.Context, j *job.Job, _ *job.Output) error {
	for task := range j.NumTasks {
		if _, err := j.Result(ctx, task, nil); err != nil {
			return err
		}
	}
	return f.gather
}

// site is a store with a job of three tasks, and a runner.
type site struct {
	t       *testing.T
	fake    *fake
	bucket  *storetest.MemoryBucket
	job     *job.Job
	reports bytes.Buffer
	runner  *Runner
}

func newSite(t *testing.T) *site {
	s := &site{t: t, fake: &fake{}, bucket: &storetest.MemoryBucket{}}
	s.job = s.save(string(asm.BestKernels().ISA), 3)
	s.runner = NewRunner(s.job.Host, []job.Kind{s.fake.kind()}, &s.reports)
	return s
}

func (s *site) save(isa string, tasks int) *job.Job {
	h := &job.Host{Store: store.New(s.bucket), Workers: 1}
	return musttest.Get(h.Save(s.t.Context(), job.Description{
		Version: job.Version, Kind: "fake", ISA: isa, NumTasks: tasks, Spec: json.RawMessage(`{}`),
	}))(s.t)
}

func (s *site) does(j *job.Job, task int, state, why string) {
	s.t.Helper()
	s.reports.Reset()
	musttest.NoError(s.t, s.runner.Run(s.t.Context(), job.TaskLine{Job: j.Digest, Task: task}))
	var r TaskReport
	musttest.NoError(s.t, json.Unmarshal(s.reports.Bytes(), &r))
	if r.Job != j.Digest || r.Task != task || r.State != state || !strings.Contains(r.Reason, why) ||
		(why == "") != (r.Reason == "") {
		s.t.Errorf("%+v, expected %s with %q", r, state, why)
	}
}

// A task runs once. An invalid or impossible task fails, and other tasks continue.
func TestDo(t *testing.T) {
	s := newSite(t)
	s.does(s.job, 0, StateDone, "")
	s.does(s.job, 0, StateExists, "")
	s.does(s.job, 3, StateFailed, "task must be between 0 and 2, got 3")
	s.does(s.save("nonsense", 1), 0, StateFailed, "needs instruction set nonsense")
	s.does(&job.Job{Digest: strings.Repeat("0", 64)}, 0, StateFailed, "missing")
	if s.runner.NumFailed() != 3 || s.fake.opens != 1 {
		t.Errorf("%d tasks failed and %d workers were opened, expected 3 and 1", s.runner.NumFailed(), s.fake.opens)
	}
	// Opening another job closes the previous worker. Closing the runner closes the last worker.
	other := s.save(string(asm.BestKernels().ISA), 2)
	s.does(other, 0, StateDone, "")
	if s.fake.closes != 1 {
		t.Errorf("%d workers are closed, expected that of the first job", s.fake.closes)
	}
	if err := errors.Join(s.runner.Close(), s.runner.Close()); err != nil || s.fake.closes != 2 {
		t.Errorf("%d workers are closed, error %v, expected 2", s.fake.closes, err)
	}
	// Another worker may have written the result in the meantime.
	s.fake.do = func(task int) ([][]byte, error) {
		_, err := s.job.Host.Store.Put(t.Context(), s.job.ResultName(task), []byte("same"))
		return [][]byte{[]byte("same")}, err
	}
	s.does(s.job, 1, StateExists, "")
	s.reports.Reset()
	if err := s.runner.ReportInvalid(7, io.ErrUnexpectedEOF); err != nil ||
		!strings.Contains(s.reports.String(), "task line 7") ||
		s.runner.NumFailed() != 4 {
		t.Errorf("a bad line: %s, error %v, %d failed, expected 4", &s.reports, err, s.runner.NumFailed())
	}
}

// After a task fails, its worker is reused. After a panic, it isn't.
func TestDoAfterFailures(t *testing.T) {
	s := newSite(t)
	s.fake.do = func(int) ([][]byte, error) { panic("at once") }
	s.does(s.job, 0, StateFailed, "panic: at once")
	s.fake.do = func(int) ([][]byte, error) { return nil, errors.New("this one") }
	s.does(s.job, 0, StateFailed, "this one")
	s.fake.do = nil
	s.does(s.job, 0, StateDone, "")
	if s.fake.opens != 2 {
		t.Errorf("%d workers were opened, expected another one after the panic", s.fake.opens)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("its end")
	s.fake.do = func(int) ([][]byte, error) { cancel(cause); return nil, errors.New("interrupted") }
	s.reports.Reset()
	err := s.runner.Run(ended, job.TaskLine{Job: s.job.Digest, Task: 1})
	if !errors.Is(err, cause) || s.reports.Len() > 0 {
		t.Errorf("at the end of the context: error %v, %q is reported, expected the cause and nothing", err, &s.reports)
	}
}

// unreadable is a bucket whose objects fail to open if their key contains a text.
type unreadable struct {
	*storetest.MemoryBucket
	text string
}

var errUnreadable = errors.New("the network is down")

func (u unreadable) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if strings.Contains(key, u.text) {
		return nil, 0, errUnreadable
	}
	return u.MemoryBucket.Open(ctx, key)
}

// A task fails if the store can't report whether its result exists.
func TestDoWithoutStore(t *testing.T) {
	s := newSite(t)
	h := &job.Host{Store: store.New(unreadable{s.bucket, s.job.ResultName(1)}), Workers: 1}
	s.runner = NewRunner(h, []job.Kind{s.fake.kind()}, &s.reports)
	s.does(s.job, 1, StateFailed, errUnreadable.Error())
	s.does(s.job, 0, StateDone, "")
	s.does(s.job, 1, StateFailed, errUnreadable.Error())
}

func (s *site) rot(task int) {
	key := s.job.ResultName(task) + ".a0"
	b := bytes.Clone(s.bucket.Get(key))
	b[len(b)-1] ^= 1
	s.bucket.Set(key, b)
}

// Status is computed from names, or from the contents of all objects.
func TestStatus(t *testing.T) {
	s := newSite(t)
	s.does(s.job, 0, StateDone, "")
	s.rot(0)
	s.does(s.job, 0, StateDone, "") // again
	s.does(s.job, 2, StateDone, "")
	s.rot(2)
	for _, name := range []string{"000000003", "1", "x", "0000000001"} { // not results of the job
		musttest.Get(s.job.Host.Store.Put(t.Context(), job.JobResultsPrefix(s.job.Digest)+name, []byte("?")))(t)
	}
	for check, missing := range map[bool][]int{false: {1}, true: {1, 2}} {
		var bad []error
		got := musttest.Get(StatusOf(t.Context(), s.job, check, func(err error) { bad = append(bad, err) }))(t)
		damaged, reports := 0, 0
		if check {
			damaged, reports = 1, 2
		}
		if got.NumStored != 2 || got.NumRewritten != 1 || got.NumDamaged != damaged || len(bad) != reports ||
			!slices.Equal(got.Missing(), missing) || got.NumTasks != 3 || got.Bytes < 3*6 {
			t.Errorf("check %v: %+v, %d reports, expected 2 of 3 stored, one of them again, %d damaged, tasks %d missing",
				check, got, len(bad), damaged, missing)
		}
	}
	down := *s.job
	down.Host = &job.Host{Store: store.New(unreadable{s.bucket, s.job.ResultName(2)})}
	musttest.WantError(StatusOf(t.Context(), &down, true, func(error) {}))(t, "a result that can't be read", errUnreadable)
}

// Gather reports all missing results, with reasons if known. Otherwise it returns the error of the
// kind's Gather.
func TestGather(t *testing.T) {
	s := newSite(t)
	gather := func() error { return Gather(t.Context(), []job.Kind{s.fake.kind()}, s.job, &job.Output{}) }
	s.does(s.job, 1, StateDone, "")
	var m *MissingError
	if err := gather(); !errors.As(err, &m) || !slices.Equal(m.Tasks, []int{0, 2}) || m.NumTasks != 3 || m.Err != nil {
		t.Errorf("error %v, expected tasks 0 and 2", err)
	} else if lines := m.TaskLines(1); len(lines) != 1 || lines[0] != (job.TaskLine{Job: s.job.Digest, Task: 0}) {
		t.Errorf("lines %v, expected that of task 0", lines)
	} else if len(m.TaskLines(9)) != 2 {
		t.Errorf("lines %v, expected both", m.TaskLines(9))
	}
	s.does(s.job, 0, StateDone, "")
	s.does(s.job, 2, StateDone, "")
	musttest.NoError(t, gather())
	s.fake.gather = errors.New("the disk is full")
	if err := gather(); !errors.Is(err, s.fake.gather) || errors.As(err, &m) && m == nil {
		t.Errorf("error %v, expected that of the kind", err)
	}
	s.fake.gather = fmt.Errorf("a model: %w", store.ErrMissing) // although all results are intact
	musttest.WantError(gather())(t, "a missing object", store.ErrMissing)
	s.rot(0)
	s.rot(2)
	m = nil
	if err := gather(); !errors.As(err, &m) || !slices.Equal(m.Tasks, []int{0, 2}) ||
		strings.Count(m.Error(), "damaged") != 2 {
		t.Errorf("error %v, expected tasks 0 and 2, both damaged", err)
	}
}

// Jobs are found by a prefix of their digest.
func TestFind(t *testing.T) {
	s := newSite(t)
	find := func(prefix, want string) {
		t.Helper()
		musttest.WantError(FindJob(t.Context(), s.job.Host, prefix))(t, fmt.Sprintf("-job %q", prefix), want)
	}
	find("xyz", "must be the first hexadecimal digits")
	find(s.job.Digest+"0", "must be the first hexadecimal digits")
	find(strings.Repeat("0", 64), "no such job")
	musttest.Get(s.job.Host.Store.Put(t.Context(), job.DescriptionPrefix+"notes", []byte("?")))(t) // not a job
	for _, prefix := range []string{"", s.job.Digest[:6], s.job.Digest} {
		if j, err := FindJob(t.Context(), s.job.Host, prefix); err != nil || j.Digest != s.job.Digest {
			t.Errorf("-job %q: error %v", prefix, err)
		}
	}
	s.save("another", 1)
	find("", "the store has 2 jobs")
}
