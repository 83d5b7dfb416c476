package instrument

import (
	"slices"

	"github.com/gramengine/gram/engine"
)

// Memory traffic in bytes, calculated rather than measured.
const (
	headValueBytes = 6 // a value (4) and its offset (2), each time the value is read for a panel
	tailMatchBytes = 8 // a document (4) and its value (4) in a posting list
	matrixBytes    = 4 // a written value of the matrix
)

// CountMatches returns the number of terms that two documents share, summed over all pairs i < j. A
// term with document frequency f contributes f(f-1)/2. inHead is the sum for the most frequent
// terms, whose number is head. inTail is the sum for all other terms.
func CountMatches(df []int32, head int) (inHead, inTail int64) {
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

// OperationCounts counts the operations of a computation.
type OperationCounts struct {
	HeadMadds       int64 `json:"head_madds"`        // multiply-adds with values of the head, including zeros of the panel
	HeadUsefulMadds int64 `json:"head_useful_madds"` // multiply-adds with values of the head that a pair i < j needs
	TailMadds       int64 `json:"tail_madds"`
	MovedBytes      int64 `json:"moved_bytes"` // memory traffic in bytes, calculated rather than measured
}

// NewOperationCounts returns the operation counts of a computation with statistics s. width is the
// number of documents per panel, headUseful is HeadUsefulMadds, and values is the number of stored
// results.
func NewOperationCounts(s engine.Stats, width int, headUseful, values int64) OperationCounts {
	return OperationCounts{
		HeadMadds: s.HeadValues * int64(width), HeadUsefulMadds: headUseful, TailMadds: s.TailMatches,
		MovedBytes: headValueBytes*s.HeadValues + tailMatchBytes*s.TailMatches + matrixBytes*values,
	}
}

// Madds returns the number of all multiply-adds.
func (w OperationCounts) Madds() int64 { return w.HeadMadds + w.TailMadds }
