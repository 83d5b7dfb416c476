// Package spectral is the command that computes eigenvalues of Gram matrices.
package spectral

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// Command is the command spectrum.
var Command = &cli.Command{
	Name:    "spectrum",
	Summary: "eigenvalues of a Gram matrix, the smallest against t, spectral sums",
	Help: `
Prints the largest and smallest eigenvalues of Gram matrices, whether each matrix is positive
semidefinite beyond rounding, and spectral sums: Σ min(r, λ) over the eigenvalues λ of K/n and its
root, the Rademacher term of Lafferty and Lebanon, JMLR 6 (2005), §4. For up to ` +
		report.Count(mostWhole) + `
documents it computes all eigenvalues; for more, the extreme ones by the Lanczos method, each with
its residual, unless -all asks for all.
An eigenvalue nearer to 0 than n·2⁻²⁴·|λ|max (rounding) may owe its sign to rounding. Verdicts:
  psd to rounding   the smallest eigenvalue is not below 0 by more than the likely size of rounding
  undecided         it is, but by no more than rounding may be
  not psd           it is below 0 by more than that
  not converged     Lanczos has not reached it: give more -steps`,
	Examples: `
grambench spectrum -in train.svm -kernel diffusion -t 0.1,0.5,1,2,8 -plot spectrum.png
grambench spectrum -in large.svm -kernel arccos:n=1 -kernel linear -lanczos -k 20 -json`,
	Setup: func(f *cli.Flags) cli.Work {
		c := &call{f: f}
		c.StartsOver, c.Reread = true, []*string{&c.In}
		c.Documents.Declare(f, "goroot", &c.Limits)
		f.Group("Kernels", "")
		c.Kernels.Declare(f, "diffusion:t=0.5")
		f.StringVar(&c.t, "t", "", "the values of t of each kernel: `LIST`, such as 0.5,1,2 or 0.1..10*10")
		f.Group("Eigenvalues", "")
		f.IntVar(&c.k, "k", 6, "print the `K` largest and smallest")
		f.StringVar(&c.r, "r", "1e-4,1e-3,1e-2,0.1,1", "the radii of the spectral sums: `LIST`")
		f.StringVar(&c.n, "bounds", "", "measure covering numbers for each ln n of `LIST`, Rademacher averages for -r")
		f.BoolVar(&c.centre, "centre", false, "subtract the means of rows and columns, as for ngd")
		f.BoolVar(&c.whole, "all", false, "find all eigenvalues, however many documents there are")
		f.BoolVar(&c.lanczos, "lanczos", false, "find only the extremes, however few documents there are")
		f.IntVar(&c.steps, "steps", spectrum.DefaultSteps, "at most `N` products for Lanczos")
		f.Uint64Var(&c.seed, "seed", 1, "`SEED` of the start vector of Lanczos")
		c.Compute.Declare(f)
		f.Group("Output", "")
		f.Draws(&c.plot, "plot", "draw the eigenvalues, and the smallest against t, into `FILE`, a .png or .svg")
		f.Check(c.check)
		return c.run
	},
}

// call is a call of the command.
type call struct {
	source.Documents
	source.Kernels
	backend.Compute
	f               *cli.Flags
	k, steps        int
	seed            uint64
	t, r, n, plot   string
	centre, lanczos bool
	whole           bool // all eigenvalues are asked for

	asked []kernel.Kernel
	radii []float64
	logs  []float64 // ln n of covering numbers; nil where no bounds are asked for
}

// check reads what can be read before the documents.
func (c *call) check() (err error) {
	switch {
	case c.k < 1:
		return cli.Usagef("-k %d is below 1", c.k)
	case c.steps < 1:
		return cli.Usagef("-steps %d is below 1", c.steps)
	case c.whole && c.lanczos:
		return cli.Usagef("-all and -lanczos, expected one of them")
	}
	if c.asked, err = c.Parse("diffusion:t=0.5"); err != nil {
		return err
	}
	if c.radii, err = list("r", c.r); err != nil {
		return err
	}
	for _, r := range c.radii {
		if !(r > 0) {
			return cli.Usagef("-r %v, expected numbers above 0", r)
		}
	}
	if c.n != "" {
		if c.logs, err = list("bounds", c.n); err != nil {
			return err
		}
		for _, l := range c.logs {
			if !(l >= 0) {
				return cli.Usagef("-bounds %v, expected ln n of 0 or more", l)
			}
		}
		if c.lanczos {
			return cli.Usagef("-bounds and -lanczos: the bounds want all eigenvectors")
		}
	}
	if c.t == "" {
		return nil
	}
	ts, err := list("t", c.t)
	if err != nil {
		return err
	}
	var unused []string
	if c.asked, unused, err = kernel.Vary(c.asked, []kernel.List{{Name: "t", Values: ts}}); err != nil {
		return cli.Usagef("-t: %w", err)
	}
	if len(unused) > 0 {
		return cli.Usagef("-t %s: none of the kernels has a parameter t", c.t)
	}
	return nil
}

// list reads the values of a flag.
func list(flag, text string) ([]float64, error) {
	values, err := source.ParseValues(flag + "=" + text)
	if err != nil {
		return nil, cli.Usagef("-%s: %w", flag, err)
	}
	return values.Values, nil
}

func (c *call) run(ctx context.Context, e *cli.Env) error {
	p := e.Progress(false)
	defer p.Clear()
	corpus, err := c.Read(ctx, e, p)
	if err != nil {
		return err
	}
	if corpus.Documents.Rows() < 1 {
		return fmt.Errorf("%s holds no documents, expected 1 or more", corpus.Source)
	}
	r := &spectra{Corpus: source.NewLine(corpus), Centred: c.centre, Seed: c.seed}
	if err := c.documents(ctx, e, p, corpus, r); err != nil {
		return err
	}
	p.Clear()
	if c.plot != "" {
		if err := r.draw(c.plot); err != nil {
			return err
		}
	}
	return c.Report(e, c.f, r)
}

// documents adds the rows of kernels of documents.
func (c *call) documents(
	ctx context.Context, e *cli.Env, p *cli.Progress, docs *corpus.Corpus, r *spectra,
) (err error) {
	n := docs.Documents.Rows()
	what := "a Gram matrix of " + report.Documents(n)
	embedded, inEngine := source.WorkBytes(docs.Documents)
	held := backend.RuntimeBytes + docs.Documents.Bytes()
	stripes, err := c.Options("", nil).StripesBytes(n)
	if err != nil {
		return err
	}
	_, beside, all := c.beside("", n)
	if all {
		stripes = 4 * int64(n) * int64(n)
	}
	later := held + inEngine + c.ScratchBytes(docs.Documents) + beside + stripes
	if err := c.Fits("embedding the documents for "+what, held+embedded+inEngine, later); err != nil {
		return err
	}
	var x *sparse.Embedded
	var eng *engine.Engine
	for i, k := range c.asked {
		if i == 0 || k.Embedding() != c.asked[i-1].Embedding() {
			if eng != nil {
				if err := eng.Close(); err != nil {
					return err
				}
			}
			x, eng = nil, nil // their memory is needed
			if x, err = source.Embed(ctx, docs, k.Embedding(), c.Workers); err != nil {
				return err
			}
			source.WarnEmptied(e, docs, x)
			if eng, err = c.Engine(x, c.Job(n), p); err != nil {
				return err
			}
		}
		k = kernel.Resolve(k, len(x.Embedder.Terms))
		row := newRow(k, kernel.PropertiesOf(k), n)
		row.Embedding, row.ISA, row.Why = k.Embedding().String(), eng.Backend(), c.Why()
		m := &matrix{
			what: what, n: n, workers: c.NumWorkers(),
			held: held + eng.Bytes(), bytes: eng.GramBytes(), stripesBytes: eng.StripesBytes(),
			compute: func(ctx context.Context) (*engine.Symmetric, error) { return eng.Gram(ctx, k) },
			stripes: func(ctx context.Context, visit func(int, *engine.Dense) error) error {
				return eng.Stripes(ctx, k, visit)
			},
		}
		if err := c.measure(ctx, e, p, m, row); err != nil {
			return docs.NameValue(err)
		}
		r.Rows = append(r.Rows, row)
	}
	return nil
}
