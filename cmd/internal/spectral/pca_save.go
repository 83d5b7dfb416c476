package spectral

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/internal/table"
)

// coordinates returns the coordinates of the listed documents, one row each.
type coordinates func(ctx context.Context, rows []int) (*mat.Dense, error)

// ofDocuments returns a function that projects documents of a corpus.
func (c *components) ofDocuments(f *found, of *corpus.Corpus) coordinates {
	return func(ctx context.Context, rows []int) (*mat.Dense, error) {
		x, err := f.embedder.TransformRows(ctx, of.Documents, rows, c.Workers)
		if err != nil {
			return nil, of.NameValue(err)
		}
		z, err := f.Project(ctx, f.eng, x)
		return z, of.NameValue(err)
	}
}

// chosenRows returns a copy of the listed rows of z.
func chosenRows(z *mat.Dense, rows []int) *mat.Dense {
	_, cols := z.Dims()
	out := mat.NewDense(len(rows), cols, nil)
	for i, row := range rows {
		out.SetRow(i, z.RawRowView(row))
	}
	return out
}

// savedRows is the number of documents projected and written at a time.
const savedRows = 4096

// formatOf returns the format for a file name: a table format, or by default npy.
func formatOf(path string) string { return cmp.Or(table.FormatOf(path), "npy") }

// point is a document's index with its coordinates.
type point struct {
	i  int
	at []float32
}

func pointColumns(c *corpus.Corpus, count int) []table.Column[point] {
	columns := []table.Column[point]{
		table.Text("document", func(p *point) string { return source.ShortName(c, p.i) }),
		table.Text("label", func(p *point) string { return strings.Join(source.LabelsOf(c, p.i), ",") }),
	}
	for j := range count {
		columns = append(columns, table.Single(fmt.Sprint("pc", j+1), func(p *point) float32 { return p.at[j] }))
	}
	return columns
}

// save writes the coordinates of the documents in c to path, unless path is empty.
func (r *componentsReport) save(
	ctx context.Context, p *cli.Progress, path string, c *corpus.Corpus, of coordinates,
) error {
	if path == "" {
		return nil
	}
	p.Stage("writing " + path)
	n, cols, format := c.Documents.Rows(), len(r.Rows), formatOf(path)
	var failed error
	points := func(yield func(point) bool) {
		for lo := 0; lo < n; lo += savedRows {
			p.Tell("writing "+path, int64(lo), int64(n), nil)
			z, err := of(ctx, run.Numbers(lo, min(lo+savedRows, n)))
			if failed = err; err != nil {
				return
			}
			for i := range min(savedRows, n-lo) {
				x := point{lo + i, make([]float32, cols)}
				for j, v := range z.RawRowView(i) {
					x.at[j] = float32(v)
				}
				if !yield(x) {
					return
				}
			}
		}
	}
	bytes, err := matrixio.Make(path, func(to io.Writer) error {
		var err error
		if format == "npy" {
			err = writeNPY(ctx, to, matrixio.Header{Rows: n, Cols: cols}, points)
		} else {
			err = table.Write(ctx, to, format, points, pointColumns(c, cols)...)
		}
		return cmp.Or(failed, err)
	})
	if err == nil {
		r.Files = append(r.Files, fmt.Sprintf("%s: %s x %s, %s, %s", path, report.Count(n), report.Count(cols), format,
			report.Bytes(bytes)))
	}
	return err
}

func writeNPY(ctx context.Context, to io.Writer, h matrixio.Header, points iter.Seq[point]) error {
	w, err := matrixio.NewWriter("npy", to, h)
	if err != nil {
		return err
	}
	for x := range points {
		if err := errors.Join(ctx.Err(), w.WriteRow(x.at)); err != nil {
			return err
		}
	}
	return nil
}
