package work

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
)

// Status is how far a job is.
type Status struct {
	Job     string `json:"job"`
	Kind    string `json:"kind"`
	Tasks   int    `json:"tasks"`
	Stored  int    `json:"stored"`            // tasks of which there is an object
	Bytes   int64  `json:"bytes"`             // of these
	Again   int    `json:"again"`             // objects beyond the first of a task: those were damaged
	Damaged int    `json:"damaged,omitempty"` // tasks without a whole object, where all were read
	missing []int
}

// Missing returns the tasks that are to be done, ascending.
func (s *Status) Missing() []int { return s.missing }

// StatusOf counts the results of a job by their names alone or, with check, reads each of them and
// calls damaged with what isn't whole.
func StatusOf(ctx context.Context, j *job.Job, check bool, damaged func(err error)) (*Status, error) {
	s := &Status{Job: j.Digest, Kind: j.Kind, Tasks: j.Tasks}
	var buf []byte
	next := 0 // the first task that hasn't been looked at
	upTo := func(task int) {
		for ; next < task; next++ {
			s.missing = append(s.missing, next)
		}
	}
	err := j.Host.Store.List(ctx, job.Results(j.Digest), func(o store.Object) error {
		task, err := strconv.Atoi(strings.TrimPrefix(o.Name, job.Results(j.Digest)))
		if err != nil || task < next || task >= j.Tasks || j.ResultName(task) != o.Name {
			return nil // not of this job
		}
		upTo(task)
		s.Stored++
		s.Bytes += o.Bytes
		s.Again += o.Attempts - 1
		whole := true
		if check {
			bad, err := j.Host.Store.Check(ctx, o.Name, buf[:0])
			for _, b := range bad {
				damaged(b)
			}
			if err != nil && !errors.Is(err, store.ErrMissing) {
				return err
			}
			if whole = err == nil; !whole {
				s.Damaged++
			}
		}
		if whole {
			next++
		} else {
			upTo(task + 1)
		}
		return nil
	})
	upTo(j.Tasks)
	return s, err
}

// Jobs returns the digests of all jobs in a store that begin with prefix, ascending.
func Jobs(ctx context.Context, s *store.Store, prefix string) (digests []string, err error) {
	err = s.List(ctx, job.Jobs+prefix, func(o store.Object) error {
		if d := strings.TrimPrefix(o.Name, job.Jobs); job.IsDigest(d) {
			digests = append(digests, d)
		}
		return nil
	})
	return digests, err
}

// Find returns the job of which a digest's beginning is given, or the only one where that is empty.
func Find(ctx context.Context, h *job.Host, prefix string) (*job.Job, error) {
	digest, err := FindDigest(ctx, h.Store, prefix)
	if err != nil {
		return nil, err
	}
	return h.Load(ctx, digest)
}

// FindDigest is [Find] for a job whose description may be damaged.
func FindDigest(ctx context.Context, s *store.Store, prefix string) (string, error) {
	if strings.Trim(prefix, "0123456789abcdef") != "" || len(prefix) > 64 {
		return "", fmt.Errorf("-job %q, expected the first hexadecimal digits of a job's digest", prefix)
	}
	digests, err := Jobs(ctx, s, prefix)
	if err != nil {
		return "", err
	}
	switch {
	case len(digests) == 0 && prefix == "":
		return "", fmt.Errorf("no job in the store %s: gramcluster plan makes one", s)
	case len(digests) == 0:
		return "", fmt.Errorf("-job %s: no such job in the store %s; gramcluster status lists those that there are",
			prefix, s)
	case len(digests) > 1 && prefix == "":
		return "", fmt.Errorf("%d jobs in the store, among them %.12s and %.12s: say -job JOB", len(digests), digests[0],
			digests[1])
	case len(digests) > 1:
		return "", fmt.Errorf("-job %s stands for %d jobs, among them %.12s and %.12s: give more digits", prefix,
			len(digests), digests[0], digests[1])
	}
	return digests[0], nil
}
