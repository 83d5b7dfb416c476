package sparse

import "fmt"

// ValueError says which value an embedding can't take.
type ValueError struct {
	Row      int // of the matrix, from 0
	Term     uint32
	Value    float32
	Expected string // what an embedding takes, and why
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("sparse: row %d, term %d: found %v, expected %s", e.Row, e.Term, e.Value, e.Expected)
}
