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

// Line identifies a task. plan prints it as a line of JSON, which any scheduler can pass to work.
type Line struct {
	Job  string `json:"job"`
	Task int    `json:"task"`
}

// ParseLine parses a line.
func ParseLine(text []byte) (Line, error) {
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
		return Line{}, fmt.Errorf(`%w; a task line is {"job":"DIGEST","task":0}`, err)
	case l.Job == nil || !IsDigest(*l.Job):
		return Line{}, errors.New(`"job" must be a digest of 64 hexadecimal digits`)
	case l.Task == nil || *l.Task < 0 || *l.Task >= MostTasks:
		return Line{}, fmt.Errorf(`"task" must be between 0 and %d`, MostTasks-1)
	}
	return Line{*l.Job, *l.Task}, nil
}

// String returns the line, without a newline.
func (l Line) String() string {
	b, err := json.Marshal(l)
	if err != nil {
		return err.Error() // can't happen for a string and a number
	}
	return string(b)
}

const maxLine = 4096

// ReadLines calls yield for each nonblank line of r, with an error if the line is invalid. number
// is the line number, from 1. ReadLines stops at the first error of yield or r.
func ReadLines(ctx context.Context, r io.Reader, yield func(number int, l Line, err error) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, maxLine), maxLine)
	number := 0
	for lines.Scan() {
		number++
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		l, err := ParseLine(lines.Bytes())
		if err := yield(number, l, err); err != nil {
			return err
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("job: task line %d is longer than %d bytes", number+1, maxLine)
	} else if err != nil {
		return fmt.Errorf("job: task line %d: %w", number+1, err)
	}
	return nil
}
