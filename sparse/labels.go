package sparse

import (
	"fmt"
	"slices"
)

// Labels holds the classes of each document. A document may have any number of classes.
type Labels struct {
	Offsets []int64 // the classes of document i are IDs[Offsets[i]:Offsets[i+1]]
	IDs     []int32 // class indices
}

// Classes returns the classes of document i, which the caller must not change. It returns nil if l
// is the zero value.
func (l Labels) Classes(i int) []int32 {
	if len(l.Offsets) == 0 {
		return nil
	}
	lo, hi := l.Offsets[i], l.Offsets[i+1]
	return l.IDs[lo:hi:hi]
}

// Add appends a document with the classes ids.
func (l *Labels) Add(ids ...int32) {
	if len(l.Offsets) == 0 {
		l.Offsets = append(l.Offsets, 0)
	}
	l.IDs = append(l.IDs, ids...)
	l.Offsets = append(l.Offsets, int64(len(l.IDs)))
}

// Validate checks that labels match the numbers of documents and classes. The zero value is valid
// for any number of documents and classes.
func (l Labels) Validate(documents, classes int) error {
	switch n := len(l.Offsets); {
	case n == 0 && len(l.IDs) == 0:
		return nil
	case n-1 != documents:
		return fmt.Errorf("sparse: labels have %d documents, but the matrix has %d", max(n-1, 0), documents)
	case l.Offsets[0] != 0 || l.Offsets[documents] != int64(len(l.IDs)) || !slices.IsSorted(l.Offsets):
		return fmt.Errorf("sparse: labels: offsets must be ascending from 0 to the number of labels, %d", len(l.IDs))
	}
	for k, id := range l.IDs {
		if id < 0 || int64(id) >= int64(classes) {
			return fmt.Errorf("sparse: labels: class at offset %d must be between 0 and %d, got %d", k, classes-1, id)
		}
	}
	return nil
}
