package matrices

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/cli"
	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/cmd/grambench/internal/place"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/cmd/grambench/internal/source"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// Gram is the command that writes a Gram matrix.
var Gram = &cli.Command{
	Name:    "gram",
	Summary: "write a Gram matrix (.npy, LIBSVM precomputed, MatrixMarket)",
	Help: `
Computes the Gram matrix of one kernel and writes it to a file:
  npy     NumPy: float32, little-endian, all n x n values, row by row, for numpy.load
  libsvm  LIBSVM's precomputed kernel, for svm-train -t 4; class names that aren't numbers are
          numbered, standard error says how
  mm      MatrixMarket: array real symmetric, the lower triangle column by column
Text formats hold the fewest digits that give the same float32 back. The file appears under its name
only when it is complete. A large matrix is written while it is computed, and never needs memory of
its own size. With -o - the matrix goes to standard output, and the report to standard error.`,
	Examples: `
grambench gram -in train.svm -kernel diffusion:t=0.5 -o K.npy
grambench gram -in points.svm -sets qid -kernel hyperbolic:t=0.5 -o K.npy
grambench gram -in train.svm -to libsvm -o train.precomputed && svm-train -t 4 train.precomputed`,
	Setup: func(f *cli.Flags) cli.Work {
		g := &gram{f: f}
		g.StartsOver, g.Reread = true, []*string{&g.In, &g.Sets}
		g.Documents.Declare(f, "goroot", &g.Limits)
		g.DeclareSets(f)
		f.Group("Kernel", "")
		g.Kernels.Declare(f, "diffusion:t=0.5")
		g.Compute.Declare(f)
		f.Group("Output", "")
		f.WritesBinary(&g.out, "o", "write to `FILE`, - for standard output; must be given", func() string {
			if g.format == "npy" {
				return "a matrix in the form npy"
			}
			return ""
		})
		f.StringVar(&g.format, "to", "", "write `FORMAT`: npy, libsvm or mm "+
			"(default: from the ending .npy, .svm, .libsvm, .mtx or .mm)")
		f.Check(g.check)
		return g.run
	},
}

// gramReport is the report of the command gram.
type gramReport struct {
	Corpus source.Line `json:"corpus"`
	Rows   []gramRow   `json:"rows"`
}

// gramRow is one matrix that was written.
type gramRow struct {
	File      string  `json:"file"`
	Format    string  `json:"format"`
	Kernel    string  `json:"kernel"`
	Embedding string  `json:"embedding"`
	ISA       string  `json:"isa"`
	Why       string  `json:"backend_reason,omitempty"` // why -backend auto took it
	Method    string  `json:"method"`                   // "matrix" or "stripes"
	Documents int     `json:"documents"`
	FileBytes int64   `json:"file_bytes"`
	Seconds   float64 `json:"seconds"` // computing and writing, without reading
	PeakBytes int64   `json:"peak_bytes"`
}

func (r *gramReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	for _, row := range r.Rows {
		row.WriteText(w)
	}
}

func (r *gramRow) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s x %s, %s, %s, %s, %.2f s, peak memory %s\n", r.File, r.Kernel,
		report.Count(r.Documents), report.Count(r.Documents), r.Format, report.Bytes(r.FileBytes),
		place.WithWhy(r.ISA, r.Why), r.Seconds, report.Bytes(r.PeakBytes))
}

// gram is one run of the command.
type gram struct {
	source.Documents
	source.Kernels
	place.Compute
	f           *cli.Flags
	out, format string
	kernel      engine.Kernel     // of documents
	ofSet       engine.Hyperbolic // of sets of points, where these were asked for
}

// check checks that the flags make sense together, and takes the format from the file's name where
// no flag gives it.
func (g *gram) check() error {
	if g.out == "" {
		return cli.Usagef("-o FILE is missing")
	}
	if g.format == "" {
		if g.format = matrixio.FormatOf(g.out); g.format == "" {
			return cli.Usagef("-o %s: the ending says no format, expected .npy, .svm, .libsvm, .mtx or .mm, or -to",
				g.out)
		}
	}
	g.StartsOver = !matrixio.IsStream(g.out) // what is written there can't be taken back
	if _, err := matrixio.NewWriter(g.format, io.Discard, matrixio.Header{}); err != nil {
		return cli.UsageError{Err: fmt.Errorf("-to: %w", err)}
	}
	count := 0
	if g.OfSets(&g.Kernels) {
		kernels, err := g.Hyperbolic(&g.Kernels, &g.Compute)
		if err != nil {
			return err
		}
		count, g.ofSet = len(kernels), kernels[0]
	} else {
		kernels, err := g.Parse("diffusion:t=0.5")
		if err != nil {
			return err
		}
		count, g.kernel = len(kernels), kernels[0]
	}
	if count > 1 {
		return cli.Usagef("%d kernels, expected one: a file holds one matrix", count)
	}
	return nil
}

func (g *gram) run(ctx context.Context, e *cli.Env) error {
	p := e.Progress(false)
	defer p.Clear()
	corpus, err := g.Read(ctx, e, p)
	if err != nil {
		return err
	}
	if g.kernel == nil {
		return g.runSets(ctx, e, p, corpus)
	}
	header := matrixio.Header{N: corpus.Documents.Rows()}
	if g.format == "libsvm" {
		if header.Labels, err = numericLabels(corpus, e); err != nil {
			return err
		}
	}
	embedded, inEngine := source.WorkBytes(corpus.Documents)
	stripes, err := engine.Options{ISA: g.ISA, Workers: g.Workers}.StripesBytes(header.N)
	if err != nil {
		return err
	}
	need := place.RuntimeBytes + max(corpus.Documents.Bytes()+embedded, inEngine, embedded+stripes)
	if err := g.Fits("embedding the documents for "+gramOf(header.N), need); err != nil {
		return err
	}
	x, err := source.Embed(ctx, corpus, g.kernel.Embedding(), g.Workers)
	if err != nil {
		return err
	}
	source.WarnEmptied(e, corpus, x)
	k := engine.Resolve(g.kernel, len(x.Embedder.Terms))
	source.WarnDoubtful(e, k)
	header.Comment = fmt.Sprintf("%s of %s", k, filepath.Base(corpus.Source))
	r := &gramReport{Corpus: source.NewLine(corpus)}
	corpus = nil // the matrix needs the room

	row := gramRow{
		File:      g.out,
		Format:    g.format,
		Kernel:    k.String(),
		Embedding: k.Embedding().String(),
		Documents: x.Rows(),
	}
	begin := time.Now()
	if err := g.write(ctx, e, p, x, k, header, &row); err != nil {
		return err
	}
	p.Clear()
	r.Rows = row.done(begin)
	return g.Report(e, g.f, r)
}

// done ends the row of a matrix that is written.
func (r gramRow) done(begin time.Time) []gramRow {
	r.Seconds, r.PeakBytes = time.Since(begin).Seconds(), place.PeakBytes()
	return []gramRow{r}
}

// gramOf names the matrix of n documents.
func gramOf(n int) string {
	return fmt.Sprintf("a Gram matrix of %s", report.Documents(n))
}

// wholeBytes is the size up to which a matrix is computed before it is written. Larger ones are
// written while they are computed, which costs little time, since the disk is slower than the
// engine, and no memory.
const wholeBytes = 256 << 20

// write computes and writes the matrix, whole or stripe by stripe.
func (g *gram) write(
	ctx context.Context, e *cli.Env, p *cli.Progress, x *sparse.Embedded, k engine.Kernel, h matrixio.Header,
	row *gramRow,
) error {
	eng, err := g.Engine(x, g.Job(x.Rows()), p)
	if err != nil {
		return err
	}
	p.Clear()
	if err := source.WarnZeros(e, eng, k); err != nil {
		return err
	}
	row.ISA, row.Why, row.Method = eng.Backend(), g.Why(), "matrix"
	base := eng.Bytes() + place.RuntimeBytes
	budget := g.Budget()
	if eng.GramBytes() > wholeBytes || budget > 0 && base+eng.GramBytes() > budget {
		row.Method = "stripes"
		if err := g.Fits(gramOf(x.Rows()), base+eng.StripesBytes()); err != nil {
			return err
		}
	}
	return row.save(ctx, h, func(writeRow func([]float32) error) error {
		p.Stage("computing " + k.String())
		if row.Method == "matrix" {
			m, err := eng.Gram(ctx, k)
			if err != nil {
				return err
			}
			p.Stage("writing " + filepath.Base(row.File))
			return writeRows(m.N, m.Row, writeRow, func(i int) { p.Update(int64(i+1), int64(m.N)) })
		}
		return eng.Stripes(ctx, k, func(_ int, stripe *engine.Dense) error {
			return writeRows(stripe.Rows, stripe.Row, writeRow, func(int) {})
		})
	})
}

// writeRows writes n rows one after the other, and calls done after each.
func writeRows(n int, row func(int) []float32, write func([]float32) error, done func(int)) error {
	for i := range n {
		if err := write(row(i)); err != nil {
			return err
		}
		done(i)
	}
	return nil
}

// save writes the file of the row: write hands the rows of the matrix to writeRow in order. The
// file is there when all of it is.
func (r *gramRow) save(ctx context.Context, h matrixio.Header, write func(writeRow func([]float32) error) error) error {
	var err error
	r.FileBytes, err = matrixio.Make(r.File, func(to io.Writer) error {
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
		if err := w.Close(); err != nil {
			return err
		}
		return ctx.Err()
	})
	return err
}

// numericLabels returns the class of each document as a number: the name itself where all
// names are numbers, otherwise 1, 2, ... in the order of the corpus's classes, which is then told
// to the user. Documents of a corpus without classes get none.
func numericLabels(c *sparse.Corpus, e *cli.Env) ([]string, error) {
	if len(c.Classes) == 0 {
		return nil, nil
	}
	names, numbered := c.Classes, false
	for _, name := range c.Classes {
		if v, err := strconv.ParseFloat(name, 64); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			numbered = true
		}
	}
	if numbered {
		names = make([]string, len(c.Classes))
		for id, name := range c.Classes {
			names[id] = strconv.Itoa(id + 1)
			e.Say("label %d stands for class %s", id+1, name)
		}
	}
	labels := make([]string, c.Documents.Rows())
	for i := range labels {
		of := c.Labels.Of(i)
		if len(of) != 1 {
			return nil, fmt.Errorf("%s has %s, expected 1: the libsvm format holds one label a row",
				source.NameOf(c, i), report.Counted(len(of), "class", "classes"))
		}
		labels[i] = names[of[0]]
	}
	return labels, nil
}
