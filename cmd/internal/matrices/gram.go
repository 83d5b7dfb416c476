package matrices

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// Matrix is the command matrix, which writes a Gram matrix.
var Matrix = &cli.Command{
	Name:    "matrix",
	Summary: "write a Gram matrix (.npy, LIBSVM precomputed, MatrixMarket)",
	Help: `
Computes the Gram matrix of one kernel and writes it to a file:
  npy     NumPy: float32, little-endian, all n x n values, row by row, for numpy.load
  libsvm  LIBSVM's precomputed kernel, for svm-train -t 4; class names that aren't numbers are
          numbered, and standard error lists the numbers
  mm      MatrixMarket: array real symmetric, the lower triangle column by column
With -test, -o has a row per test document and a column per training document (-in), with the terms
and idf weights of the training documents. Text formats use the shortest decimal numbers that
identify the float32. A large matrix is written while it is computed, so it may exceed the memory.
With -o - the matrix goes to standard output, and the report to standard error.`,
	Examples: `
gram matrix -in train.svm -kernel diffusion:t=0.5 -o K.npy
gram matrix -in train.tsv -test test.tsv -o K-test.npy -o-labels test.labels
gram matrix -in train.svm -to libsvm -o train.precomputed && svm-train -t 4 train.precomputed`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		g := &gramFlags{f: f}
		g.Restartable, g.RereadSources = true, []*string{&g.Source}
		g.Documents.Declare(f, "goroot", &g.Limits)
		f.StringVar(&g.test, "test", "", "compute the matrix between `SOURCE` (rows) and -in (columns)")
		f.RegisterInput(&g.test, "test", g.Files(&g.test))
		f.StartGroup("Kernel", "")
		g.Kernels.Declare(f, "diffusion:t=0.5")
		g.ComputeFlags.Declare(f)
		f.StartGroup("Output", "")
		binary := func() string {
			if g.format == "npy" {
				return "the npy format"
			}
			return ""
		}
		f.BinaryOutputVar(&g.out, "o", "write the matrix to `FILE`, - for standard output (required)", binary)
		f.OutputVar(&g.labelsPath, "o-labels", "write the label and name of each row of -o to `FILE`, separated by a TAB")
		f.StringVar(&g.format, "to", "", "`FORMAT`: npy, libsvm or mm "+
			"(default: from the extension .npy, .svm, .libsvm, .mtx or .mm)")
		f.AddCheck(g.check)
		return g.run
	},
}

type gramReport struct {
	Corpus source.Summary  `json:"corpus"`
	Test   *source.Summary `json:"test,omitempty"`
	Rows   []gramRow       `json:"rows"`
}

type gramRow struct {
	File          string  `json:"file"`
	Format        string  `json:"format"`
	Kernel        string  `json:"kernel"`
	Embedding     string  `json:"embedding"`
	ISA           string  `json:"isa"`
	BackendReason string  `json:"backend_reason,omitempty"` // reason for the choice of -backend auto
	Method        string  `json:"method"`                   // "matrix" if computed as a whole, "stripes" if in parts
	NumRows       int     `json:"documents"`                // number of rows
	NumColumns    int     `json:"columns,omitempty"`        // number of training documents; 0 for a square matrix
	FileBytes     int64   `json:"file_bytes"`
	Seconds       float64 `json:"seconds"` // time for computing and writing, without reading
	PeakBytes     int64   `json:"peak_bytes"`
}

func (r *gramReport) Describe(d *report.Document) {
	d.AddLine(r.Corpus)
	if r.Test != nil {
		d.AddLine(r.Test)
	}
	for _, row := range r.Rows {
		row.Describe(d)
	}
}

func (r *gramRow) Describe(d *report.Document) {
	d.AddLinef("%s: %s, %s x %s, %s, %s, %s, %.2f s, peak memory %s", r.File, r.Kernel,
		report.FormatCount(r.NumRows), report.FormatCount(cmp.Or(r.NumColumns, r.NumRows)), r.Format,
		report.FormatBytes(r.FileBytes),
		backend.WithReason(r.ISA, r.BackendReason), r.Seconds, report.FormatBytes(r.PeakBytes))
}

type gramFlags struct {
	source.Documents
	source.Kernels
	backend.ComputeFlags
	f                             *cli.Flags
	test, out, labelsPath, format string
	kernel                        kernel.Kernel
}

// check validates the flags. If -to isn't set, the file name extension of -o sets the format.
func (g *gramFlags) check() error {
	if g.out == "" {
		return cli.Usagef("-o FILE is required")
	}
	if g.test != "" {
		g.RereadSources = append(g.RereadSources, &g.test)
	}
	if g.format == "" {
		if g.format = matrixio.FormatOf(g.out); g.format == "" {
			return cli.Usagef("-o %s: unknown file name extension; use .npy, .svm, .libsvm, .mtx or .mm, or set -to", g.out)
		}
	}
	g.Restartable = !matrixio.IsStream(g.out) // output to a stream can't be undone
	h := matrixio.Header{}
	if g.test != "" {
		h.Cols = 1
	}
	if _, err := matrixio.NewWriter(g.format, io.Discard, h); err != nil {
		return cli.UsageError{Err: fmt.Errorf("-to: %w", err)}
	}
	kernels, err := g.Parse("diffusion:t=0.5")
	if err != nil {
		return err
	}
	if g.kernel = kernels[0]; len(kernels) > 1 {
		return cli.Usagef("only one kernel is allowed, got %d", len(kernels))
	}
	return nil
}

func (g *gramFlags) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(false)
	defer p.Clear()
	g.Need = g.requiredBytes
	corpus, err := g.Read(ctx, e, p)
	if err != nil {
		return err
	}
	test, err := g.readTest(ctx, e, p, corpus)
	if err != nil {
		return err
	}
	n := corpus.Documents.Rows()
	embedded, inEngine := source.ScratchBytes(corpus.Size())
	need := backend.RuntimeBytes + max(corpus.Documents.Bytes()+embedded, inEngine, embedded+partsBytes(64, n))
	later := backend.RuntimeBytes + g.requiredBytes(corpus.Size())
	if test != nil {
		need += test.Documents.Bytes()
		later += test.Documents.Bytes() + testBytes(test.Documents, corpus.Documents)
	}
	if err := g.CheckMemory("embedding the documents for "+describeGram(n), need, later); err != nil {
		return err
	}
	x, err := source.Embed(ctx, corpus, g.kernel.Embedding(), g.Workers)
	if err != nil {
		return err
	}
	source.WarnEmptyDocuments(e, corpus, x)
	k := kernel.Resolve(g.kernel, len(x.Embedder.Terms))
	source.WarnIndefinite(e, k)
	r := &gramReport{Corpus: source.NewSummary(corpus)}
	file, err := g.newMatrixFile(e, k, corpus, test)
	if err != nil {
		return err
	}
	names := corpus.WithoutDocuments()
	corpus = nil // frees memory for the matrix
	if test != nil {
		line := source.NewSummary(test)
		r.Test = &line
	}
	if r.Rows, err = g.write(ctx, e, p, x, k, file); err != nil {
		return names.DescribeError(err)
	}
	p.Clear()
	return g.PrintReport(e, g.f, r)
}

// requiredBytes returns an upper bound on the memory in bytes for a corpus's Gram matrix.
func (g *gramFlags) requiredBytes(s corpus.Size) int64 {
	_, inEngine := source.ScratchBytes(s)
	return max(inEngine, source.EngineBytes(s, g.NumWorkers())+partsBytes(64, s.Documents))
}

func describeGram(n int) string {
	return fmt.Sprintf("a Gram matrix of %s", report.FormatDocuments(n))
}

// maxWholeBytes is the maximum size in bytes of a matrix that is computed completely before it is
// written. Larger matrices are written during the computation, to save memory. The time is similar,
// because the disk is slower than the engine.
const maxWholeBytes = 256 << 20

func (g *gramFlags) write(
	ctx context.Context, e *cli.Env, p *cli.Progress, x *sparse.Embedded, k kernel.Kernel, f *matrixFile,
) ([]gramRow, error) {
	pairs := float64(x.Rows()) * float64(x.Rows()) / 2
	if f.test != nil {
		pairs = float64(x.Rows()) * float64(f.test.Documents.Rows())
	}
	eng, err := g.NewEngine(x, g.BackendForPairs(pairs), p)
	if err != nil {
		return nil, err
	}
	p.Clear()
	if err := source.WarnZeroDiagonal(e, eng, k); err != nil {
		return nil, err
	}
	begin := time.Now()
	row := gramRow{File: g.out, Format: g.format, Kernel: k.String(), Embedding: k.Embedding().String(),
		ISA: eng.Info().Backend, BackendReason: g.Reason(), Method: "matrix", NumRows: f.header.Rows,
		NumColumns: f.header.Cols}
	if f.test != nil {
		err = f.test.DescribeError(g.writeCross(ctx, p, eng, x.Embedder, k, f, &row))
	} else {
		err = g.writeSquare(ctx, p, eng, k, f, &row)
	}
	row.Seconds, row.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	return []gramRow{row}, err
}

// writeSquare writes the Gram matrix of the engine's documents, computed as a whole or in parts.
func (g *gramFlags) writeSquare(
	ctx context.Context, p *cli.Progress, eng *engine.Engine, k kernel.Kernel, f *matrixFile, row *gramRow,
) error {
	n, base := eng.Len(), eng.Info().Bytes+backend.RuntimeBytes
	if bytes, budget := engine.MatrixBytes(n, n), g.Budget(); bytes > maxWholeBytes || budget > 0 && base+bytes > budget {
		row.Method = "stripes"
	}
	return row.save(ctx, f.header, func(writeRow func([]float32) error) error {
		if row.Method == "matrix" {
			p.StartStage("computing " + k.String())
			m, err := eng.Gram(ctx, k, nil)
			if err != nil {
				return err
			}
			p.StartStage("writing " + filepath.Base(row.File))
			return writeRows(m.N, m.Row, writeRow, func(i int) { p.Update(int64(i+1), int64(m.N)) })
		}
		rows, err := g.rowsPerPart(eng, n, describeGram(n), func(rows int) int64 { return base + partsBytes(rows, n) })
		if err != nil {
			return err
		}
		return computeInParts(ctx, n, n, rows, func(ctx context.Context, first int, part *engine.Dense) error {
			p.StartStage(stageName(k, first, part.Rows, n))
			_, err := eng.Rows(ctx, k, engine.Request{RowRange: [2]int{first, first + part.Rows}}, part)
			return err
		}, writeRow)
	})
}

func stageName(k kernel.Kernel, first, rows, n int) string {
	return fmt.Sprintf("computing %s, rows %s to %s of %s", k, report.FormatCount(first+1), report.FormatCount(first+rows),
		report.FormatCount(n))
}

// rowsPerPart returns the number of rows per part, reduced until the parts fit into memory.
func (g *gramFlags) rowsPerPart(eng *engine.Engine, rows int, what string, need func(rows int) int64) (int, error) {
	about := eng.Info()
	panel := about.Kernels.PanelWidth
	rows = min(max(1024, 2*about.Workers*panel), rows)
	for budget := g.Budget(); budget > 0 && need(rows) > budget && rows > panel; {
		rows = max(rows/2, panel)
	}
	return rows, g.CheckMemory(what, need(rows))
}

// partsBytes returns the size of two parts in bytes: one is computed while the other is written.
func partsBytes(rows, n int) int64 { return 2 * engine.MatrixBytes(min(rows, n), n) }

// computeInParts computes an m x n matrix in parts of rows, and writes each part while computing
// the next.
func computeInParts(
	ctx context.Context, m, n, rows int, compute func(ctx context.Context, first int, part *engine.Dense) error,
	writeRow func([]float32) error,
) error {
	buffers := [2]*engine.Dense{engine.NewDense(rows, n), engine.NewDense(rows, n)}
	part := func(first int) *engine.Dense {
		count := min(rows, m-first)
		return &engine.Dense{Rows: count, Cols: n, Data: buffers[first/rows%2].Data[:count*n]}
	}
	for first := 0; first < m+rows && m > 0; first += rows {
		err := run.Tasks(ctx, 2, 2, func(ctx context.Context, _, task int) error {
			switch last := first - rows; {
			case task == 0 && first < m:
				return compute(ctx, first, part(first))
			case task == 1 && last >= 0:
				return writeRows(part(last).Rows, part(last).Row, writeRow, func(int) {})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// writeRows writes n rows in order, and calls done after each row.
func writeRows(n int, row func(int) []float32, write func([]float32) error, done func(int)) error {
	for i := range n {
		if err := write(row(i)); err != nil {
			return err
		}
		done(i)
	}
	return nil
}

// save creates the file that r describes. write must pass the rows of the matrix to writeRow in
// order. If write fails, save leaves no file.
func (r *gramRow) save(ctx context.Context, h matrixio.Header, write func(writeRow func([]float32) error) error) error {
	var err error
	r.FileBytes, err = matrixio.WriteFile(r.File, func(to io.Writer) error {
		w, err := matrixio.NewWriter(r.Format, to, h)
		if err != nil {
			return err
		}
		err = write(func(values []float32) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return w.WriteRow(values)
		})
		if err != nil {
			return err
		}
		return ctx.Err()
	})
	return err
}
