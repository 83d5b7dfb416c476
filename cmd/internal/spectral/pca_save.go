package spectral

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
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

// coordinates returns those of some documents.
type coordinates func(ctx context.Context, rows []int) (*mat.Dense, error)

// ofDocuments projects documents.
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

// formatOf returns the format of a file of coordinates, by its name: csv, tsv, jsonl or npy.
func formatOf(path string) string {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if ending != "parquet" && slices.Contains(table.Formats, ending) {
		return ending
	}
	return "npy"
}

// rowWriter returns functions that write the coordinates of document i of c, and the end of the file.
func rowWriter(
	to io.Writer, format string, c *corpus.Corpus, cols int,
) (row func(i int, values []float32) error, end func() error, err error) {
	switch format {
	case "npy":
		w, err := matrixio.NewWriter(format, to, matrixio.Header{Rows: c.Documents.Rows(), Cols: cols})
		if err != nil {
			return nil, nil, err
		}
		return func(_ int, values []float32) error { return w.WriteRow(values) }, func() error { return nil }, nil
	case "jsonl":
		b := bufio.NewWriter(to)
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		return func(i int, values []float32) error {
			return e.Encode(struct {
				Document    any       `json:"document"`
				Label       []string  `json:"label"`
				Coordinates []float32 `json:"coordinates"`
			}{source.JSONName(c, i), source.LabelsOf(c, i), values})
		}, b.Flush, nil
	}
	w := csv.NewWriter(to)
	if format == "tsv" {
		w.Comma = '\t'
	}
	record := []string{"document", "label"}
	for j := range cols {
		record = append(record, fmt.Sprint("pc", j+1))
	}
	return func(i int, values []float32) error {
		record[0] = run.PlainCell(source.ShortName(c, i))
		record[1] = run.PlainCell(strings.Join(source.LabelsOf(c, i), ","))
		for j, v := range values {
			record[2+j] = strconv.FormatFloat(float64(v), 'g', -1, 32)
		}
		return w.Write(record)
	}, func() error { w.Flush(); return w.Error() }, w.Write(record)
}

// save writes the coordinates of the documents of c, if there is a file for them.
func (r *componentsReport) save(
	ctx context.Context, p *cli.Progress, path string, c *corpus.Corpus, of coordinates,
) error {
	if path == "" {
		return nil
	}
	p.Stage("writing " + path)
	n, cols, format := c.Documents.Rows(), len(r.Rows), formatOf(path)
	values := make([]float32, cols)
	bytes, err := matrixio.Make(path, func(to io.Writer) error {
		row, end, err := rowWriter(to, format, c, cols)
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
					values[j] = float32(v)
				}
				if err := row(lo+i, values); err != nil {
					return err
				}
			}
		}
		return end()
	})
	if err == nil {
		r.Files = append(r.Files, fmt.Sprintf("%s: %s x %s, %s, %s", path, report.Count(n), report.Count(cols), format,
			report.Bytes(bytes)))
	}
	return err
}
