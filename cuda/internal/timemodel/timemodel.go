// Package timemodel predicts how long the kernels of package cuda take, from counts of what they do and
// costs that were fitted to measurements, and divides the terms between head and tail by that. See
// cuda/BENCHMARKS.md.
package timemodel

// Width and TailColumns are the columns of a panel and of a block of the tail, PANEL and
// TAIL_COLUMNS of cuda/kernels/shape.h; AtOnce is what the values of a document in a chunk are a
// multiple of.
const (
	Width       = 128
	TailColumns = 4096
	AtOnce      = 4
)

// Costs are cycles of a multiprocessor.
type Costs struct {
	Value float64 // of panelDot: a row's value with a panel's columns
	Row   float64 // a row with a panel, for each chunk
	Last  float64 // and what becomes of its sums after the last
	Fill  float64 // a column's value that is put into a panel
	Panel float64 // a panel, for each chunk

	Block float64 // of tailAdd: a row with its columns
	List  float64 // a row's value with them
	Match float64 // a product

	DenseRow float64 // of panelTensor: a row with a panel
	Dense    float64 // and DenseStep terms of it
}

// Measured are the costs that an H100 had: cuda/BENCHMARKS.md says how they were fitted. A value of
// panelDot takes 4 cycles of the unit for loads, for 16 bytes a lane of shared memory, and as many of
// wide products; two blocks on a multiprocessor reach 7.9 together, and one, where the panel takes
// more than half of the shared memory, 9.3. A block of tailAdd waits for loads that depend on each
// other, so that it takes long by itself and its lists and matches little. Dense is 10 products of 32 terms and
// 128 columns, 22 % of the 4,096 a cycle of the data sheet.
var Measured = Costs{Value: 7.9, Row: 40, Last: 35, Fill: 3, Panel: 8000, Block: 2200, List: 10, Match: 0.29,
	DenseRow: 161, Dense: 45}

// Work is what a matrix of documents with themselves takes.
type Work struct {
	Documents  float64
	HeadValues float64 // of all documents, those that fill up included
	Chunks     float64
	TailValues float64 // of all documents
	Matches    float64 // postings that rows meet
}

// Of counts the work with the first terms in the head, up to perChunk at a time. first has the
// number of values of the terms before each, by falling frequency, and that of all at the end.
func Of(first []int64, documents, head, perChunk int) Work {
	w := Work{Documents: float64(documents), Chunks: max(float64((head+perChunk-1)/perChunk), 1)}
	w.HeadValues = float64(first[head]-first[0]) + (AtOnce-1)/2.*w.Chunks*w.Documents
	w.TailValues = float64(first[len(first)-1] - first[head])
	for t := head; t+1 < len(first); t++ {
		n := float64(first[t+1] - first[t])
		w.Matches += n * n
	}
	return w
}

// Cycles returns those of tailAdd and of panelDot for all pairs.
func (c *Costs) Cycles(w Work, rows int) (tail, panel float64) {
	panels, blocks := w.Documents/Width, w.Documents/TailColumns
	parts := max(w.Documents/float64(max(rows, 1)), 1)
	panel = panels*(c.Value*w.HeadValues+w.Documents*(c.Row*w.Chunks+c.Last)) +
		parts*(c.Fill*w.HeadValues+panels*c.Panel*w.Chunks)
	tail = blocks*(c.Block*w.Documents+c.List*w.TailValues) + c.Match*w.Matches
	return tail, panel
}

// Head returns how many terms the head has for the least time: of all numbers up to that of
// maxChunks chunks the least with the fewest cycles. first is as in [Of].
func (c *Costs) Head(first []int64, documents, perChunk, maxChunks, rows int) int {
	most := min(len(first)-1, perChunk*maxChunks)
	w := Of(first, documents, 0, perChunk)
	matches := w.Matches
	best, least := 0, 0.
	for head := 0; head <= most; head++ {
		if head > 0 {
			n := float64(first[head] - first[head-1])
			matches -= n * n
		}
		w.Chunks = max(float64((head+perChunk-1)/perChunk), 1)
		w.HeadValues = float64(first[head]-first[0]) + (AtOnce-1)/2.*w.Chunks*w.Documents
		w.TailValues, w.Matches = float64(first[len(first)-1]-first[head]), matches
		tail, panel := c.Cycles(w, rows)
		if all := tail + panel; head == 0 || all < least {
			best, least = head, all
		}
	}
	return best
}
