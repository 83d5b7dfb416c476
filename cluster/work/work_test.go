package work_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/musttest"
)

// shut is a kind of job that may fail to open.
type shut struct {
	opened int
	open   func(ctx context.Context, j *job.Job) error
}

func (s *shut) kind() job.Kind { return job.Kind{Name: "shut", Open: s.Open} }
func (*shut) Run(_ context.Context, task int) ([][]byte, error) {
	return [][]byte{fmt.Append(nil, task)}, nil
}
func (*shut) Close() error { return nil }
func (s *shut) Open(ctx context.Context, j *job.Job) (job.Worker, error) {
	s.opened++
	return s, s.open(ctx, j)
}

// A job that fails to open is opened only once for all its tasks, in any order of tasks. If its
// inputs can't be read, it is opened three times.
func TestShut(t *testing.T) {
	reads := 0
	unreadable := 1 << 30
	s := store.New(&storetest.FaultyBucket{Bucket: &storetest.MemoryBucket{},
		Decide: func(op, key string) storetest.Fault {
			if op == storetest.OpOpen && strings.HasPrefix(key, job.FilePrefix) {
				if reads++; reads <= unreadable {
					return storetest.FailBefore
				}
			}
			return storetest.NoFault
		}})
	h := &job.Host{Store: s, Workers: 1}
	input := []byte("input")
	musttest.Get(s.Put(t.Context(), job.FilePrefix+job.Digest(input), input))(t)
	jobs := map[bool]*job.Job{}
	for _, other := range []bool{false, true} {
		j := musttest.Get(h.Save(t.Context(), job.Description{Version: job.Version, Kind: "shut", ISA: "generic",
			NumTasks: 20,
			Spec:     json.RawMessage(fmt.Sprint(other))}))(t)
		jobs[other] = j
	}
	read := func(ctx context.Context, j *job.Job) error {
		_, err := j.Host.File(ctx, job.Digest(input))
		return err
	}
	for _, c := range []struct {
		name           string
		open           func(context.Context, *job.Job) error
		unreadable     int
		opened, failed int // opened and failed tasks of a job with 20 tasks
	}{
		{"memory", func(context.Context, *job.Job) error { return errors.New("too little memory") }, 0, 1, 20},
		{"panic", func(context.Context, *job.Job) error { panic("here") }, 0, 1, 20},
		{"store", read, 1 << 30, 3, 20},
		{"store for a moment", read, 2, 3, 2},
	} {
		reads, unreadable = 0, c.unreadable
		k, out := &shut{open: c.open}, bytes.Buffer{}
		r := work.NewRunner(h, []job.Kind{k.kind()}, &out)
		for task := range 20 {
			musttest.NoError(t, r.Run(t.Context(), job.TaskLine{Job: jobs[false].Digest, Task: task}))
		}
		if k.opened != c.opened || r.NumFailed() != c.failed {
			t.Errorf("%s: opened %d times, %d tasks failed, expected %d and %d:\n%s", c.name, k.opened, r.NumFailed(), c.opened,
				c.failed, &out)
		}
		if n := strings.Count(out.String(), "not retried"); n != max(c.failed-c.opened, 0) {
			t.Errorf("%s: %d tasks say that nothing was tried:\n%s", c.name, n, &out)
		}
	}
	reads, unreadable = 0, 0
	k := &shut{open: func(_ context.Context, j *job.Job) error {
		if j.Digest == jobs[true].Digest {
			return nil
		}
		return errors.New("never")
	}}
	var out bytes.Buffer
	r := work.NewRunner(h, []job.Kind{k.kind()}, &out)
	for task := range 40 {
		musttest.NoError(t, r.Run(t.Context(), job.TaskLine{Job: jobs[task%2 == 0].Digest, Task: task / 2}))
	}
	if k.opened > 21 {
		t.Errorf("two jobs in turns: opened %d times", k.opened)
	}
}
