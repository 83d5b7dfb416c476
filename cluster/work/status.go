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

// Status is the progress of a job, as recorded in the store.
type Status struct {
	Job          string `json:"job"`
	Kind         string `json:"kind"`
	NumTasks     int    `json:"tasks"`
	NumStored    int    `json:"stored"`            // number of tasks with a result, including damaged results
	Bytes        int64  `json:"bytes"`             // total size of all results
	NumRewritten int    `json:"again"`             // number of rewrites of damaged results
	NumDamaged   int    `json:"damaged,omitempty"` // number of stored results without an intact attempt, if checked
	missing      []int
}

// Missing returns the tasks without a result, in ascending order.
func (s *Status) Missing() []int { return s.missing }

// StatusOf counts the names of a job's results. If check is set, it also reads the results, calls
// damaged for each damaged object, and counts tasks without an intact result as missing.
func StatusOf(ctx context.Context, j *job.Job, check bool, damaged func(err error)) (*Status, error) {
	s := &Status{Job: j.Digest, Kind: j.Kind, NumTasks: j.NumTasks}
	var buf []byte
	next := 0 // first task after the tasks counted so far
	upTo := func(task int) {
		for ; next < task; next++ {
			s.missing = append(s.missing, next)
		}
	}
	err := j.Host.Store.List(ctx, job.JobResultsPrefix(j.Digest), func(o store.Object) error {
		task, err := strconv.Atoi(strings.TrimPrefix(o.Name, job.JobResultsPrefix(j.Digest)))
		if err != nil || task < next || task >= j.NumTasks || j.ResultName(task) != o.Name {
			return nil // o isn't a result of this job
		}
		upTo(task)
		s.NumStored++
		s.Bytes += o.Bytes
		s.NumRewritten += o.NumAttempts - 1
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
				s.NumDamaged++
			}
		}
		if whole {
			next++
		} else {
			upTo(task + 1)
		}
		return nil
	})
	upTo(j.NumTasks)
	return s, err
}

// JobDigests returns the digests of the stored jobs, in ascending order. It omits digests that
// don't begin with prefix.
func JobDigests(ctx context.Context, s *store.Store, prefix string) (digests []string, err error) {
	err = s.List(ctx, job.DescriptionPrefix+prefix, func(o store.Object) error {
		if d := strings.TrimPrefix(o.Name, job.DescriptionPrefix); job.IsDigest(d) {
			digests = append(digests, d)
		}
		return nil
	})
	return digests, err
}

// FindJob returns the job whose digest begins with prefix, or the only job if prefix is empty.
func FindJob(ctx context.Context, h *job.Host, prefix string) (*job.Job, error) {
	digest, err := FindDigest(ctx, h.Store, prefix)
	if err != nil {
		return nil, err
	}
	return h.Load(ctx, digest)
}

// FindDigest is like [FindJob], but returns the digest, even if the job's description is damaged.
func FindDigest(ctx context.Context, s *store.Store, prefix string) (string, error) {
	if strings.Trim(prefix, "0123456789abcdef") != "" || len(prefix) > 64 {
		return "", fmt.Errorf("-job must be the first hexadecimal digits of a job's digest, got %q", prefix)
	}
	digests, err := JobDigests(ctx, s, prefix)
	if err != nil {
		return "", err
	}
	switch {
	case len(digests) == 0 && prefix == "":
		return "", fmt.Errorf("no job in the store %s; create one with gramcluster plan", s)
	case len(digests) == 0:
		return "", fmt.Errorf("-job %s: no such job in the store %s; list the jobs with gramcluster status", prefix, s)
	case len(digests) > 1 && prefix == "":
		return "", fmt.Errorf("the store has %d jobs, such as %.12s and %.12s; set -job JOB", len(digests), digests[0],
			digests[1])
	case len(digests) > 1:
		return "", fmt.Errorf("-job %s matches %d jobs, such as %.12s and %.12s; add more digits", prefix,
			len(digests), digests[0], digests[1])
	}
	return digests[0], nil
}
