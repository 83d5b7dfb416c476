package sparse

import (
	"errors"
	"fmt"
)

// ValueError names the value an embedding can't take.
type ValueError struct {
	Row      int // of the matrix, from 0
	Term     uint32
	Value    float32
	Expected string // what an embedding takes, and why
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("sparse: row %d, term %d: found %v, expected %s", e.Row, e.Term, e.Value, e.Expected)
}

// PairError reports the value of a kernel for two documents that isn't finite.
type PairError struct {
	Kernel string
	Row    int  // of the matrix that was embedded, from 0
	Column int  // the same
	Cross  bool // Row is a row of another matrix than Column, such as that of the documents to predict
	Value  float32
}

// ErrNotFinite is part of the error of every computation with a kernel value that is beyond the range of float32.
var ErrNotFinite = errors.New("expected a finite number")

func (e *PairError) Error() string {
	name := func(i int) string { return fmt.Sprintf("document %d", i) }
	return fmt.Sprintf("sparse: %s, %v", e.Describe(name), ErrNotFinite)
}

// Describe returns the message without the reason; name returns the name of document i.
func (e *PairError) Describe(name func(i int) string) string {
	other := fmt.Sprintf("column %d", e.Column)
	if !e.Cross {
		other = name(e.Column)
	}
	return fmt.Sprintf("kernel %s: the value of %s and %s is %v", e.Kernel, name(e.Row), other, e.Value)
}

// Unwrap returns [ErrNotFinite].
func (e *PairError) Unwrap() error { return ErrNotFinite }
