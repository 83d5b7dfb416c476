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
	Setup: func(f *cli.Flags) cli.RunFunc {
		c := &pcaFlags{f: f}
		c.Restartable, c.RereadSources = true, []*string{&c.Source}
		c.Documents.Declare(f, "goroot", &c.Limits)
		f.StringVar(&c.test, "test", "", "also project the documents of `SOURCE` onto the components")
		f.RegisterInput(&c.test, "test", c.Files(&c.test))
		f.StartGroup("Components", "")
		c.Kernels.Declare(f, "diffusion:t=0.5")
		f.IntVar(&c.numComponents, "components", 2, "compute the `P` leading components")
		f.Float64Var(&c.tolerance, "tolerance", 1e-4, "stop when each residual is at most `E` times its eigenvalue")
		f.IntVar(&c.numLandmarks, "landmarks", 0, "approximate with `M` landmarks; 0 = use all documents")
		f.Uint64Var(&c.seed, "seed", 1, "random `SEED` for initial vectors and landmarks")
		c.ComputeFlags.Declare(f)
		f.StartGroup("Output", "")
		npy := func(path *string) func() string {
			return func() string {
				return map[bool]string{true: "the npy format"}[formatOf(*path) == "npy"]
			}
		}
		f.BinaryOutputVar(&c.out, "o", "write the coordinates to `FILE`; - = standard output, in npy format", npy(&c.out))
		f.BinaryOutputVar(&c.testOut, "test-o", "write the coordinates of -test to `FILE`", npy(&c.testOut))
		f.SVGOutputVar(&c.plot, "plot",
			"plot the first two components and the explained variance to `FILE` (.svg)")
		f.DeclareReport()
		f.AddCheck(c.check)
		return c.run
	},
}

type pcaFlags struct {
	source.Documents
	source.Kernels
	backend.ComputeFlags
	f                           *cli.Flags
	test, out, testOut, plot    string
	numComponents, numLandmarks int
	tolerance                   float64
	seed                        uint64
	kernel                      kernel.Kernel
}

func (c *pcaFlags) check() error {
	for flag, path := range map[string]string{"-o": c.out, "-test-o": c.testOut} {
		if err := cli.CheckTableExtension(flag, path, "", "npy", "csv", "tsv", "jsonl", "parquet"); err != nil {
			return err
		}
	}
	switch {
	case c.numComponents < 1:
		return cli.Usagef("-components must be at least 1, got %d", c.numComponents)
	case c.numLandmarks < 0 || c.numLandmarks > landmark.MaxLandmarks:
		return cli.Usagef("-landmarks must be between 0 and %d, got %d", landmark.MaxLandmarks, c.numLandmarks)
	case !(c.tolerance > 0):
		return cli.Usagef("-tolerance must be positive, got %v", c.tolerance)
	case (c.test == "") != (c.testOut == ""):
		return cli.Usagef("-test and -test-o must be set together")
	case c.out == "" && c.plot == "" && c.testOut == "" && c.f.ReportPath == "":
		return cli.Usagef("-o FILE, -test-o FILE, -plot FILE or -report FILE is required")
	}
	if c.test != "" {
		c.RereadSources = append(c.RereadSources, &c.test)
	}
	c.Restartable = !matrixio.IsStream(c.out) && !matrixio.IsStream(c.testOut)
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
	Corpus        source.Summary  `json:"corpus"`
	Test          *source.Summary `json:"test,omitempty"`
	Kernel        string          `json:"kernel"`
	ISA           string          `json:"isa"`
	BackendReason string          `json:"backend_reason,omitempty"`
	MatrixStored  bool            `json:"matrix_kept"`
	NumLandmarks  int             `json:"landmarks,omitempty"`
	LostVariance  float64         `json:"left_by_landmarks,omitempty"` // fraction of the variance that landmarks miss
	NumBasis      int             `json:"vectors"`                     // number of basis vectors
	NumConverged  int             `json:"converged"`
	Trace         float64         `json:"eigenvalue_sum"` // trace of the centred matrix
	Rows          []componentRow  `json:"rows"`
	Files         []string        `json:"files"`
	Seconds       float64         `json:"seconds"` // time since the start of embedding
	PeakBytes     int64           `json:"peak_bytes"`
	LimitBytes    int64           `json:"limit_bytes"`

	plots []*chart.Chart // charts for -plot and -report
}

type componentRow struct {
	Eigenvalue             float64 `json:"eigenvalue"`
	Residual               float64 `json:"residual"`
	Converged              bool    `json:"converged"`
	ExplainedVarianceRatio float64 `json:"explained"` // fraction of the total variance
	CumulativeRatio        float64 `json:"explained_so_far"`
}

// maxShown is the maximum number of leading components in the table. The last component follows.
const maxShown = 10

func (r *componentsReport) Describe(d *report.Document) {
	d.Title = "Components of " + filepath.Base(r.Corpus.Source)
	d.AddLine(r.Corpus)
	if r.Test != nil {
		d.AddLine(r.Test)
	}
	kept := "kernel matrix recomputed in each iteration"
	if r.MatrixStored {
		kept = "kernel matrix stored"
	}
	if r.NumLandmarks > 0 {
		kept = fmt.Sprintf("%s of the variance is lost by using %s", report.FormatPercent(r.LostVariance),
			report.FormatCountOf(r.NumLandmarks, "landmark", "landmarks"))
	}
	d.AddLinef("%s: %s, %d converged, from %s, %s, %s\n", r.Kernel,
		report.FormatCountOf(len(r.Rows), "component", "components"), r.NumConverged,
		report.FormatCountOf(r.NumBasis, "vector", "vectors"), kept, backend.WithReason(r.ISA, r.BackendReason))
	t := report.NewTable(">component", ">eigenvalue", ">residual", ">explained", ">so far", "")
	for i, row := range r.Rows {
		if i >= maxShown && i < len(r.Rows)-1 {
			continue
		}
		state := map[bool]string{false: "not converged"}[row.Converged]
		t.Add(fmt.Sprint(i+1), fmt.Sprintf("%.7g", row.Eigenvalue), report.FormatError(row.Residual),
			report.FormatPercent(row.ExplainedVarianceRatio),
			report.FormatPercent(row.CumulativeRatio), state)
	}
	d.AddTable("Components", "", t)
	d.AddLine("")
	for _, file := range r.Files {
		d.AddLine(file)
	}
	d.AddLinef("%.2f s, %s", r.Seconds, report.FormatPeakMemory(r.PeakBytes, r.LimitBytes))
	for i, c := range r.plots {
		d.AddChart("Plots", c, []string{"documents by their first two components, coloured by class", "as in the table"}[i])
	}
}

func (c *pcaFlags) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(false)
	defer p.Clear()
	c.Need = c.requiredBytes
	docs, err := c.Read(ctx, e, p)
	if err != nil {
		return err
	}
	r := &componentsReport{Corpus: source.NewSummary(docs), LimitBytes: int64(c.Memory)}
	var test *corpus.Corpus
	if c.test != "" {
		if test, err = c.WithTermsOf(c.test, docs).Read(ctx, e, p); err != nil {
			return err
		}
		if (test.Vocabulary == nil) != (docs.Vocabulary == nil) {
			return fmt.Errorf("-in %s and -test %s cannot be combined: one contains text, the other vectors", c.Source, c.test)
		}
		r.Test = new(source.NewSummary(test))
	}
	if n := docs.Documents.Rows(); n < 2 {
		return fmt.Errorf("%s has %s, but at least 2 are required", docs.Source, report.FormatDocuments(n))
	}
	if r.Corpus.TermCount == 0 {
		return fmt.Errorf("%s: all %s are empty", docs.Source, report.FormatDocuments(docs.Documents.Rows()))
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
	r.Kernel, r.ISA, r.BackendReason = found.kernel.String(), found.eng.Info().Backend, c.Reason()
	r.setComponents(found.Components)
	p.Clear()
	if r.NumConverged < len(r.Rows) {
		e.Warnf("%d of %s did not converge", len(r.Rows)-r.NumConverged,
			report.FormatCountOf(len(r.Rows), "component", "components"))
	}
	if len(r.Rows) < min(c.numComponents, docs.Documents.Rows()) {
		have := "documents"
		if r.NumLandmarks > 0 {
			have = "landmarks"
		}
		e.Warnf("-components is %d, but the %s have only %d principal components", c.numComponents, have, len(r.Rows))
	}
	own := c.coordinatesOf(found, docs)
	if z := found.Coordinates(); z != nil {
		own = func(_ context.Context, rows []int) (*mat.Dense, error) { return selectRows(z, rows), nil }
	}
	if err := r.save(ctx, p, c.out, docs, own); err != nil {
		return err
	}
	if test != nil {
		n := min(test.Documents.Rows(), saveBatch)
		need := sparse.EmbeddedBytes(n, test.Documents.NNZ()) + 8*int64(len(found.Eigenvalues))*int64(n+2*found.eng.Len())
		if err := c.CheckMemory("projecting "+report.FormatDocuments(test.Documents.Rows()),
			found.heldBytes+need); err != nil {
			return err
		}
		if err := r.save(ctx, p, c.testOut, test, c.coordinatesOf(found, test)); err != nil {
			return err
		}
	}
	if c.plot != "" || c.f.ReportPath != "" {
		if r.plots, err = r.draw(ctx, docs, own); err != nil {
			return err
		}
	}
	if c.plot != "" {
		if err := chart.Save(c.plot, plotWidth, 13, r.plots...); err != nil {
			return err
		}
	}
	p.Clear()
	r.Seconds, r.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	return c.PrintReport(e, c.f, r)
}

// projection holds components, and the data for projecting other documents.
type projection struct {
	*pca.Components
	eng       *engine.Engine
	embedder  *sparse.Embedder
	kernel    kernel.Kernel
	heldBytes int64 // memory in use in bytes, including the engine
}

// find computes the components, from the whole matrix or from landmarks.
func (c *pcaFlags) find(
	ctx context.Context, e *cli.Env, p *cli.Progress, docs *corpus.Corpus, held int64,
) (*projection, error) {
	if c.numLandmarks > 0 {
		return c.fitLandmarks(ctx, e, p, docs, held)
	}
	embedded, inEngine := source.ScratchBytes(docs.Size())
	what := fmt.Sprintf("components of %s", report.FormatDocuments(docs.Documents.Rows()))
	later := held - docs.Documents.Bytes() + c.requiredBytes(docs.Size())
	if err := c.CheckMemory(what, held+embedded+inEngine, later); err != nil {
		return nil, err
	}
	x, err := source.Embed(ctx, docs, c.kernel.Embedding(), c.Workers)
	if err != nil {
		return nil, err
	}
	source.WarnEmptyDocuments(e, docs, x)
	source.WarnIndefinite(e, c.kernel)
	f := &projection{kernel: kernel.Resolve(c.kernel, len(x.Embedder.Terms)), embedder: x.Embedder}
	if f.eng, err = c.NewEngine(x, c.BackendFor(x.Rows()), nil); err != nil {
		return nil, err
	}
	f.heldBytes = held + f.eng.Info().Bytes
	if f.Components, err = c.fit(ctx, p, f.eng, x, f.kernel, f.heldBytes); err != nil {
		f.eng.Close()
		return nil, docs.DescribeError(err)
	}
	return f, nil
}

// requiredBytes estimates the memory in bytes for a corpus and its components.
func (c *pcaFlags) requiredBytes(s corpus.Size) int64 {
	opt := pca.Options{NumComponents: c.numComponents, Tolerance: c.tolerance, Seed: c.seed}
	n, documents := s.Documents, s.Bytes()
	if c.numLandmarks > 0 {
		m := min(c.numLandmarks, n)
		s = corpus.Size{Documents: m, Terms: s.Terms, Values: s.Values / int64(max(n, 1)) * int64(m),
			LongestRow: s.LongestRow}
	}
	embedded, inEngine := source.ScratchBytes(s)
	return documents + max(embedded+inEngine, source.EngineBytes(s,
		c.NumWorkers())+8*int64(n)*int64(min(c.numComponents, n))+
		pca.MinFitBytes(s.Documents, c.NumWorkers(), opt))
}

// fit computes the components within the remaining memory.
func (c *pcaFlags) fit(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, x *sparse.Embedded, k kernel.Kernel, held int64,
) (*pca.Components, error) {
	opt := pca.Options{NumComponents: c.numComponents, Tolerance: c.tolerance, Seed: c.seed}
	// memory for the float64 coordinates
	after := 8 * int64(x.Rows()) * int64(min(c.numComponents, x.Rows()))
	least, _ := pca.FitBytes(eng, opt)
	what := fmt.Sprintf("%d components of %s", c.numComponents, report.FormatDocuments(x.Rows()))
	if err := c.CheckMemory(what, held+after+least); err != nil {
		return nil, err
	}
	if budget := c.Budget(); budget > 0 {
		opt.MemoryBytes = budget - held - after
	}
	p.StartStage("components of " + k.String())
	opt.Progress = func(vectors, most int, worst float64) {
		text := fmt.Sprintf("%d vectors", vectors)
		if !math.IsNaN(worst) {
			text += ", residual " + report.FormatError(worst)
		}
		p.Show("components of "+k.String(), int64(vectors), int64(most), []string{text})
	}
	found, err := pca.Fit(ctx, eng, x, k, opt)
	p.Clear()
	return found, err
}

func (r *componentsReport) setComponents(c *pca.Components) {
	r.MatrixStored, r.NumBasis, r.Trace = c.MatrixStored, c.BasisSize, c.Total
	r.NumLandmarks, r.LostVariance = c.NumLandmarks, c.Residual/c.Total
	sum := 0.0
	for _, v := range c.Eigenvalues {
		share := v.Value / c.Total
		sum += share
		r.Rows = append(r.Rows, componentRow{v.Value, v.Residual, v.Converged, share, sum})
		if v.Converged {
			r.NumConverged++
		}
	}
}
