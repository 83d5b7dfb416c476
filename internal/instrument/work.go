package instrument

import (
	"slices"

	"github.com/gramengine/gram/engine"
)

// Bytes that the stages move between the processor and what lies beyond its caches, from first
// principles.
const (
	headValueBytes = 6 // a value (4) and its offset (2), each time it streams past a panel
	tailMatchBytes = 8 // a document (4) and its value (4) in a posting list
	matrixBytes    = 4 // a value of the matrix, written
)

// Useful counts the terms that two documents i < j have in common, over all pairs, from document
// frequencies f: f(f-1)/2 each. The first head of them in falling order are those of the head.
func Useful(df []int32, head int) (inHead, inTail int64) {
	falling := slices.Sorted(slices.Values(df))
	slices.Reverse(falling)
	for r, d := range falling {
		matches := int64(d) * int64(d-1) / 2
		if r < head {
			inHead += matches
		} else {
			inTail += matches
		}
	}
	return inHead, inTail
}

// Work is what a computation does, counted.
type Work struct {
	HeadMadds  int64 `json:"head_madds"`        // with values of the head, those with a zero of the panel included
	HeadUseful int64 `json:"head_useful_madds"` // those of them that a pair i < j needs
	TailMadds  int64 `json:"tail_madds"`
	Bytes      int64 `json:"moved_bytes"` // see the constants above
}

// NewWork counts from what the engine reports: s is of one computation, width the number of
// documents in a panel, values the number of results that were stored.
func NewWork(s engine.Stats, width int, headUseful, values int64) Work {
	return Work{
		HeadMadds: s.HeadValues * int64(width), HeadUseful: headUseful, TailMadds: s.TailMatches,
		Bytes: headValueBytes*s.HeadValues + tailMatchBytes*s.TailMatches + matrixBytes*values,
	}
}

// Madds is the number of all multiply-adds.
func (w Work) Madds() int64 { return w.HeadMadds + w.TailMadds }
