package job

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// TaskLine identifies a task. `gramcluster plan` prints it as a line of JSON, which any scheduler
// can pass to `gramcluster work`.
type TaskLine struct {
	Job  string `json:"job"`
	Task int    `json:"task"`
}

// ParseTaskLine parses a task line in JSON.
func ParseTaskLine(text []byte) (TaskLine, error) {
	// pointers distinguish missing fields from zeros
	var l struct {
		Job  *string `json:"job"`
		Task *int    `json:"task"`
	}
	err := Decode(text, &l)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) { // the message of other would contain Go types
		err = fmt.Errorf("found %s", other.Value)
		if other.Field != "" {
			err = fmt.Errorf("found %s as %q", other.Value, other.Field)
		}
	}
	switch {
	case err != nil:
		return TaskLine{}, fmt.Errorf(`%w; a task line is {"job":"DIGEST","task":0}`, err)
	case l.Job == nil || !IsDigest(*l.Job):
		return TaskLine{}, errors.New(`"job" must be a digest of 64 hexadecimal digits`)
	case l.Task == nil || *l.Task < 0 || *l.Task >= MaxTasks:
		return TaskLine{}, fmt.Errorf(`"task" must be between 0 and %d`, MaxTasks-1)
	}
	return TaskLine{*l.Job, *l.Task}, nil
}

// String returns l as JSON, without a newline.
func (l TaskLine) String() string {
	b, err := json.Marshal(l)
	if err != nil {
		return err.Error() // can't happen for a string and a number
	}
	return string(b)
}

const maxLineBytes = 4096

// ReadTaskLines calls yield for each nonblank line of r, with an error if the line is invalid.
// number is the line number, from 1. ReadTaskLines stops at the first error of yield, r or ctx.
func ReadTaskLines(ctx context.Context, r io.Reader, yield func(number int, l TaskLine, err error) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxLineBytes), maxLineBytes)
	number := 0
	for lines.Scan() {
		number++
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		l, err := ParseTaskLine(lines.Bytes())
		if err := yield(number, l, err); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("job: task line %d is longer than %d bytes", number+1, maxLineBytes)
	} else if err != nil {
		return fmt.Errorf("job: task line %d: %w", number+1, err)
	}
	return nil
}
