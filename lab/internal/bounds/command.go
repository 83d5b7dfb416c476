package bounds

import (
	"context"
	"fmt"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// Command is gramlab bounds.
var Command = &cli.Command{
	Name:    "bounds",
	Summary: "covering numbers and Rademacher averages of kernels on documents",
	Help: `
Computes the bounds of Theorems 2 and 5 of Lafferty and Lebanon, JMLR 6 (2005): ε with a covering
number N(ε) of at most n for functions of norm up to 1, and the Rademacher average of those whose
mean square is at most r, measured over random signs, beside its bound √(2/n Σ min(r, λ)). λ are the
eigenvalues of K/n. All eigenvectors are computed, which takes time in proportion to n³.`,
	Examples: `
gramlab bounds -in a.svm -kernel diffusion:t=0.5 -kernel diffusion:t=8 -ln-n 10,1000 -r 1e-3,0.1`,
	Setup: func(f *cli.Flags) cli.Work {
		c := &command{f: f}
		c.Documents.Declare(f, "goroot", &c.Limits)
		f.Group("Kernels", "")
		c.Kernels.Declare(f, "diffusion:t=0.5")
		f.Group("Bounds", "")
		f.StringVar(&c.n, "ln-n", "10,100,1000", "ln n of covering numbers: `LIST`")
		f.StringVar(&c.r, "r", "1e-4,1e-3,1e-2,0.1,1", "mean squares of Rademacher averages: `LIST`")
		f.Group("Computing", "")
		c.DeclareMemory(f)
		c.DeclareWorkers(f)
		f.Check(c.check)
		return c.run
	},
}

type command struct {
	source.Documents
	source.Kernels
	backend.Limits
	f           *cli.Flags
	n, r        string
	logs, radii []float64
	asked       []kernel.Kernel
}

func (c *command) check() (err error) {
	if c.logs, err = list("ln-n", c.n, func(v float64) bool { return v >= 0 }); err != nil {
		return err
	}
	if c.radii, err = list("r", c.r, func(v float64) bool { return v > 0 }); err != nil {
		return err
	}
	c.asked, err = c.Parse("diffusion:t=0.5")
	return err
}

// list reads the values of a flag, of which each must be allowed.
func list(flag, text string, allowed func(float64) bool) ([]float64, error) {
	values, err := source.ParseValues(flag + "=" + text)
	if err != nil {
		return nil, cli.Usagef("-%s: %w", flag, err)
	}
	for _, v := range values.Values {
		if !allowed(v) {
			return nil, cli.Usagef("-%s %v is out of range", flag, v)
		}
	}
	return values.Values, nil
}

// result is the report of the command.
type result struct {
	Corpus source.Line `json:"corpus"`
	Rows   []*bounds   `json:"rows"`
}

func (c *command) run(ctx context.Context, e *cli.Env) error {
	p := e.Progress(false)
	defer p.Clear()
	docs, err := c.Read(ctx, e, p)
	if err != nil {
		return err
	}
	n := int64(docs.Documents.Rows())
	if n < 1 {
		return fmt.Errorf("%s holds no documents, expected 1 or more", docs.Source)
	}
	if err := c.Fits("all eigenvectors of "+report.Documents(int(n)), 4*n*n+8*n*(3*n+2*draws)); err != nil {
		return err
	}
	r := &result{Corpus: source.NewLine(docs)}
	for _, k := range c.asked {
		p.Stage("bounds of " + k.String())
		m, err := gram.Gram(ctx, docs, k.String(), gram.Options{Workers: c.Workers})
		if err != nil {
			return err
		}
		b, err := boundsOf(m, c.logs, c.radii)
		if err != nil {
			return err
		}
		b.Kernel = k.String()
		r.Rows = append(r.Rows, b)
	}
	p.Clear()
	return report.Write(e.Stdout, r, c.f.JSON)
}

func (r *result) Describe(d *report.Document) {
	digits := func(v float64) string { return fmt.Sprintf("%.4g", float64(v)) }
	titles, averages := []string{"kernel", ">C_K"}, []string{"kernel"}
	for _, c := range r.Rows[0].Covering {
		titles = append(titles, ">ln n="+report.Float(float64(c.LogN))+": j*", ">ln ε*")
	}
	for _, a := range r.Rows[0].Averages {
		averages = append(averages, ">r="+report.Float(float64(a.R)), ">at most")
	}
	coverings, means := report.NewTable(titles...), report.NewTable(averages...)
	for _, b := range r.Rows {
		cells, mean := []string{b.Kernel, digits(b.Largest)}, []string{b.Kernel}
		for _, c := range b.Covering {
			cells = append(cells, report.Count(c.Index), digits(c.Radius))
		}
		for _, a := range b.Averages {
			mean = append(mean, digits(a.Mean), digits(a.Bound))
		}
		coverings.Add(cells...)
		means.Add(mean...)
	}
	d.Line("ln ε* with a covering number N(ε*) <= n for norms up to 1 (Theorem 2), C_K measured:")
	d.Table("Covering numbers", "", coverings)
	d.Table("Rademacher averages", fmt.Sprintf("Rademacher averages, over %d draws, and their bounds "+
		"√(2/n Σ min(r, λ)) (Theorem 5):", draws), means)
}
