package spectral

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/cmd/grambench/internal/cli"
	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/cmd/grambench/internal/place"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/cmd/grambench/internal/source"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/pca"
	"github.com/gramengine/gram/sparse"
)

// PCA is the command that computes kernel principal components.
var PCA = &cli.Command{
	Name:    "pca",
	Summary: "kernel principal components of documents, and coordinates of others along them",
	Help: `
Finds the directions in a kernel's feature space along which documents vary most, from the leading
eigenpairs of the centred Gram matrix, and writes each document's coordinates along them as .npy:
float32, a row for each document. With -test other documents are projected onto the same components;
their terms and idf weights are those of -in. The matrix is computed tile by tile for each of some
products with many vectors, and kept where -m leaves room for it. Components that haven't converged
within the memory are marked: more -m, fewer -components or a greater -tolerance helps. A component
has a positive value of greatest size, so that its sign is the same from run to run.`,
	Examples: `
grambench pca -in train.tsv -components 50 -o Z.npy -test test.tsv -test-o T.npy
grambench pca -in digits/ -kernel arccos:n=1 -components 300 -o Z.npy
grambench pca -in mail/ -plot mail.png`,
	Setup: func(f *cli.Flags) cli.Work {
		c := &components{f: f}
		c.StartsOver, c.Reread = true, []*string{&c.In}
		c.Documents.Declare(f, "goroot", &c.Limits)
		f.StringVar(&c.test, "test", "", "project the documents of `SOURCE`, too")
		f.ReadsFiles(&c.test, "test", c.Files(&c.test))
		f.Group("Components", "")
		c.Kernels.Declare(f, "diffusion:t=0.5")
		f.IntVar(&c.count, "components", 2, "find the `P` leading components")
		f.Float64Var(&c.tolerance, "tolerance", 1e-4, "end at residuals of `E`, relative to each eigenvalue")
		f.Uint64Var(&c.seed, "seed", 1, "`SEED` of the first vectors")
		c.Compute.Declare(f)
		f.Group("Output", "")
		npy := func() string { return "a matrix in the form npy" }
		f.WritesBinary(&c.out, "o", "write the coordinates to `FILE`.npy, - for standard output", npy)
		f.WritesBinary(&c.testOut, "test-o", "write those of -test to `FILE`.npy", npy)
		f.Draws(&c.plot, "plot", "draw two components by class, and the explained shares, into `FILE`.png")
		f.Check(c.check)
		return c.run
	},
}

// components is a call of the command.
type components struct {
	source.Documents
	source.Kernels
	place.Compute
	f                        *cli.Flags
	test, out, testOut, plot string
	count                    int
	tolerance                float64
	seed                     uint64
	kernel                   engine.Kernel
}

func (c *components) check() error {
	switch {
	case c.count < 1:
		return cli.Usagef("-components %d is below 1", c.count)
	case !(c.tolerance > 0):
		return cli.Usagef("-tolerance %v, expected a number above 0", c.tolerance)
	case (c.test == "") != (c.testOut == ""):
		return cli.Usagef("-test and -test-o go together")
	case c.out == "" && c.plot == "" && c.testOut == "":
		return cli.Usagef("-o FILE, -test-o FILE or -plot FILE is missing")
	}
	if c.test != "" {
		c.Reread = append(c.Reread, &c.test)
	}
	c.StartsOver = !matrixio.IsStream(c.out) && !matrixio.IsStream(c.testOut)
	kernels, err := c.Parse("diffusion:t=0.5")
	if err != nil {
		return err
	}
	if len(kernels) > 1 {
		return cli.Usagef("%d kernels, expected one", len(kernels))
	}
	c.kernel = kernels[0]
	return nil
}

// componentsReport is the report of the command.
type componentsReport struct {
	Corpus     source.Line  `json:"corpus"`
	Test       *source.Line `json:"test,omitempty"`
	Kernel     string       `json:"kernel"`
	ISA        string       `json:"isa"`
	Why        string       `json:"backend_reason,omitempty"`
	Kept       bool         `json:"matrix_kept"`
	Basis      int          `json:"vectors"` // of the space that was made
	Converged  int          `json:"converged"`
	Total      float64      `json:"eigenvalue_sum"` // of the centred matrix
	Rows       []component  `json:"rows"`
	Files      []string     `json:"files"`
	Seconds    float64      `json:"seconds"` // from the embedding on
	PeakBytes  int64        `json:"peak_bytes"`
	LimitBytes int64        `json:"limit_bytes"`
}

// component is one of them.
type component struct {
	Eigenvalue float64 `json:"eigenvalue"`
	Residual   float64 `json:"residual"`
	Converged  bool    `json:"converged"`
	Share      float64 `json:"explained"` // of the variance
	Sum        float64 `json:"explained_so_far"`
}

// shown is how many components are printed.
const shown = 10

func (r *componentsReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	if r.Test != nil {
		fmt.Fprintln(w, r.Test)
	}
	kept := "the matrix computed for each product"
	if r.Kept {
		kept = "the matrix kept"
	}
	fmt.Fprintf(w, "%s: %s, %d of them converged, from %s, %s, %s\n\n", r.Kernel,
		report.Counted(len(r.Rows), "component", "components"), r.Converged,
		report.Counted(r.Basis, "vector", "vectors"), kept, place.WithWhy(r.ISA, r.Why))
	t := report.NewTable(">component", ">eigenvalue", ">residual", ">explained", ">so far", "")
	for i, row := range r.Rows {
		if i >= shown && i < len(r.Rows)-1 {
			continue
		}
		state := map[bool]string{false: "not converged"}[row.Converged]
		t.Add(fmt.Sprint(i+1), fmt.Sprintf("%.7g", row.Eigenvalue), report.Error(row.Residual), report.Percent(row.Share),
			report.Percent(row.Sum), state)
	}
	t.Write(w)
	fmt.Fprintln(w)
	for _, file := range r.Files {
		fmt.Fprintln(w, file)
	}
	fmt.Fprintf(w, "%.2f s, %s\n", r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
}

func (c *components) run(ctx context.Context, e *cli.Env) error {
	p := e.Progress(false)
	defer p.Clear()
	corpus, err := c.Read(ctx, e, p)
	if err != nil {
		return err
	}
	r := &componentsReport{Corpus: source.NewLine(corpus), LimitBytes: int64(c.Memory)}
	var test *sparse.Corpus
	if c.test != "" {
		if test, err = c.Like(c.test, corpus).Read(ctx, e, p); err != nil {
			return err
		}
		if (test.Vocabulary == nil) != (corpus.Vocabulary == nil) {
			return fmt.Errorf("-in %s and -test %s: one holds text and the other vectors, expected the same of both", c.In,
				c.test)
		}
		r.Test = new(source.NewLine(test))
	}
	if corpus.Documents.Rows() < 1 {
		return fmt.Errorf("%s holds no documents, expected 1 or more", corpus.Source)
	}
	begin := time.Now()
	held := place.RuntimeBytes + corpus.Documents.Bytes()
	if test != nil {
		held += test.Documents.Bytes()
	}
	embedded, inEngine := source.WorkBytes(corpus.Documents)
	what := fmt.Sprintf("components of %s", report.Documents(corpus.Documents.Rows()))
	if err := c.Fits(what, held+embedded+inEngine); err != nil {
		return err
	}
	x, err := source.Embed(ctx, corpus, c.kernel.Embedding(), c.Workers)
	if err != nil {
		return err
	}
	source.WarnEmptied(e, corpus, x)
	source.WarnDoubtful(e, c.kernel)
	k := engine.Resolve(c.kernel, len(x.Embedder.Terms))
	eng, err := c.Engine(x, c.Job(x.Rows()), nil)
	if err != nil {
		return err
	}
	defer eng.Close()
	r.Kernel, r.ISA, r.Why = k.String(), eng.Backend(), c.Why()
	held += eng.Bytes()
	found, err := c.fit(ctx, p, eng, x, k, held)
	if err != nil {
		return err
	}
	r.take(found)
	if found.Documents > 0 && r.Converged < len(r.Rows) {
		p.Clear()
		e.Warn("%d of %s haven't converged", len(r.Rows)-r.Converged, report.Counted(len(r.Rows), "component", "components"))
	}
	if len(r.Rows) < min(c.count, x.Rows()) {
		p.Clear()
		e.Warn("%d components are asked for, the documents have %d", c.count, len(r.Rows))
	}
	own := found.Coordinates()
	if err := save(ctx, p, c.out, own, &r.Files); err != nil {
		return err
	}
	if test != nil {
		if err := c.project(ctx, p, eng, x.Embedder, found, test, held, &r.Files); err != nil {
			return err
		}
	}
	if c.plot != "" {
		if err := r.draw(c.plot, corpus, own); err != nil {
			return err
		}
	}
	p.Clear()
	r.Seconds, r.PeakBytes = time.Since(begin).Seconds(), place.PeakBytes()
	return c.Report(e, c.f, r)
}

// fit finds the components within the memory that is left.
func (c *components) fit(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, x *sparse.Embedded, k engine.Kernel, held int64,
) (*pca.Components, error) {
	opt := pca.Options{Components: c.count, Tolerance: c.tolerance, Seed: c.seed}
	// the coordinates are written from float64 copies
	after := 8 * int64(x.Rows()) * int64(min(c.count, x.Rows()))
	least, _ := pca.Bytes(eng, opt)
	what := fmt.Sprintf("%d components of %s", c.count, report.Documents(x.Rows()))
	if err := c.Fits(what, held+after+least); err != nil {
		return nil, err
	}
	if budget := c.Budget(); budget > 0 {
		opt.MemoryBytes = budget - held - after
	}
	p.Stage("components of " + k.String())
	opt.Progress = func(vectors, most int, worst float64) {
		text := fmt.Sprintf("%d vectors", vectors)
		if !math.IsNaN(worst) {
			text += ", residual " + report.Error(worst)
		}
		p.Tell("components of "+k.String(), int64(vectors), int64(most), []string{text})
	}
	found, err := pca.Fit(ctx, eng, x, k, opt)
	p.Clear()
	return found, err
}

// project writes the coordinates of test documents.
func (c *components) project(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, embedder *sparse.Embedder, found *pca.Components,
	test *sparse.Corpus, held int64, files *[]string,
) error {
	p.Stage("projecting test documents")
	n := test.Documents.Rows()
	need := sparse.EmbeddedBytes(n, test.Documents.NNZ()) +
		8*int64(len(found.Values))*int64(n+2*found.Documents)
	if err := c.Fits("projecting "+report.Documents(n), held+need); err != nil {
		return err
	}
	x, err := embedder.TransformRows(ctx, test.Documents, nil, c.Workers)
	if err != nil {
		return source.NameValue(test, err)
	}
	z, err := found.Project(ctx, eng, x)
	if err != nil {
		return err
	}
	return save(ctx, p, c.testOut, z, files)
}

// take fills the rows.
func (r *componentsReport) take(c *pca.Components) {
	r.Kept, r.Basis, r.Total = c.Kept, c.Basis, c.Total
	sum := 0.0
	for _, v := range c.Values {
		share := v.Value / c.Total
		sum += share
		r.Rows = append(r.Rows, component{v.Value, v.Residual, v.Converged, share, sum})
		if v.Converged {
			r.Converged++
		}
	}
}

// save writes coordinates, if there is a file for them.
func save(ctx context.Context, p *cli.Progress, path string, z *mat.Dense, files *[]string) error {
	if path == "" {
		return nil
	}
	p.Stage("writing " + path)
	rows, cols := z.Dims()
	row := make([]float32, cols)
	bytes, err := matrixio.Make(path, func(to io.Writer) error {
		w, err := matrixio.NewWriter("npy", to, matrixio.Header{Rows: rows, Cols: cols})
		if err != nil {
			return err
		}
		for i := range rows {
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
		return w.Close()
	})
	if err == nil {
		*files = append(*files, fmt.Sprintf("%s: %s x %s, npy, %s", path, report.Count(rows), report.Count(cols),
			report.Bytes(bytes)))
	}
	return err
}
