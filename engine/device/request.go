package device

import "github.com/gramengine/gram/sparse"

// Columns is what a range of columns begins at a multiple of.
const Columns = sparse.Block

// Request asks for rows of a matrix of c = 1 - cosine, or of a kernel of it, whose columns are the documents that the back end was given when it was made.
type Request struct {
	// Program is applied to c; nil for c itself.
	Program *Program

	// From holds the documents of the rows, embedded by the same embedder as those of the columns; nil for the documents of the columns themselves.
	From *sparse.Embedded

	// Docs are the numbers of the rows' documents, in any order.
	Docs []int

	// Lo and Hi bound the columns, Lo <= j < Hi; Lo is a multiple of Columns.
	Lo, Hi int

	// Half says that Docs are documents of the columns in sequence, and that a row needs only columns up to its own number: a block leaves out those beyond its last row.
	Half bool
}

// Block is some rows of what a [Request] asked for. It belongs to the function that it is handed to until that returns.
type Block struct {
	First int       // number in Request.Docs of the first row
	Rows  int       // number of rows
	Cols  int       // columns from Request.Lo on
	Width int       // distance of rows in Value, at least Cols
	Value []float32 // Value[r*Width+j] is that of row First+r and column Lo+j; without meaning for Cols <= j < Width
}

// Row returns a row of the block.
func (b *Block) Row(r int) []float32 { return b.Value[r*b.Width : r*b.Width+b.Cols] }
