package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
)

// toy is a cheap kind of job: the result of a task is its number and the job's input.
type toy struct {
	gathered *[]byte // output of Gather
}

func (k toy) kind() job.Kind { return job.Kind{Name: "toy", Open: k.Open, Gather: k.Gather} }

type toySpec struct {
	Input string `json:"input"` // digest
}

func (toy) Open(ctx context.Context, j *job.Job) (job.Worker, error) {
	var s toySpec
	if err := j.DecodeSpec(&s); err != nil {
		return nil, err
	}
	input, err := j.Host.File(ctx, s.Input)
	return toyWorker(input), err
}

type toyWorker []byte

func (w toyWorker) Run(_ context.Context, task int) ([][]byte, error) {
	return [][]byte{fmt.Append(nil, task), w}, nil
}

func (toyWorker) Close() error { return nil }

func (k toy) Gather(ctx context.Context, j *job.Job, _ *job.Output) error {
	var all []byte
	for task := range j.NumTasks {
		b, err := j.Result(ctx, task, nil)
		if err != nil {
			return err
		}
		all = append(all, b...)
	}
	*k.gathered = all
	return nil
}

type toyJob struct {
	input   []byte
	job     job.Description
	digest  string
	results [][]byte
}

func newToyJob(tasks int) *toyJob {
	t := &toyJob{input: []byte("some input that isn't small")}
	spec, err := json.Marshal(toySpec{job.Digest(t.input)})
	if err != nil {
		panic(err)
	}
	t.job = job.Description{Version: job.Version, Kind: "toy", ISA: "generic", NumTasks: tasks, Spec: spec}
	text, err := t.job.Encode()
	if err != nil {
		panic(err)
	}
	t.digest = job.Digest(text)
	for task := range tasks {
		parts, _ := toyWorker(t.input).Run(context.Background(), task)
		t.results = append(t.results, bytes.Join(parts, nil))
	}
	return t
}

// plan stores the job, as `gramcluster plan` does.
func (t *toyJob) plan(ctx context.Context, h *job.Host) error {
	if _, err := h.Store.Put(ctx, job.FilePrefix+job.Digest(t.input), t.input); err != nil {
		return err
	}
	j, err := h.Save(ctx, t.job)
	if err == nil && j.Digest != t.digest {
		err = errors.New("the job has another digest")
	}
	return err
}
