package work

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
)

// MissingError lists the tasks of a job that have no intact result.
type MissingError struct {
	Job      string
	Tasks    []int
	NumTasks int   // number of tasks of the job
	Err      error // errors of damaged objects, or nil
}

func (e *MissingError) Error() string {
	text := fmt.Sprintf("%d of %d tasks are missing", len(e.Tasks), e.NumTasks)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// TaskLines returns up to maxLines task lines, one per missing task.
func (e *MissingError) TaskLines(maxLines int) (lines []job.TaskLine) {
	for _, t := range e.Tasks[:min(maxLines, len(e.Tasks))] {
		lines = append(lines, job.TaskLine{Job: e.Job, Task: t})
	}
	return lines
}

// Gather writes the output of a job. If results are missing or damaged, it returns a
// *[MissingError] and writes nothing.
func Gather(ctx context.Context, kinds []job.Kind, j *job.Job, out *job.Output) error {
	k, err := job.FindKind(kinds, j.Kind)
	if err != nil {
		return err
	}
	s, err := StatusOf(ctx, j, false, nil)
	if err != nil {
		return err
	}
	if m := s.Missing(); len(m) > 0 {
		return &MissingError{Job: j.Digest, Tasks: m, NumTasks: j.NumTasks}
	}
	err = k.Gather(ctx, j, out)
	if !job.IsMissing(err) {
		return err
	}
	// A result is damaged. Read all results, so that the error lists all damaged results.
	var why []error
	s, more := StatusOf(ctx, j, true, func(bad error) { why = append(why, bad) })
	if more != nil || len(s.Missing()) == 0 {
		return errors.Join(err, more)
	}
	return &MissingError{j.Digest, s.Missing(), j.NumTasks, errors.Join(why...)}
}
