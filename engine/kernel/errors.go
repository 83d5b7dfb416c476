package kernel

import (
	"errors"
	"fmt"
)

// PairError reports that the kernel value of two documents isn't finite.
type PairError struct {
	Kernel  string
	Row     int  // row of the first document in the embedded matrix, from 0
	Column  int  // row of the second document
	IsCross bool // true if Row and Column are in different matrices, such as test and training documents
	Value   float32
}

// ErrNotFinite is wrapped by errors about kernel values that float32 can't represent.
var ErrNotFinite = errors.New("not a finite number")

func (e *PairError) Error() string {
	name := func(i int) string { return fmt.Sprintf("document %d", i) }
	return fmt.Sprintf("engine: %s, %v", e.Describe(name), ErrNotFinite)
}

// Describe returns the message without the reason. name returns the name of document i.
func (e *PairError) Describe(name func(i int) string) string {
	other := fmt.Sprintf("column %d", e.Column)
	if !e.IsCross {
		other = name(e.Column)
	}
	return fmt.Sprintf("kernel %s: the value for %s and %s is %v", e.Kernel, name(e.Row), other, e.Value)
}

// Unwrap returns [ErrNotFinite].
func (e *PairError) Unwrap() error { return ErrNotFinite }
