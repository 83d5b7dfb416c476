package device

import (
	"errors"
	"fmt"

	"github.com/gramengine/gram/sparse"
)

// Columns is what a range of columns begins at a multiple of.
const Columns = sparse.Block

// Request asks for rows of a matrix of c = 1 - cosine, or of a kernel of it, whose columns are the
// documents that the back end was given when it was made.
type Request struct {
	// Program is applied to c; nil for c itself.
	Program *Program

	// From holds the documents of the rows, embedded by the same embedder as those of the columns;
	// nil for the documents of the columns themselves.
	From *sparse.Embedded

	// Docs are the numbers of the rows' documents, in any order.
	Docs []int

	// Lo and Hi bound the columns, Lo <= j < Hi; Lo is a multiple of Columns.
	Lo, Hi int

	// Half says that Docs are documents of the columns in sequence, and that a row needs only
	// columns up to its own number: a block leaves out those beyond its last row.
	Half bool
}

// Validate returns an error where a request asks for rows or columns that aren't there, of the
// documents in the columns, for a program that isn't one, or for norms of documents that have none.
// It takes all documents for right: who copies them checks them.
func (r *Request) Validate(columns *sparse.Embedded) error {
	if r == nil {
		return errors.New("device: no request, expected one")
	}
	if columns == nil {
		return errors.New("device: no documents in the columns, expected some")
	}
	if r.Lo < 0 || r.Lo%Columns != 0 || r.Hi < r.Lo || r.Hi > columns.Rows() {
		return fmt.Errorf("device: columns from %d to before %d, expected a range from a multiple of %d to at most %d", r.Lo, r.Hi, Columns, columns.Rows())
	}
	rows := columns
	if r.From != nil {
		rows = r.From
	}
	if r.Half && r.From != nil {
		return errors.New("device: half of the matrix with other documents, expected those of the columns")
	}
	for i, d := range r.Docs {
		if d < 0 || d >= rows.Rows() {
			return fmt.Errorf("device: row %d is document %d, expected one from 0 to %d", i, d, rows.Rows()-1)
		}
		if r.Half && i > 0 && d <= r.Docs[i-1] {
			return fmt.Errorf("device: row %d of half of the matrix is document %d after %d, expected increasing ones", i, d, r.Docs[i-1])
		}
	}
	if r.Program == nil {
		return nil
	}
	if len(r.Program.Norms) > 0 && (len(rows.Norms) != rows.Rows() || len(columns.Norms) != columns.Rows()) {
		return errors.New("device: a program with norms of documents that have none")
	}
	return r.Program.Validate()
}

// Block is some rows of what a [Request] asked for. It belongs to the function that it is handed to
// until that returns.
type Block struct {
	First int       // number in Request.Docs of the first row
	Rows  int       // number of rows
	Cols  int       // columns from Request.Lo on
	Width int       // distance of rows in Value, at least Cols
	Value []float32 // Value[r*Width+j] is that of row First+r and column Lo+j; without meaning for Cols <= j < Width
}

// Row returns row r of the block, which panics where r isn't from 0 to before Rows, or Value
// doesn't hold it.
func (b *Block) Row(r int) []float32 {
	if r < 0 || r >= b.Rows || b.Cols < 0 || b.Cols > b.Width || len(b.Value) < b.Cols || r > 0 && (len(b.Value)-b.Cols)/r < b.Width {
		panic(fmt.Sprintf("device: row %d of a block of %d rows, %d columns %d apart and %d values", r, b.Rows, b.Cols, b.Width, len(b.Value)))
	}
	return b.Value[r*b.Width : r*b.Width+b.Cols : r*b.Width+b.Cols]
}
