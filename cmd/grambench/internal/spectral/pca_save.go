package spectral

import (
	"context"
	"fmt"
	"io"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// coordinates returns those of some documents.
type coordinates func(ctx context.Context, rows []int) (*mat.Dense, error)

// ofDocuments projects documents.
func (c *components) ofDocuments(f *found, of *sparse.Corpus) coordinates {
	return func(ctx context.Context, rows []int) (*mat.Dense, error) {
		x, err := f.embedder.TransformRows(ctx, of.Documents, rows, c.Workers)
		if err != nil {
			return nil, of.NameValue(err)
		}
		return f.Project(ctx, f.eng, x)
	}
}

// chosenRows returns some rows of a matrix.
func chosenRows(z *mat.Dense, rows []int) *mat.Dense {
	_, cols := z.Dims()
	out := mat.NewDense(len(rows), cols, nil)
	for i, row := range rows {
		out.SetRow(i, z.RawRowView(row))
	}
	return out
}

// savedRows is how many documents are projected and written at a time.
const savedRows = 4096

// save writes the coordinates of n documents, if there is a file for them.
func (r *componentsReport) save(ctx context.Context, p *cli.Progress, path string, n int, of coordinates) error {
	if path == "" {
		return nil
	}
	p.Stage("writing " + path)
	cols := len(r.Rows)
	row := make([]float32, cols)
	bytes, err := matrixio.Make(path, func(to io.Writer) error {
		w, err := matrixio.NewWriter("npy", to, matrixio.Header{Rows: n, Cols: cols})
		if err != nil {
			return err
		}
		for lo := 0; lo < n; lo += savedRows {
			p.Tell("writing "+path, int64(lo), int64(n), nil)
			z, err := of(ctx, run.Numbers(lo, min(lo+savedRows, n)))
			if err != nil {
				return err
			}
			for i := range min(savedRows, n-lo) {
				if err := ctx.Err(); err != nil {
					return err
				}
				for j, v := range z.RawRowView(i) {
					row[j] = float32(v)
				}
				if err := w.WriteRow(row); err != nil {
					return err
				}
			}
		}
		return w.Close()
	})
	if err == nil {
		r.Files = append(r.Files, fmt.Sprintf("%s: %s x %s, npy, %s", path, report.Count(n), report.Count(cols),
			report.Bytes(bytes)))
	}
	return err
}
