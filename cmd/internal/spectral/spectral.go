// Package spectral implements the commands spectrum and pca, which compute eigenvalues and
// principal components of Gram matrices.
package spectral

import (
	"context"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// maxFullDocuments is the maximum number of documents for which all eigenvalues are computed by
// default.
const maxFullDocuments = 1000

// Command is the command spectrum, which computes eigenvalues of Gram matrices.
var Command = &cli.Command{
	Name:    "spectrum",
	Summary: "compute eigenvalues of a Gram matrix, and test if it is positive semidefinite",
	Help: `
Prints the largest and smallest eigenvalues of Gram matrices, and whether each matrix is positive
semidefinite beyond rounding. For up to ` + report.FormatCount(maxFullDocuments) + ` documents it computes all
eigenvalues; for more, only extreme eigenvalues by the Lanczos method, with residuals, unless -all
is set.
The sign of an eigenvalue nearer to 0 than the bound n·2⁻²⁴·|λ|max may be due to rounding. Verdicts:
  psd to rounding   the smallest eigenvalue is at least -bound
  not psd           the smallest eigenvalue is below -bound
  not converged     Lanczos did not converge: increase -steps`,
	Examples: `
gram spectrum -in train.svm -kernel diffusion:t=0.5 -kernel diffusion:t=8
gram spectrum -in large.svm -kernel arccos:n=1 -kernel linear -k 20 -json`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		c := &spectrumFlags{f: f}
		c.Restartable, c.RereadSources = true, []*string{&c.Source}
		c.Documents.Declare(f, "goroot", &c.Limits)
		f.StartGroup("Kernels", "")
		c.Kernels.Declare(f, "diffusion:t=0.5")
		f.StartGroup("Eigenvalues", "")
		f.IntVar(&c.k, "k", 6, "print the `K` largest and smallest eigenvalues")
		f.BoolVar(&c.centre, "centre", false, "subtract row and column means, "+
			"as required for kernels such as ngd")
		f.BoolVar(&c.allValues, "all", false, "compute all eigenvalues, regardless of the number of documents")
		f.IntVar(&c.steps, "steps", 600, "maximum number `N` of Lanczos steps")
		c.ComputeFlags.Declare(f)
		f.AddCheck(c.check)
		return c.run
	},
}

type spectrumFlags struct {
	source.Documents
	source.Kernels
	backend.ComputeFlags
	f                 *cli.Flags
	k, steps          int
	centre, allValues bool
	kernels           []kernel.Kernel
}

func (c *spectrumFlags) check() (err error) {
	switch {
	case c.k < 1:
		return cli.Usagef("-k must be at least 1, got %d", c.k)
	case c.steps < 1:
		return cli.Usagef("-steps must be at least 1, got %d", c.steps)
	}
	c.kernels, err = c.Parse("diffusion:t=0.5")
	return err
}

type spectrumReport struct {
	Corpus  source.Summary `json:"corpus"`
	Centred bool           `json:"centred"`
	Rows    []*spectrumRow `json:"rows"`
}

type spectrumRow struct {
	Kernel        string                `json:"kernel"`
	Embedding     string                `json:"embedding"`
	ISA           string                `json:"isa"`
	BackendReason string                `json:"backend_reason,omitempty"` // reason for the choice of -backend auto
	NumDocuments  int                   `json:"documents"`
	Definiteness  string                `json:"definite"` // known definiteness of the kernel
	Condition     string                `json:"condition,omitempty"`
	NumSteps      int                   `json:"steps,omitempty"` // Lanczos steps; 0 if all eigenvalues were computed
	RoundingBound float64               `json:"rounding"`        // bound on the eigenvalues' rounding errors
	Verdict       string                `json:"verdict"`
	Largest       []spectrum.Eigenvalue `json:"largest"`
	Smallest      []spectrum.Eigenvalue `json:"smallest"`
	Eigenvalues   []float64             `json:"eigenvalues,omitempty"` // all eigenvalues in descending order
	Seconds       float64               `json:"seconds"`
	PeakBytes     int64                 `json:"peak_bytes"`
}

func (c *spectrumFlags) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(false)
	defer p.Clear()
	all := c.allValues
	c.Need = func(s corpus.Size) int64 {
		c.allValues = all || s.Documents <= maxFullDocuments
		embedded, inEngine := source.ScratchBytes(s)
		return s.Bytes() + max(embedded+inEngine, source.EngineBytes(s, c.NumWorkers())+c.requiredBytes(s.Documents))
	}
	docs, err := c.Read(ctx, e, p)
	if err != nil {
		return err
	}
	n := docs.Documents.Rows()
	if n < 1 {
		return fmt.Errorf("%s contains no documents", docs.Source)
	}
	later := backend.RuntimeBytes + c.Need(docs.Size())
	r := &spectrumReport{Corpus: source.NewSummary(docs), Centred: c.centre}
	embedded, inEngine := source.ScratchBytes(docs.Size())
	held := backend.RuntimeBytes + docs.Documents.Bytes()
	if err := c.CheckMemory(c.describeTask(n), held+embedded+inEngine, later); err != nil {
		return err
	}
	var x *sparse.Embedded
	var eng *engine.Engine
	for i, k := range c.kernels {
		if i == 0 || k.Embedding() != c.kernels[i-1].Embedding() {
			if eng != nil {
				if err := eng.Close(); err != nil {
					return err
				}
			}
			x, eng = nil, nil // frees memory for the next embedding
			if x, err = source.Embed(ctx, docs, k.Embedding(), c.Workers); err != nil {
				return err
			}
			source.WarnEmptyDocuments(e, docs, x)
			if eng, err = c.NewEngine(x, c.BackendFor(n), p); err != nil {
				return err
			}
		}
		row, err := c.measure(ctx, p, eng, x, kernel.Resolve(k, len(x.Embedder.Terms)), held)
		if err != nil {
			return docs.DescribeError(err)
		}
		r.Rows = append(r.Rows, row)
	}
	p.Clear()
	return c.PrintReport(e, c.f, r)
}

func (c *spectrumFlags) describeTask(n int) string {
	of := " eigenvalues of a Gram matrix of " + report.FormatDocuments(n)
	if c.allValues {
		return "finding all" + of
	}
	return "finding extreme" + of
}

func (c *spectrumFlags) options() spectrum.Options {
	return spectrum.Options{K: c.k, WithSmallest: true, MaxVectors: c.steps, Seed: 1}
}

// requiredBytes returns the minimum memory for computing the eigenvalues, in bytes, excluding
// documents and engine.
func (c *spectrumFlags) requiredBytes(n int) int64 {
	if c.allValues {
		return 4*int64(n)*int64(n) + spectrum.EigenvaluesBytes(n)
	}
	return spectrum.LanczosBytes(n, c.options()) + int64(c.NumWorkers()+1)*(8*int64(n)+1<<20)
}

// measure computes the eigenvalues of the kernel matrix of x. held is the memory in use in bytes,
// excluding the engine.
func (c *spectrumFlags) measure(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, x *sparse.Embedded, k kernel.Kernel, held int64,
) (*spectrumRow, error) {
	begin, n, known := time.Now(), eng.Len(), kernel.PropertiesOf(k)
	r := &spectrumRow{Kernel: k.String(), Embedding: k.Embedding().String(), ISA: eng.Info().Backend,
		BackendReason: c.Reason(), NumDocuments: n,
		Definiteness: known.Definiteness.String(), Condition: known.Condition}
	p.StartStage("computing " + r.Kernel)
	var err error
	if held += eng.Info().Bytes; c.allValues {
		err = c.computeAll(ctx, p, eng, k, held, r)
	} else {
		err = c.computeExtremes(ctx, p, eng, x, k, held, r)
	}
	if err != nil {
		return nil, err
	}
	first, last := r.Largest[0].Value, r.Smallest[0]
	r.RoundingBound = spectrum.RoundingBound(n, math.Max(math.Abs(first), math.Abs(last.Value)))
	switch {
	case !(last.Value >= -r.RoundingBound): // true for NaN
		r.Verdict = "not psd"
	case !last.Converged:
		r.Verdict = "not converged"
	default:
		r.Verdict = "psd to rounding"
	}
	r.Seconds, r.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	return r, nil
}

func (c *spectrumFlags) computeAll(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, k kernel.Kernel, held int64, r *spectrumRow,
) error {
	n := eng.Len()
	if err := c.CheckMemory(c.describeTask(n), held+engine.MatrixBytes(n, n)+spectrum.EigenvaluesBytes(n)); err != nil {
		return err
	}
	m, err := eng.Gram(ctx, k, nil)
	if err != nil {
		return err
	}
	var a mat.Symmetric = m
	if c.centre {
		a = spectrum.Centre(m)
	}
	p.StartStage("eigenvalues of " + r.Kernel)
	p.Update(0, 0)
	values, err := spectrum.Eigenvalues(ctx, a, c.NumWorkers())
	if err != nil {
		return err
	}
	for i, v := range values {
		r.Eigenvalues = append(r.Eigenvalues, v)
		if i < c.k {
			r.Largest = append(r.Largest, spectrum.Eigenvalue{Value: v, Converged: true})
			r.Smallest = append(r.Smallest, spectrum.Eigenvalue{Value: values[n-1-i], Converged: true})
		}
	}
	return nil
}

// computeExtremes computes the largest and smallest eigenvalues with Lanczos. The matrix is stored
// if there is enough memory.
func (c *spectrumFlags) computeExtremes(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, x *sparse.Embedded, k kernel.Kernel, held int64,
	r *spectrumRow,
) error {
	opt, n := c.options(), eng.Len()
	held += spectrum.LanczosBytes(n, opt)
	need := held + eng.MultiplyBytes(1)
	a := &gramOperator{eng: eng, k: k, centre: c.centre}
	if all, err := eng.CrossMatrix(k, x, math.MaxInt64/4); err == nil {
		whole := run.AddBytes(held, run.AddBytes(all.StoredBytes(), all.MultiplyBytes(1)))
		if c.Budget() == 0 || whole <= c.Budget() {
			a.stored, need = all, whole
		}
	}
	if err := c.CheckMemory(c.describeTask(n), need); err != nil {
		return err
	}
	p.StartStage("Lanczos for " + r.Kernel)
	defer p.MuteEngine()() // hides the progress of each product
	opt.Progress = func(vectors, most int, _ float64) { p.Update(int64(vectors), int64(most)) }
	found, err := spectrum.Lanczos(ctx, a, opt)
	if err != nil {
		return err
	}
	r.NumSteps = found.BasisSize
	r.Largest, r.Smallest = found.Largest, found.Smallest
	return nil
}

// gramOperator is a Gram matrix, optionally centred, as an operator.
type gramOperator struct {
	eng    *engine.Engine
	k      kernel.Kernel
	stored *engine.CrossMatrix // nil if each product recomputes the matrix
	centre bool
}

func (a *gramOperator) Dim() int { return a.eng.Len() }

func (a *gramOperator) Apply(ctx context.Context, dst, src *mat.Dense) (err error) {
	_, columns := src.Dims()
	if a.centre {
		src = mat.DenseCopyOf(src)
		spectrum.SubtractMeans(src, columns)
	}
	if a.stored != nil {
		err = a.stored.Multiply(ctx, src, dst)
	} else {
		err = a.eng.Multiply(ctx, a.k, nil, src, dst)
	}
	if a.centre {
		spectrum.SubtractMeans(dst, columns)
	}
	return err
}

func (r *spectrumReport) Describe(d *report.Document) {
	d.AddLine(r.Corpus)
	if r.Centred {
		d.AddLine("row and column means were subtracted (-centre), so one eigenvalue is 0")
	}
	d.AddLine("")
	ends := report.NewTable(
		"kernel", "known", ">largest", ">smallest", ">rounding", "verdict", "eigenvalues", ">seconds")
	for _, row := range r.Rows {
		method := "all"
		if row.NumSteps > 0 {
			method = "extremes, " + report.FormatCountOf(row.NumSteps, "step", "steps")
		}
		ends.Add(row.Kernel, row.Definiteness, formatValue(row.Largest[0].Value), formatValue(row.Smallest[0].Value),
			report.FormatError(row.RoundingBound), row.Verdict, method, fmt.Sprintf("%.2f", row.Seconds))
	}
	d.AddTable("Spectra", "", ends)
	d.AddLine("\nrounding = n·2⁻²⁴·|λ|max; eigenvalues smaller than this may have the wrong sign")
	for _, row := range r.Rows {
		row.writeValues(d)
	}
}

func (row *spectrumRow) writeValues(d *report.Document) {
	t := report.NewTable(">", ">largest", ">smallest")
	if row.NumSteps > 0 {
		t = report.NewTable(">", ">largest", ">residual", "", ">smallest", ">residual", "")
	}
	for i := range row.Largest {
		cells := []string{fmt.Sprint(i + 1)}
		for _, v := range []spectrum.Eigenvalue{row.Largest[i], row.Smallest[i]} {
			cells = append(cells, formatValue(v.Value))
			if row.NumSteps > 0 {
				cells = append(cells, report.FormatError(v.Residual), map[bool]string{false: "not converged"}[v.Converged])
			}
		}
		t.Add(cells...)
	}
	d.AddTable(row.Kernel, row.Kernel, t)
}

func formatValue(v float64) string { return fmt.Sprintf("%.7g", v) }
