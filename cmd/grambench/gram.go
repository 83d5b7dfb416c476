package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

var gramCommand = command{
	name:    "gram",
	summary: "write a Gram matrix (.npy, LIBSVM precomputed, MatrixMarket)",
	help: `
Computes the Gram matrix of one kernel and writes it to a file:
  npy     NumPy: float32, little-endian, all n x n values, row by row; numpy.load reads it, also with mmap_mode='r'
  libsvm  LIBSVM's precomputed kernel, for svm-train -t 4; class names that aren't numbers are numbered, standard error says how
  mm      MatrixMarket: array real symmetric, the lower triangle column by column
Text formats hold the fewest digits that give the same float32 back.

The file appears under its name only when it is complete; until then it has a temporary name in the same folder, which is removed on an
error or ^C. A regular file of that name is replaced; a folder, a link or a device is left alone and is an error.

A matrix up to 256 MiB is computed as one, each pair once; a larger one, or one that -m doesn't allow, in stripes, each pair twice, while
the stripe before is written. So a large matrix never needs memory of its own size.

Sets of points: with -sets the vectors are points of R^P, each set of them is a spherical normal distribution by its maximum-likelihood estimate (mean and standard
deviation), and rows and columns of the matrix are the sets, in the order of their first point. The kernel is hyperbolic. -sets qid takes the points
of one qid in an svmlight file for a set, of the class that their labels name; -sets label those of one label; -sets FILE reads from a line for each point the name of
its set and, behind a TAB, its class, which suits MatrixMarket. Coordinates that are 0 for all points don't count.

Examples:
  grambench gram -in train.svm -kernel diffusion:t=0.5 -o K.npy
  grambench gram -in points.svm -sets qid -kernel hyperbolic:t=0.5 -o K.npy
  grambench gram -in folder/ -kernel rbf:gamma=1,embed=tfidf-l2 -m 2G -o K.npy
  grambench gram -in train.svm -kernel ngd-exp:t=1 -to libsvm -o train.precomputed && svm-train -t 4 train.precomputed
`,
	setup: func(f *flags) func(context.Context, *env) error {
		f.startsOver = true
		f.sourceFlags("goroot")
		f.kernelFlags("diffusion:t=0.5")
		f.computeFlags(0)
		out := f.set.String("o", "", "write to `FILE`; must be given")
		to := f.set.String("to", "", "write the format `FORMAT`: npy, libsvm or mm (default: from the ending .npy, .svm, .libsvm, .mtx or .mm)")
		f.writes("-o", out)
		f.setsFlag()
		g := &gramRun{flags: f}
		f.check = func() error { return g.check(*out, *to) }
		return g.run
	},
}

// gramReport is the report of the command gram.
type gramReport struct {
	Corpus corpusLine `json:"corpus"`
	Rows   []gramRow  `json:"rows"`
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

func (r *gramReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	for _, row := range r.Rows {
		row.writeText(w)
	}
}

func (r *gramRow) writeText(w io.Writer) {
	fmt.Fprintf(w, "%s: %s, %s x %s, %s, %s, %s, %.2f s, peak memory %s\n", r.File, r.Kernel, formatCount(r.Documents), formatCount(r.Documents), r.Format,
		formatBytes(r.FileBytes), withWhy(r.ISA, r.Why), r.Seconds, formatBytes(r.PeakBytes))
}

// gramRun is one run of the command gram.
type gramRun struct {
	*flags
	out, format string
	kernel      engine.Kernel     // of documents
	ofSet       engine.Hyperbolic // of sets of points, where these were asked for
}

// check checks that the flags make sense together, and takes the format from the file's name where no flag gives it.
func (g *gramRun) check(out, format string) error {
	if out == "" {
		return usagef("-o FILE is missing")
	}
	if format == "" {
		if format = matrixio.FormatOf(out); format == "" {
			return usagef("-o %s: the ending says no format, expected .npy, .svm, .libsvm, .mtx or .mm, or -to", out)
		}
	}
	if _, err := matrixio.NewWriter(format, io.Discard, matrixio.Header{}); err != nil {
		return usageError{fmt.Errorf("-to: %w", err)}
	}
	g.out, g.format = out, format
	count := 0
	if g.ofSets() {
		kernels, err := g.checkSets()
		if err != nil {
			return err
		}
		count, g.ofSet = len(kernels), kernels[0]
	} else {
		kernels, err := g.parseKernels("diffusion:t=0.5")
		if err != nil {
			return err
		}
		count, g.kernel = len(kernels), kernels[0]
	}
	if count > 1 {
		return usagef("%d kernels, expected one: a file holds one matrix", count)
	}
	return nil
}

func (g *gramRun) run(ctx context.Context, e *env) error {
	f := g.flags
	if g.ofSets() {
		return f.gramOfSets(ctx, e, g.ofSet, g.out, g.format)
	}
	p := newProgress(e.stderr)
	defer p.clear()
	corpus, err := f.read(ctx, e, p)
	if err != nil {
		return err
	}
	header := matrixio.Header{N: corpus.Documents.Rows()}
	if g.format == "libsvm" {
		if header.Labels, err = numericLabels(corpus, e.stderr); err != nil {
			return err
		}
	}
	embedded, inEngine := workBytes(corpus.Documents)
	stripes, err := engine.Options{ISA: f.isa, Workers: f.workers}.StripesBytes(header.N)
	if err != nil {
		return err
	}
	if err := f.fits("embedding the documents for "+gramOf(header.N), runtimeBytes+max(corpus.Documents.Bytes()+embedded, inEngine, embedded+stripes)); err != nil {
		return err
	}
	x, err := embed(ctx, corpus, g.kernel.Embedding(), f.workers)
	if err != nil {
		return err
	}
	warnEmptied(e.stderr, corpus, x)
	k := engine.Resolve(g.kernel, len(x.Embedder.Terms))
	warnDoubtful(e.stderr, k)
	header.Comment = fmt.Sprintf("%s of %s", k, filepath.Base(corpus.Source))
	line := newCorpusLine(corpus)
	corpus = nil // the matrix needs the room

	row := gramRow{File: g.out, Format: g.format, Kernel: k.String(), Embedding: k.Embedding().String(), Documents: x.Rows()}
	begin := time.Now()
	if err := f.writeGram(ctx, e, p, x, k, header, &row); err != nil {
		return err
	}
	row.Seconds = time.Since(begin).Seconds()
	row.PeakBytes = peakBytes()
	p.clear()
	return writeReport(e.stdout, f.timed(&gramReport{line, []gramRow{row}}), f.json)
}

// gramOf names the matrix of n documents.
func gramOf(n int) string {
	return fmt.Sprintf("a Gram matrix of %s", counted(n, "document", "documents"))
}

// wholeBytes is the size up to which a matrix is computed before it is written. Larger ones are written while they are computed, which costs little
// time, since the disk is slower than the engine, and no memory.
const wholeBytes = 256 << 20

// writeGram computes and writes the matrix, whole or stripe by stripe.
func (f *flags) writeGram(ctx context.Context, e *env, p *progress, x *sparse.Embedded, k engine.Kernel, h matrixio.Header, row *gramRow) error {
	eng, err := f.newEngine(x, f.jobBackend(x.Rows()), f.workers, p)
	if err != nil {
		return err
	}
	p.clear()
	if err := warnZeros(e.stderr, eng, k); err != nil {
		return err
	}
	row.ISA, row.Why, row.Method = eng.Backend(), f.gpu.why, "matrix"
	base := eng.Bytes() + runtimeBytes
	budget := f.budget()
	if eng.GramBytes() > wholeBytes || budget > 0 && base+eng.GramBytes() > budget {
		row.Method = "stripes"
		if err := f.fits(gramOf(x.Rows()), base+eng.StripesBytes()); err != nil {
			return err
		}
	}
	return row.save(ctx, h, func(writeRow func([]float32) error) error {
		p.stage("computing " + k.String())
		if row.Method == "matrix" {
			m, err := eng.Gram(ctx, k)
			if err != nil {
				return err
			}
			p.stage("writing " + filepath.Base(row.File))
			for i := range m.N {
				if err := writeRow(m.Row(i)); err != nil {
					return err
				}
				p.update(int64(i+1), int64(m.N))
			}
			return nil
		}
		return eng.Stripes(ctx, k, func(_ int, stripe *engine.Dense) error {
			for i := range stripe.Rows {
				if err := writeRow(stripe.Row(i)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// save writes the file of the row: write hands the rows of the matrix to writeRow in order. The file is there when all of it is.
func (r *gramRow) save(ctx context.Context, h matrixio.Header, write func(writeRow func([]float32) error) error) error {
	file, err := matrixio.Create(r.File)
	if err != nil {
		return err
	}
	defer file.Abort()
	w, err := matrixio.NewWriter(r.Format, file, h)
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
	if err := ctx.Err(); err != nil {
		return err
	}
	r.FileBytes, err = file.Commit()
	return err
}

// numericLabels returns the class of each document as a number: the name itself where all names are numbers, otherwise 1, 2, ... in the order
// of the corpus's classes, which is then told to the user. Documents of a corpus without classes get none.
func numericLabels(c *sparse.Corpus, stderr io.Writer) ([]string, error) {
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
			fmt.Fprintf(stderr, "grambench: label %d stands for class %s\n", id+1, name)
		}
	}
	labels := make([]string, c.Documents.Rows())
	for i := range labels {
		of := c.Labels.Of(i)
		if len(of) != 1 {
			return nil, fmt.Errorf("%s has %s, expected 1: the libsvm format holds one label a row", documentName(c, i), counted(len(of), "class", "classes"))
		}
		labels[i] = names[of[0]]
	}
	return labels, nil
}
