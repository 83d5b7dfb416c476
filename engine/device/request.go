package device

import "github.com/gramengine/gram/sparse"

// Columns is what a range of columns begins at a multiple of.
const Columns = sparse.Block

// Request asks for rows of a matrix of c = 1 - cosine, or of a kernel of it, whose columns are the
// documents that the back end was given when it was made.
type Request struct {
	// Program may be applied to c by the back end, which says so in each tile; nil for c itself.
	Program *Program

	// From holds the documents of the rows, embedded by the same embedder as those of the columns;
	// nil for the documents of the columns themselves.
	From *sparse.Embedded

	// Prepared is From as the back end prepared it (see [Preparer]), nil where it didn't.
	Prepared Prepared

	// Docs are the numbers of the rows' documents, in any order.
	Docs []int

	// Lo and Hi bound the columns, Lo <= j < Hi; Lo is a multiple of Columns.
	Lo, Hi int

	// Half requests only columns from a row's own number on: tiles may leave out those before their first row. Docs are
	// then documents of the columns, ascending, and Lo is 0.
	Half bool

	// LastFirst prefers the last rows first: a search for neighbours then knows many of a document's neighbours when it
	// is a column.
	LastFirst bool

	// Workers is how many goroutines may work, and call visit, at the same time; 0 for one.
	Workers int
}

// Tile is a piece of what a [Request] asked for, in rows or in columns: one of its strides is 1. It
// belongs to the function that it is handed to until that returns.
type Tile struct {
	First, Rows int  // rows are Docs[First], Docs[First+1], …
	Lo, Hi      int  // columns are documents Lo <= j < Hi
	Mapped      bool // the request's program has been applied

	// Value[r*RowStride+(j-Lo)*ColStride] is that of row First+r and column j.
	Value                []float32
	RowStride, ColStride int

	// Filled reports, with a RowStride of 1, that values between columns are numbers from 0 to 2 as well, so that a
	// kernel may be applied to all at once.
	Filled bool
}

// Cols returns the number of columns.
func (t *Tile) Cols() int { return t.Hi - t.Lo }

// Row returns row r of a tile with a ColStride of 1.
func (t *Tile) Row(r int) []float32 { return t.Value[r*t.RowStride:][:t.Cols():t.Cols()] }
