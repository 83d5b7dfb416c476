package musttest

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// counter counts the errors of a test.
type counter struct {
	testing.TB
	errors int
}

func (c *counter) Helper() {}

func (c *counter) Errorf(string, ...any) { c.errors++ }

func TestFails(t *testing.T) {
	end := fmt.Errorf("line 3: %w", io.EOF)
	for _, q := range []struct {
		err    error
		want   []any
		errors int
	}{
		{nil, nil, 1},
		{nil, []any{io.EOF, "line 3"}, 1},
		{end, nil, 0},
		{end, []any{io.EOF, "line 3"}, 0},
		{end, []any{errors.ErrUnsupported}, 1},
		{end, []any{io.EOF, "line 4", "row"}, 2},
	} {
		c := &counter{TB: t}
		if WantError(7, q.err)(c, "a call", q.want...); c.errors != q.errors {
			t.Errorf("%v, %q: %d errors, expected %d", q.err, q.want, c.errors, q.errors)
		}
	}
}
