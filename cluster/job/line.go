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

// Line is a task as plan prints it: a line of JSON, without data, that any scheduler can carry.
type Line struct {
	Job  string `json:"job"`
	Task int    `json:"task"`
}

// ParseLine reads a line.
func ParseLine(text []byte) (Line, error) {
	// Pointers tell a field that is missing from a zero.
	var l struct {
		Job  *string `json:"job"`
		Task *int    `json:"task"`
	}
	err := Decode(text, &l)
	if other := (*json.UnmarshalTypeError)(nil); errors.As(err, &other) { // whose own text names types of Go
		err = fmt.Errorf("found %s", other.Value)
		if other.Field != "" {
			err = fmt.Errorf("found %s as %q", other.Value, other.Field)
		}
	}
	switch {
	case err != nil:
		return Line{}, fmt.Errorf(`%w, expected a task such as {"job":"DIGEST","task":0}`, err)
	case l.Job == nil || !IsDigest(*l.Job):
		return Line{}, errors.New(`"job" isn't a digest of 64 hexadecimal digits`)
	case l.Task == nil || *l.Task < 0 || *l.Task >= MostTasks:
		return Line{}, fmt.Errorf(`"task" isn't a number from 0 to %d`, MostTasks-1)
	}
	return Line{*l.Job, *l.Task}, nil
}

// String returns the line, without its end.
func (l Line) String() string {
	b, err := json.Marshal(l)
	if err != nil {
		return err.Error() // a string and a number have a text
	}
	return string(b)
}

// mostLine bounds a line, in bytes.
const mostLine = 4096

// ReadLines hands the lines of r to yield, with their numbers from 1. Of a line that is none, err
// says why; blank lines are left out. It ends with an error of yield or r.
func ReadLines(ctx context.Context, r io.Reader, yield func(number int, l Line, err error) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, mostLine), mostLine)
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
		return fmt.Errorf("job: task line %d is longer than %d bytes, expected a task", number+1, mostLine)
	} else if err != nil {
		return fmt.Errorf("job: task line %d: %w", number+1, err)
	}
	return nil
}
