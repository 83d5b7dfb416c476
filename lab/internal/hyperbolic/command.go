package hyperbolic

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

// Command implements `gramlab hyperbolic`.
var Command = &cli.Command{
	Name:    "hyperbolic",
	Summary: "compute the hyperbolic kernel matrix of sets of points, for train -kernel precomputed",
	Help: `
Estimates a spherical normal distribution for each set of points and writes the matrix of the
hyperbolic diffusion kernel of these distributions (Lafferty and Lebanon, JMLR 6, 2005, §3.1):
  k = K(t,r)/K(t,0), K the heat kernel of Hⁿ,
  cosh r = 1 + (‖μ-μ′‖²/2P + (σ-σ′)²)/2σσ′
Points with the same qid are a set; their label is its class. Coordinates that are 0 for all points
of -in are ignored; P is the number of the others. With -test, rows are the sets of -test and
columns the sets of -in: a matrix to predict with.`,
	Examples: `
gramlab hyperbolic -in points.svm -t 0.5 -o K.svm
gramlab hyperbolic -in points.svm -t 0.5 -test new.svm -o new.K.svm
gram train -kernel precomputed K.svm sets.model && gram predict new.K.svm sets.model`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		c := &command{f: f}
		f.StartGroup("Points", "")
		f.InputVar(&c.in, "in", "read the sets of points from `FILE`, in LIBSVM format with qid:N (required)")
		f.InputVar(&c.test, "test", "compare the sets in `FILE` with the sets of -in")
		f.StartGroup("Kernel", "")
		f.Float64Var(&c.t, "t", 1, "diffusion time, in units of squared distance at curvature -1")
		f.IntVar(&c.n, "n", 0, "dimension of the hyperbolic space (default: P+1)")
		c.DeclareWorkers(f)
		f.StartGroup("Output", "")
		f.OutputVar(&c.out, "o", "write the matrix to `FILE` (.npy, .svm or .mtx; required)")
		f.AddCheck(c.check)
		return c.run
	},
}

type command struct {
	backend.Limits
	f                     *cli.Flags
	in, test, out, format string
	t                     float64
	n                     int
}

func (c *command) check() error {
	c.format = matrixio.FormatOf(c.out)
	switch {
	case c.in == "" || c.out == "":
		return cli.Usagef("-in FILE and -o FILE are required")
	case c.format == "":
		return cli.Usagef("-o %s: unknown extension; valid extensions are .npy, .svm, .libsvm, .mtx and .mm", c.out)
	case !(c.t > 0) || c.n < 0:
		return cli.Usagef("-t must be positive and -n nonnegative, got %v and %d", c.t, c.n)
	}
	return nil
}

// sample holds a normal distribution for each set of points in a file.
type sample struct {
	pointCount int
	columns    []uint32 // coordinate columns
	normals    []Normal // one per set
	classes    []string // class names, one per set
}

// read reads points and fits a normal distribution to each set. columns lists the coordinate
// columns; nil selects all columns with values.
func (c *command) read(ctx context.Context, path string, columns []uint32) (*sample, error) {
	docs, err := corpus.Read(ctx, path, corpus.Options{Signed: true, GroupColumn: "qid", Workers: c.NumWorkers()})
	if err != nil {
		return nil, err
	}
	if docs.Groups == nil {
		return nil, fmt.Errorf("%s has no qid; use the LIBSVM format with qid:N", path)
	}
	s := &sample{pointCount: docs.Documents.Rows(), columns: columns}
	if columns == nil {
		s.columns, _ = docs.Documents.TermFrequencies()
	}
	if len(s.columns) == 0 || len(s.columns) >= MaxDimension {
		return nil, fmt.Errorf("%s: points must have 1 to %d coordinates, got %d", path, MaxDimension-1, len(s.columns))
	}
	sets, members := map[int64]int{}, [][]int(nil)
	for i, id := range docs.Groups {
		class := "0"
		if ids := docs.Labels.Classes(i); len(ids) > 0 {
			class = docs.Classes[ids[0]]
		}
		set, known := sets[id]
		if !known {
			set = len(members)
			sets[id], members, s.classes = set, append(members, nil), append(s.classes, class)
		}
		if s.classes[set] != class {
			return nil, fmt.Errorf("%s:%d: set %d has class %q here, but class %q before", path, i+1, id, class, s.classes[set])
		}
		if _, err := strconv.ParseFloat(class, 64); err != nil && c.format == "libsvm" {
			return nil, fmt.Errorf("%s:%d: class %q is not a number, as the LIBSVM format requires", path, i+1, class)
		}
		members[set] = append(members[set], i)
	}
	for _, rows := range members {
		n, err := FitNormal(docs.Documents, rows, s.columns)
		if err != nil {
			return nil, fmt.Errorf("%s: set %d: %w", path, docs.Groups[rows[0]], err)
		}
		s.normals = append(s.normals, n)
	}
	return s, nil
}

type result struct {
	PointCount      int    `json:"points"`
	SetCount        int    `json:"sets"`
	CoordinateCount int    `json:"coordinates"`
	Dimension       int    `json:"n"`
	RowCount        int    `json:"rows"`
	File            string `json:"file"`
	FileBytes       int64  `json:"file_bytes"`
}

func (r *result) Describe(d *report.Document) {
	d.AddLinef("%s in %s, %s, n = %d\n%s: %s x %s, %s", report.FormatCountOf(r.PointCount, "point", "points"),
		report.FormatCountOf(r.SetCount, "set", "sets"), report.FormatCountOf(r.CoordinateCount, "coordinate",
			"coordinates"), r.Dimension,
		r.File, report.FormatCount(r.RowCount), report.FormatCount(r.SetCount), report.FormatBytes(r.FileBytes))
}

const stripeRows = 256

func (c *command) run(ctx context.Context, e *cli.Env) error {
	train, err := c.read(ctx, c.in, nil)
	if err != nil {
		return err
	}
	dimension := cmp.Or(c.n, len(train.columns)+1)
	if dimension <= len(train.columns) {
		e.Warnf("the kernel may not be positive definite, because -n %d does not exceed the number of coordinates, %d",
			dimension, len(train.columns))
	}
	rows := train
	if c.test != "" {
		if rows, err = c.read(ctx, c.test, train.columns); err != nil {
			return err
		}
	}
	heat, err := NewNormalisedKernel(c.t, dimension, slices.Concat(train.normals, rows.normals))
	if err != nil {
		return err
	}
	r := &result{train.pointCount, len(train.normals), len(train.columns), dimension, len(rows.normals), c.out, 0}
	header := matrixio.Header{Rows: r.RowCount,
		Comment: fmt.Sprintf("hyperbolic:t=%s,n=%d of %s", report.FormatFloat(c.t), dimension, filepath.Base(c.in))}
	if rows != train {
		header.Cols = r.SetCount
	}
	if c.format == "libsvm" {
		header.Labels = rows.classes
	}
	if r.FileBytes, err = matrixio.WriteFile(c.out, func(to io.Writer) error {
		w, err := matrixio.NewWriter(c.format, to, header)
		if err != nil {
			return err
		}
		part := engine.NewDense(min(stripeRows, r.RowCount), r.SetCount)
		for some := range slices.Chunk(rows.normals, stripeRows) {
			if err := heat.ComputeRows(ctx, c.NumWorkers(), some, train.normals, part); err != nil {
				return err
			}
			for i := range some {
				if err := w.WriteRow(part.Row(i)); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		return err
	}
	return report.Write(e.ReportWriter(), r, c.f.JSON)
}
