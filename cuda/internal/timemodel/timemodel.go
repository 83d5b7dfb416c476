// Package timemodel predicts the running time of the kernels of package cuda. It multiplies
// operation counts by costs, which are fitted to measurements (cuda/BENCHMARKS.md). The predicted
// time determines how terms are divided between head and tail.
package timemodel

// PanelWidth is the number of columns per panel (PANEL in cuda/kernels/shape.h). TailColumns is the
// number of columns per tail block (TAIL_COLUMNS). The number of a document's values in a chunk is
// padded to a multiple of ValuePadding.
const (
	PanelWidth   = 128
	TailColumns  = 4096
	ValuePadding = 4
)

// Costs holds the cost of each operation in cycles of a multiprocessor.
type Costs struct {
	Value   float64 // panelDot: multiplying a row's value by the values of a panel's columns
	Row     float64 // panelDot: processing a row for a panel, per chunk
	Convert float64 // panelDot: converting the sums after the last chunk
	Fill    float64 // panelDot: writing a column's value to a panel
	Panel   float64 // panelDot: starting a panel, per chunk

	Block float64 // tailAdd: processing a row for a block of columns
	List  float64 // tailAdd: processing a row's value for a block of columns
	Match float64 // tailAdd: adding a product

	DenseRow float64 // panelTensor: processing a row for a panel
	Dense    float64 // panelTensor: multiplying DenseStep terms of a row by a panel
}

// MeasuredCosts holds the costs on an H100; cuda/BENCHMARKS.md describes the fit. In theory,
// panelDot needs 8 cycles per Value: 4 to load from shared memory, with 16 bytes per lane, and 4
// for 64-bit products. The measured cost is 7.9 cycles with two thread blocks per multiprocessor,
// and 9.3 with one. Two thread blocks don't fit if the panel fills more than half of shared memory.
// A thread block of tailAdd waits for dependent loads, so its fixed cost is large compared with the
// costs of lists and matches. Dense is the cost of 10·32·128 products of digits, at 22% of the
// nominal 4,096 products per cycle.
var MeasuredCosts = Costs{Value: 7.9, Row: 40, Convert: 35, Fill: 3, Panel: 8000, Block: 2200, List: 10, Match: 0.29,
	DenseRow: 161, Dense: 45}

// OperationCounts holds the operation counts for the Gram matrix of all documents.
type OperationCounts struct {
	Documents  float64
	HeadValues float64 // number of head values in all documents, including the expected padding
	Chunks     float64
	TailValues float64 // number of tail values in all documents
	Matches    float64 // number of products of tail values: the sum of squared document frequencies
}

// CountOperations counts the operations if the head has the given number of terms, in chunks of up
// to perChunk terms. Terms are in descending order of document frequency. Term t occurs in
// first[t+1]-first[t] documents. first[0] may be positive.
func CountOperations(first []int64, documents, head, perChunk int) OperationCounts {
	w := OperationCounts{Documents: float64(documents), Chunks: max(float64((head+perChunk-1)/perChunk), 1)}
	w.HeadValues = float64(first[head]-first[0]) + (ValuePadding-1)/2.*w.Chunks*w.Documents
	w.TailValues = float64(first[len(first)-1] - first[head])
	for t := head; t+1 < len(first); t++ {
		n := float64(first[t+1] - first[t])
		w.Matches += n * n
	}
	return w
}

// Cycles predicts the cycles of tailAdd and panelDot for all pairs, in tiles of the given number of
// rows.
func (c *Costs) Cycles(w OperationCounts, rows int) (tail, panel float64) {
	panels, blocks := w.Documents/PanelWidth, w.Documents/TailColumns
	parts := max(w.Documents/float64(max(rows, 1)), 1)
	panel = panels*(c.Value*w.HeadValues+w.Documents*(c.Row*w.Chunks+c.Convert)) +
		parts*(c.Fill*w.HeadValues+panels*c.Panel*w.Chunks)
	tail = blocks*(c.Block*w.Documents+c.List*w.TailValues) + c.Match*w.Matches
	return tail, panel
}

// HeadTerms returns the number of head terms, in up to maxChunks chunks, that minimises the
// predicted cycles. Ties go to the smallest number. For first, see [CountOperations].
func (c *Costs) HeadTerms(first []int64, documents, perChunk, maxChunks, rows int) int {
	most := min(len(first)-1, perChunk*maxChunks)
	w := CountOperations(first, documents, 0, perChunk)
	matches := w.Matches
	best, least := 0, 0.
	for head := 0; head <= most; head++ {
		if head > 0 {
			n := float64(first[head] - first[head-1])
			matches -= n * n
		}
		w.Chunks = max(float64((head+perChunk-1)/perChunk), 1)
		w.HeadValues = float64(first[head]-first[0]) + (ValuePadding-1)/2.*w.Chunks*w.Documents
		w.TailValues, w.Matches = float64(first[len(first)-1]-first[head]), matches
		tail, panel := c.Cycles(w, rows)
		if all := tail + panel; head == 0 || all < least {
			best, least = head, all
		}
	}
	return best
}
