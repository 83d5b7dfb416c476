package device

import "github.com/gramengine/gram/sparse"

// ColumnAlignment is the alignment of the first column of each column range.
const ColumnAlignment = sparse.BlockSize

// Request selects rows of a matrix of c = 1 - cosine, or of a kernel of c. The columns are the
// documents that the back end was made for.
type Request struct {
	// Program is the kernel; nil for c itself. The back end may apply it to c (see
	// Tile.ProgramApplied).
	Program *Program

	// RowDocuments holds the row documents, embedded by the embedder of the column documents. If
	// RowDocuments is nil, the rows are column documents.
	RowDocuments *sparse.Embedded

	// Prepared is RowDocuments as converted by a [Preparer]; nil if not converted.
	Prepared Prepared

	// RowIndices holds the document indices of the rows, in any order.
	RowIndices []int

	// Columns are documents Lo <= j < Hi. Lo is a multiple of ColumnAlignment.
	Lo, Hi int

	// UpperOnly requests only the upper triangle. A tile may omit columns before the document of
	// its first row. If UpperOnly is set, RowIndices must be ascending indices of column documents,
	// and Lo must be 0.
	UpperOnly bool

	// LastFirst requests the last rows first. Neighbour lists then fill early, so that the
	// remaining rows take less time.
	LastFirst bool

	// Workers is the number of goroutines that may compute and call visit; 0 means 1.
	Workers int
}

// Tile is a block of the result of a [Request], stored by rows or by columns. One of the strides is
// 1. A tile is valid only during the call of the function that receives it.
type Tile struct {
	FirstRow, Rows int  // rows are RowIndices[FirstRow], RowIndices[FirstRow+1], …
	Lo, Hi         int  // columns are documents Lo <= j < Hi
	ProgramApplied bool // true if Values are results of the request's program, false if Values are c

	// Values[r*RowStride+(j-Lo)*ColStride] is the value in row FirstRow+r and column j.
	Values               []float32
	RowStride, ColStride int

	// PaddingValid is true if RowStride is 1 and the padding between columns holds numbers from 0
	// to 2. A kernel may then be applied to the whole slice.
	PaddingValid bool
}

// Cols returns the number of columns.
func (t *Tile) Cols() int { return t.Hi - t.Lo }

// Row returns row r of a tile with a ColStride of 1.
func (t *Tile) Row(r int) []float32 { return t.Values[r*t.RowStride:][:t.Cols():t.Cols()] }
