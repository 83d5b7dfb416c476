package hyperbolic

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

// Command is gramlab hyperbolic.
var Command = &cli.Command{
	Name:    "hyperbolic",
	Summary: "the matrix of the hyperbolic kernel on sets of points, for train -kernel precomputed",
	Help: `
Estimates a spherical normal distribution for each set of points and writes the matrix of the
hyperbolic diffusion kernel of these distributions (Lafferty and Lebanon, JMLR 6, 2005, §3.1):
  k = K(t,r)/K(t,0), K the heat kernel of Hⁿ,
  cosh r = 1 + (‖μ-μ′‖²/2P + (σ-σ′)²)/2σσ′
Coordinates that are 0 for all points of -in are ignored; P is the number of the others.
With -test, rows are the sets of -test and columns the sets of -in: a matrix to predict with.
gram train -kernel precomputed trains on the file. If -o ends in .npy, give -o-labels, too.`,
	Examples: `
gramlab hyperbolic -in points.svm -sets qid -t 0.5 -o K.svm
gramlab hyperbolic -in points.svm -sets qid -t 0.5 -test new.svm -o new.K.svm
gram train -kernel precomputed K.svm sets.model && gram predict new.K.svm sets.model`,
	Setup: func(f *cli.Flags) cli.Work {
		c := &command{f: f}
		f.Group("Points", "")
		file := func(name *string) func(context.Context) []string {
			return func(context.Context) []string { return []string{*name} }
		}
		f.StringVar(&c.in, "in", "", "compare the points of `FILE`; must be given")
		f.ReadsFiles(&c.in, "in", file(&c.in))
		f.StringVar(&c.sets, "sets", "qid", "`SETS`: qid or label names the set of each point, "+
			"or a file with a line set<TAB>class per point")
		f.StringVar(&c.test, "test", "", "compare the points of `FILE` with those of -in")
		f.ReadsFiles(&c.test, "test", file(&c.test))
		f.StringVar(&c.testSets, "test-sets", "", "as -sets, for -test (default: as -sets, if that is no file)")
		f.Group("Kernel", "")
		f.Float64Var(&c.t, "t", 1, "diffusion time, in squared units of the distance for curvature -1")
		f.IntVar(&c.n, "n", 0, "dimension of the hyperbolic space (default: P+1)")
		f.BoolVar(&c.full, "full", false, "K(t,r), not divided by K(t,0)")
		c.DeclareWorkers(f)
		f.Group("Output", "")
		f.Writes(&c.out, "o", "write the matrix to `FILE`, .npy, .svm or .mtx; must be given")
		f.Writes(&c.labels, "o-labels", "write the labels of the rows to `FILE`, one per line")
		f.Check(c.check)
		return c.run
	},
}

type command struct {
	backend.Limits
	f                        *cli.Flags
	in, sets, test, testSets string
	out, labels, format      string
	t                        float64
	n                        int
	full                     bool
}

func (c *command) check() error {
	c.format = matrixio.FormatOf(c.out)
	switch {
	case c.in == "" || c.out == "":
		return cli.Usagef("-in FILE and -o FILE must be given")
	case c.format == "":
		return cli.Usagef("-o %s: unknown file name extension, expected .npy, .svm, .libsvm, .mtx or .mm", c.out)
	case c.test != "" && c.testSets == "" && c.sets != "qid" && c.sets != "label":
		return cli.Usagef("-sets %s assigns the points of -in, expected -test-sets for those of -test", c.sets)
	case !(c.t > 0) || c.n < 0:
		return cli.Usagef("-t %v -n %d, expected t > 0 and n >= 0", c.t, c.n)
	}
	return nil
}

// sample is a file of points as distributions.
type sample struct {
	corpus  *corpus.Corpus
	sets    *Sets
	normals []Normal
}

// read reads points and estimates their distributions. columns are the coordinates, nil for those that
// aren't 0 for all points.
func (c *command) read(ctx context.Context, path, how string, columns []uint32) (*sample, []uint32, error) {
	qid := ""
	if how == "qid" {
		qid = how
	}
	docs, err := corpus.Read(ctx, path, corpus.Options{Signed: true, GroupColumn: qid, Workers: c.NumWorkers()})
	if err != nil {
		return nil, nil, err
	}
	s := &sample{corpus: docs}
	if columns == nil {
		columns, _ = docs.Documents.TermFrequencies()
	}
	if len(columns) == 0 || len(columns) >= MaxDimension {
		return nil, nil, fmt.Errorf("%s: points of %d coordinates, expected 1 to %d", path, len(columns), MaxDimension-1)
	}
	if s.sets, err = SetsOf(docs, how); err != nil {
		return nil, nil, err
	}
	if s.normals, err = Fit(docs.Documents, s.sets, columns); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, columns, nil
}

// result is the report of the command.
type result struct {
	Points      int    `json:"points"`
	Sets        int    `json:"sets"`
	Coordinates int    `json:"coordinates"`
	Dimension   int    `json:"n"`
	Rows        int    `json:"rows"`
	File        string `json:"file"`
	Bytes       int64  `json:"file_bytes"`
}

func (r *result) Describe(d *report.Document) {
	d.Linef("%s in %s, %s, n = %d\n%s: %s x %s, %s", report.Counted(r.Points, "point", "points"),
		report.Counted(r.Sets, "set", "sets"), report.Counted(r.Coordinates, "coordinate", "coordinates"), r.Dimension,
		r.File, report.Count(r.Rows), report.Count(r.Sets), report.Bytes(r.Bytes))
}

// stripe is the number of rows that are computed before they are written.
const stripe = 256

func (c *command) run(ctx context.Context, e *cli.Env) error {
	train, columns, err := c.read(ctx, c.in, c.sets, nil)
	if err != nil {
		return err
	}
	n := cmp.Or(c.n, len(columns)+1)
	if n <= len(columns) {
		e.Warn("-n %d on points of %d coordinates is not proven to be positive definite, which holds for n > %[2]d",
			n, len(columns))
	}
	rows := train
	if c.test != "" {
		if rows, _, err = c.read(ctx, c.test, cmp.Or(c.testSets, c.sets), columns); err != nil {
			return err
		}
	}
	heat, err := NewHeat(ctx, c.t, n, c.full, slices.Concat(train.normals, rows.normals))
	if err != nil {
		return err
	}
	r := &result{Points: train.corpus.Documents.Rows(), Sets: len(train.normals), Coordinates: len(columns), Dimension: n,
		Rows: len(rows.normals), File: c.out}
	header := matrixio.Header{Rows: r.Rows,
		Comment: fmt.Sprintf("hyperbolic:t=%s,n=%d of %s", report.Float(c.t), n, filepath.Base(c.in))}
	if rows != train {
		header.Cols = r.Sets
	}
	if header.Labels, err = c.numbers(e, train.sets, rows.sets); err != nil {
		return err
	}
	p := e.Progress(false)
	defer p.Clear()
	if r.Bytes, err = matrixio.Make(c.out, func(to io.Writer) error {
		w, err := matrixio.NewWriter(c.format, to, header)
		if err != nil {
			return err
		}
		part := engine.NewDense(min(stripe, r.Rows), r.Sets)
		for first := 0; first < r.Rows; first += stripe {
			some := rows.normals[first:min(first+stripe, r.Rows)]
			if err := heat.Rows(ctx, c.NumWorkers(), some, train.normals, part); err != nil {
				return err
			}
			for i := range some {
				if err := w.WriteRow(part.Row(i)); err != nil {
					return err
				}
			}
			p.Update(int64(first+len(some)), int64(r.Rows))
		}
		return nil
	}); err != nil {
		return err
	}
	if c.labels != "" {
		if _, err := matrixio.Make(c.labels, func(w io.Writer) error {
			_, err := io.WriteString(w, strings.Join(rows.sets.Class, "\n")+"\n")
			return err
		}); err != nil {
			return err
		}
	}
	p.Clear()
	return report.Write(e.Reports(), r, c.f.JSON)
}

// numbers returns the classes of rows as numbers, which the format libsvm needs: the class itself if all
// classes of training are numbers, else 1, 2, … in the order of their first sets, which it prints.
func (c *command) numbers(e *cli.Env, train, rows *Sets) ([]string, error) {
	if c.format != "libsvm" {
		return nil, nil
	}
	number, numeric := map[string]string{"": "0"}, true
	for _, class := range train.Class {
		if v, err := strconv.ParseFloat(class, 64); class != "" && (err != nil || math.IsNaN(v) || math.IsInf(v, 0)) {
			numeric = false
		}
	}
	for _, class := range slices.Concat(train.Class, rows.Class) {
		if _, known := number[class]; known {
			continue
		}
		if number[class] = class; !numeric {
			number[class] = strconv.Itoa(len(number) - 1) // "" has 0
			e.Say("label %s stands for class %s", number[class], class)
		}
	}
	labels := make([]string, len(rows.Class))
	for i, class := range rows.Class {
		labels[i] = number[class]
	}
	return labels, nil
}
