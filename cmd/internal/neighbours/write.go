package neighbours

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/source"
)

// formats are the forms in which neighbours are written.
var formats = []string{"tsv", "jsonl", "npz"}

// writer writes neighbours, of documents of one corpus among those of another or the same.
type writer struct {
	*search
	near          *engine.Neighbours
	rows, columns *corpus.Corpus
	cols          int
}

// save writes a file in a format, which is there when it is complete, and returns its size.
func (w *writer) save(ctx context.Context, path, format string) (int64, error) {
	return matrixio.Make(path, func(to io.Writer) error {
		var err error
		switch format {
		case "npz":
			err = (&matrixio.Compressed{Rows: w.near.Len(), Cols: w.cols, Row: w.row()}).WriteNPZ(to)
		default:
			lines := w.lines
			if format == "jsonl" {
				lines = w.object
			}
			err = writeLines(ctx, to, w.near.Len(), lines)
		}
		if err == nil {
			err = ctx.Err()
		}
		return err
	})
}

// row returns what gives the rows of a matrix, with their columns ascending.
func (w *writer) row() func(i int) (columns []uint32, values []float32) {
	var list []engine.Neighbour
	var columns []uint32
	var values []float32
	return func(i int) ([]uint32, []float32) {
		list = append(list[:0], w.near.Of(i)...)
		slices.SortFunc(list, func(a, b engine.Neighbour) int { return int(int64(a.Document) - int64(b.Document)) })
		columns, values = columns[:0], values[:0]
		for _, n := range list {
			columns, values = append(columns, n.Document), append(values, n.Value)
		}
		return columns, values
	}
}

// lines appends a line for each neighbour of a document.
func (w *writer) lines(b []byte, i int) ([]byte, error) {
	name := source.ShortName(w.rows, i)
	if !w.texts {
		return source.AppendNeighbours(b, name, w.near.Of(i), w.columns), nil
	}
	near := w.near.Of(i)
	for k, n := range near {
		b = bytes.TrimSuffix(source.AppendNeighbours(b, name, near[k:k+1], w.columns), []byte("\n"))
		b = fmt.Appendf(b, "\t%s\t%s\n", beginning(w.rows.Text(i)), beginning(w.columns.Text(int(n.Document))))
	}
	return b, nil
}

// object appends the neighbours of a document as a line of JSON.
func (w *writer) object(b []byte, i int) ([]byte, error) {
	type neighbour struct {
		Document any     `json:"document"`
		Value    float32 `json:"value"`
	}
	line := struct {
		Document   any         `json:"document"`
		Neighbours []neighbour `json:"neighbours"`
	}{w.shown(w.rows, i), []neighbour{}}
	for _, n := range w.near.Of(i) {
		line.Neighbours = append(line.Neighbours, neighbour{w.shown(w.columns, int(n.Document)), n.Value})
	}
	text, err := json.Marshal(line)
	return append(append(b, text...), '\n'), err
}
