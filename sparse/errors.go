package sparse

import "fmt"

// ValueError reports a value that isn't finite, or that an embedding doesn't accept.
type ValueError struct {
	Row      int // row of the matrix, from 0
	Term     uint32
	Value    float32
	Expected string // required property of the value, such as "finite"
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("sparse: row %d, term %d: value must be %s, got %v", e.Row, e.Term, e.Expected, e.Value)
}
