package spectral

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/learn/pca"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// PCA is the command pca, kernel principal component analysis.
var PCA = &cli.Command{
	Name:    "pca",
	Summary: "compute kernel principal components, and project other documents",
	Help: `
Computes kernel principal components from the leading eigenpairs of the centred Gram matrix, and
writes the coordinates of each document: to .csv, .tsv, .jsonl or .parquet as a table with the
columns document, label, pc1, pc2, ..., to other names as npy, a float32 matrix. With -test other
documents are projected onto the same components, with the terms and idf weights of -in. Components
that haven't converged within the memory are marked: increase -m or -tolerance, or decrease
-components. Signs of components are deterministic.

-landmarks M computes a Nyström approximation from M of the documents, in one pass over all, for
corpora that are too large for a whole matrix. The report has the variance that the
landmarks miss, which bounds the error of each eigenvalue; eigenvalues are never too large.`,
	Examples: `
gram pca -in train.tsv -components 50 -o Z.npy -test test.tsv -test-o T.npy
gram pca -in digits/ -kernel arccos:n=1 -components 300 -o Z.npy
gram pca -in mail/ -plot mail.svg
gram pca -in big.svm -landmarks 2000 -components 100 -o Z.npy`,
	Setup: func(f *cli.Flags) cli.Work {
		c := &components{f: f}
		c.StartsOver, c.Reread = true, []*string{&c.In}
		c.Documents.Declare(f, "goroot", &c.Limits)
		f.StringVar(&c.test, "test", "", "also project the documents of `SOURCE` onto the components")
		f.ReadsFiles(&c.test, "test", c.Files(&c.test))
		f.Group("Components", "")
		c.Kernels.Declare(f, "diffusion:t=0.5")
		f.IntVar(&c.count, "components", 2, "compute the `P` leading components")
		f.Float64Var(&c.tolerance, "tolerance", 1e-4, "stop when each residual is at most `E` times its eigenvalue")
		f.IntVar(&c.landmarks, "landmarks", 0, "approximate with `M` landmarks; 0 = use all documents")
		f.Uint64Var(&c.seed, "seed", 1, "random `SEED` for initial vectors and landmarks")
		c.Compute.Declare(f)
		f.Group("Output", "")
		npy := func(path *string) func() string {
			return func() string {
				return map[bool]string{true: "the npy format"}[formatOf(*path) == "npy"]
			}
		}
		f.WritesBinary(&c.out, "o", "write the coordinates to `FILE`; - = npy on standard output", npy(&c.out))
		f.WritesBinary(&c.testOut, "test-o", "write the coordinates of -test to `FILE`", npy(&c.testOut))
		f.Draws(&c.plot, "plot", "plot the first two components by class, and the explained variance, to `FILE` (.svg)")
		f.Pages()
		f.Check(c.check)
		return c.run
	},
}

// components holds the flags of pca.
type components struct {
	source.Documents
	source.Kernels
	backend.Compute
	f                        *cli.Flags
	test, out, testOut, plot string
	count, landmarks         int
	tolerance                float64
	seed                     uint64
	kernel                   kernel.Kernel
}

func (c *components) check() error {
	for flag, path := range map[string]string{"-o": c.out, "-test-o": c.testOut} {
		if err := cli.CheckTable(flag, path, "", "npy", "csv", "tsv", "jsonl", "parquet"); err != nil {
			return err
		}
	}
	switch {
	case c.count < 1:
		return cli.Usagef("-components must be at least 1, got %d", c.count)
	case c.landmarks < 0 || c.landmarks > landmark.MaxLandmarks:
		return cli.Usagef("-landmarks must be between 0 and %d, got %d", landmark.MaxLandmarks, c.landmarks)
	case !(c.tolerance > 0):
		return cli.Usagef("-tolerance must be positive, got %v", c.tolerance)
	case (c.test == "") != (c.testOut == ""):
		return cli.Usagef("-test and -test-o require each other")
	case c.out == "" && c.plot == "" && c.testOut == "" && c.f.Page == "":
		return cli.Usagef("-o FILE, -test-o FILE, -plot FILE or -report FILE is required")
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
		return cli.Usagef("only one kernel is allowed, got %d", len(kernels))
	}
	c.kernel = kernels[0]
	return nil
}

type componentsReport struct {
	Corpus     source.Line  `json:"corpus"`
	Test       *source.Line `json:"test,omitempty"`
	Kernel     string       `json:"kernel"`
	ISA        string       `json:"isa"`
	Why        string       `json:"backend_reason,omitempty"`
	Kept       bool         `json:"matrix_kept"`
	Landmarks  int          `json:"landmarks,omitempty"`
	Left       float64      `json:"left_by_landmarks,omitempty"` // fraction of the variance that landmarks miss
	Basis      int          `json:"vectors"`                     // number of basis vectors
	Converged  int          `json:"converged"`
	Total      float64      `json:"eigenvalue_sum"` // trace of the centred matrix
	Rows       []component  `json:"rows"`
	Files      []string     `json:"files"`
	Seconds    float64      `json:"seconds"` // time since the start of embedding
	PeakBytes  int64        `json:"peak_bytes"`
	LimitBytes int64        `json:"limit_bytes"`

	plots []*chart.Chart // charts for -plot and -report
}

// component describes a principal component.
type component struct {
	Eigenvalue float64 `json:"eigenvalue"`
	Residual   float64 `json:"residual"`
	Converged  bool    `json:"converged"`
	Share      float64 `json:"explained"` // fraction of the variance
	Sum        float64 `json:"explained_so_far"`
}

// shown is the maximum number of leading components in the text report.
const shown = 10

func (r *componentsReport) Describe(d *report.Document) {
	d.Title = "Components of " + filepath.Base(r.Corpus.Source)
	d.Line(r.Corpus)
	if r.Test != nil {
		d.Line(r.Test)
	}
	kept := "kernel matrix recomputed in each iteration"
	if r.Kept {
		kept = "kernel matrix stored"
	}
	if r.Landmarks > 0 {
		kept = fmt.Sprintf("%s of the variance lost by using %s", report.Percent(r.Left),
			report.Counted(r.Landmarks, "landmark", "landmarks"))
	}
	d.Linef("%s: %s, %d converged, from %s, %s, %s\n", r.Kernel,
		report.Counted(len(r.Rows), "component", "components"), r.Converged,
		report.Counted(r.Basis, "vector", "vectors"), kept, backend.WithWhy(r.ISA, r.Why))
	t := report.NewTable(">component", ">eigenvalue", ">residual", ">explained", ">so far", "")
	for i, row := range r.Rows {
		if i >= shown && i < len(r.Rows)-1 {
			continue
		}
		state := map[bool]string{false: "not converged"}[row.Converged]
		t.Add(fmt.Sprint(i+1), fmt.Sprintf("%.7g", row.Eigenvalue), report.Error(row.Residual), report.Percent(row.Share),
			report.Percent(row.Sum), state)
	}
	d.Table("Components", "", t)
	d.Line("")
	for _, file := range r.Files {
		d.Line(file)
	}
	d.Linef("%.2f s, %s", r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
	for i, c := range r.plots {
		d.Chart("Plots", c, []string{"documents by their first two components, coloured by class", "as in the table"}[i])
	}
}

func (c *components) run(ctx context.Context, e *cli.Env) error {
	p := e.Progress(false)
	defer p.Clear()
	c.Need = c.needs
	docs, err := c.Read(ctx, e, p)
	if err != nil {
		return err
	}
	r := &componentsReport{Corpus: source.NewLine(docs), LimitBytes: int64(c.Memory)}
	var test *corpus.Corpus
	if c.test != "" {
		if test, err = c.Like(c.test, docs).Read(ctx, e, p); err != nil {
			return err
		}
		if (test.Vocabulary == nil) != (docs.Vocabulary == nil) {
			return fmt.Errorf("-in %s and -test %s cannot be combined: one contains text, the other vectors", c.In,
				c.test)
		}
		r.Test = new(source.NewLine(test))
	}
	if n := docs.Documents.Rows(); n < 2 {
		return fmt.Errorf("%s has %s, but at least 2 are required", docs.Source,
			report.Documents(n))
	}
	if r.Corpus.Terms == 0 {
		return fmt.Errorf("%s: all %s are empty", docs.Source,
			report.Documents(docs.Documents.Rows()))
	}
	begin := time.Now()
	held := backend.RuntimeBytes + docs.Documents.Bytes()
	if test != nil {
		held += test.Documents.Bytes()
	}
	found, err := c.find(ctx, e, p, docs, held)
	if err != nil {
		return err
	}
	defer found.eng.Close()
	r.Kernel, r.ISA, r.Why = found.kernel.String(), found.eng.Info().Backend, c.Why()
	r.take(found.Components)
	p.Clear()
	if r.Converged < len(r.Rows) {
		e.Warn("%d of %s did not converge", len(r.Rows)-r.Converged, report.Counted(len(r.Rows), "component", "components"))
	}
	if len(r.Rows) < min(c.count, docs.Documents.Rows()) {
		have := "documents"
		if r.Landmarks > 0 {
			have = "landmarks"
		}
		e.Warn("-components is %d, but the %s have only %d components", c.count, have, len(r.Rows))
	}
	own := c.ofDocuments(found, docs)
	if z := found.Coordinates(); z != nil {
		own = func(_ context.Context, rows []int) (*mat.Dense, error) { return chosenRows(z, rows), nil }
	}
	if err := r.save(ctx, p, c.out, docs, own); err != nil {
		return err
	}
	if test != nil {
		n := min(test.Documents.Rows(), savedRows)
		need := sparse.EmbeddedBytes(n, test.Documents.NNZ()) + 8*int64(len(found.Values))*int64(n+2*found.eng.Len())
		if err := c.Fits("projecting "+report.Documents(test.Documents.Rows()), found.held+need); err != nil {
			return err
		}
		if err := r.save(ctx, p, c.testOut, test, c.ofDocuments(found, test)); err != nil {
			return err
		}
	}
	if c.plot != "" || c.f.Page != "" {
		if r.plots, err = r.draw(ctx, docs, own); err != nil {
			return err
		}
	}
	if c.plot != "" {
		if err := chart.Save(c.plot, width, 13, r.plots...); err != nil {
			return err
		}
	}
	p.Clear()
	r.Seconds, r.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	return c.Report(e, c.f, r)
}

// found holds components, and the data for projecting other documents.
type found struct {
	*pca.Components
	eng      *engine.Engine
	embedder *sparse.Embedder
	kernel   kernel.Kernel
	held     int64 // memory in use in bytes, including the engine
}

// find computes the components, from the whole matrix or from landmarks.
func (c *components) find(
	ctx context.Context, e *cli.Env, p *cli.Progress, docs *corpus.Corpus, held int64,
) (*found, error) {
	if c.landmarks > 0 {
		return c.sketch(ctx, e, p, docs, held)
	}
	embedded, inEngine := source.WorkBytes(docs.Size())
	what := fmt.Sprintf("components of %s", report.Documents(docs.Documents.Rows()))
	later := held - docs.Documents.Bytes() + c.needs(docs.Size())
	if err := c.Fits(what, held+embedded+inEngine, later); err != nil {
		return nil, err
	}
	x, err := source.Embed(ctx, docs, c.kernel.Embedding(), c.Workers)
	if err != nil {
		return nil, err
	}
	source.WarnEmptied(e, docs, x)
	source.WarnDoubtful(e, c.kernel)
	f := &found{kernel: kernel.Resolve(c.kernel, len(x.Embedder.Terms)), embedder: x.Embedder}
	if f.eng, err = c.Engine(x, c.Job(x.Rows()), nil); err != nil {
		return nil, err
	}
	f.held = held + f.eng.Info().Bytes
	if f.Components, err = c.fit(ctx, p, f.eng, x, f.kernel, f.held); err != nil {
		f.eng.Close()
		return nil, docs.NameValue(err)
	}
	return f, nil
}

// needs returns an upper bound of the memory for the components of a corpus, in bytes.
func (c *components) needs(s corpus.Size) int64 {
	opt := pca.Options{Components: c.count, Tolerance: c.tolerance, Seed: c.seed}
	n, documents := s.Documents, s.Bytes()
	if c.landmarks > 0 {
		m := min(c.landmarks, n)
		s = corpus.Size{Documents: m, Terms: s.Terms, Values: s.Values / int64(max(n, 1)) * int64(m), Longest: s.Longest}
	}
	embedded, inEngine := source.WorkBytes(s)
	return documents + max(embedded+inEngine, source.EngineBytes(s, c.NumWorkers())+8*int64(n)*int64(min(c.count, n))+
		pca.MinBytes(s.Documents, c.NumWorkers(), opt))
}

// fit computes the components within the remaining memory.
func (c *components) fit(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, x *sparse.Embedded, k kernel.Kernel, held int64,
) (*pca.Components, error) {
	opt := pca.Options{Components: c.count, Tolerance: c.tolerance, Seed: c.seed}
	// memory for the float64 coordinates
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

// take sets the fields that describe the components.
func (r *componentsReport) take(c *pca.Components) {
	r.Kept, r.Basis, r.Total = c.MatrixStored, c.Basis, c.Total
	r.Landmarks, r.Left = c.Landmarks, c.Residual/c.Total
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
