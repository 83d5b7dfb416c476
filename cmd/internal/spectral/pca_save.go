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

// coordinatesFunc returns the coordinates of the listed documents, one row each.
type coordinatesFunc func(ctx context.Context, rows []int) (*mat.Dense, error)

// coordinatesOf returns a function that projects documents of the given corpus onto the components.
func (c *pcaFlags) coordinatesOf(f *projection, of *corpus.Corpus) coordinatesFunc {
	return func(ctx context.Context, rows []int) (*mat.Dense, error) {
		x, err := f.embedder.TransformRows(ctx, of.Documents, rows, c.Workers)
		if err != nil {
			return nil, of.DescribeError(err)
		}
		z, err := f.Project(ctx, f.eng, x)
		return z, of.DescribeError(err)
	}
}

func selectRows(z *mat.Dense, rows []int) *mat.Dense {
	_, cols := z.Dims()
	out := mat.NewDense(len(rows), cols, nil)
	for i, row := range rows {
		out.SetRow(i, z.RawRowView(row))
	}
	return out
}

// saveBatch is the number of documents projected and written at a time.
const saveBatch = 4096

// formatOf returns the format for a file name: a table format, or npy for other extensions.
func formatOf(path string) string { return cmp.Or(table.FormatOf(path), "npy") }

type point struct {
	document    int
	coordinates []float32
}

func pointColumns(c *corpus.Corpus, count int) []table.Column[point] {
	columns := []table.Column[point]{
		table.TextColumn("document", func(p *point) string { return source.DisplayName(c, p.document) }),
		table.TextColumn("label", func(p *point) string { return strings.Join(source.ClassNamesOf(c, p.document), ",") }),
	}
	for j := range count {
		columns = append(columns, table.Float32Column(fmt.Sprint("pc", j+1),
			func(p *point) float32 { return p.coordinates[j] }))
	}
	return columns
}

// save writes the coordinates of the documents in c to path, unless path is empty.
func (r *componentsReport) save(
	ctx context.Context, p *cli.Progress, path string, c *corpus.Corpus, of coordinatesFunc,
) error {
	if path == "" {
		return nil
	}
	p.StartStage("writing " + path)
	n, cols, format := c.Documents.Rows(), len(r.Rows), formatOf(path)
	var failed error
	points := func(yield func(point) bool) {
		for lo := 0; lo < n; lo += saveBatch {
			p.Show("writing "+path, int64(lo), int64(n), nil)
			z, err := of(ctx, run.Range(lo, min(lo+saveBatch, n)))
			if failed = err; err != nil {
				return
			}
			for i := range min(saveBatch, n-lo) {
				x := point{lo + i, make([]float32, cols)}
				for j, v := range z.RawRowView(i) {
					x.coordinates[j] = float32(v)
				}
				if !yield(x) {
					return
				}
			}
		}
	}
	bytes, err := matrixio.WriteFile(path, func(to io.Writer) error {
		var err error
		if format == "npy" {
			err = writeNPY(ctx, to, matrixio.Header{Rows: n, Cols: cols}, points)
		} else {
			err = table.Write(ctx, to, format, points, pointColumns(c, cols)...)
		}
		return cmp.Or(failed, err)
	})
	if err == nil {
		r.Files = append(r.Files, fmt.Sprintf("%s: %s x %s, %s, %s", path, report.FormatCount(n), report.FormatCount(cols),
			format,
			report.FormatBytes(bytes)))
	}
	return err
}

func writeNPY(ctx context.Context, to io.Writer, h matrixio.Header, points iter.Seq[point]) error {
	w, err := matrixio.NewWriter("npy", to, h)
	if err != nil {
		return err
	}
	for x := range points {
		if err := errors.Join(ctx.Err(), w.WriteRow(x.coordinates)); err != nil {
			return err
		}
	}
	return nil
}
