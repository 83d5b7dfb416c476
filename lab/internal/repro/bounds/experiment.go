package bounds

import (
	"context"
	"fmt"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/lab/internal/repro"
)

// Experiment computes the bounds in §4 of the paper.
var Experiment = repro.Experiment{
	Name:    "lafferty-bounds",
	Paper:   "Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds, JMLR 6 (2005), §4",
	Corpora: "webkb, reuters-modapte",
	RunTime: "seconds",
	Help: `
Theorem 2: ln ε with a covering number N(ε) <= n for functions of norm up to 1. Theorem 5: the
Rademacher average of those whose mean square is at most r, measured over random signs, with its
bound √(2/n Σ min(r, λ)). λ are the eigenvalues of K/n. The time grows with the cube of the number
of documents. The scales √(4t) are those of §5.`,
	New: func() repro.Settings {
		p := &settings{
			CorpusName: repro.WebKB.Name, Stride: 7, LogN: repro.Floats{10, 100, 1000, 10000}, R: repro.Floats{1e-4, 1e-3, 1e-2},
			TermSettings: repro.TermSettings{MinDF: 2},
		}
		for _, t := range []float64{0.0625, 0.25, 1, 2.25, 4, 25} {
			p.Kernels = append(p.Kernels, kernel.MustParse(fmt.Sprintf("diffusion:t=%v", t)))
		}
		return p
	},
}

type settings struct {
	CorpusName string        `param:"set" help:"corpus"`
	Stride     int           `param:"every" min:"1" help:"use every Nth document"`
	Kernels    repro.Kernels `param:"kernels" help:"kernels, separated by semicolons"`
	LogN       repro.Floats  `param:"ln-n" wants:"positive numbers" help:"values of ln n for the covering numbers"`
	R          repro.Floats  `param:"r" wants:"positive numbers" help:"mean squared radii for the Rademacher averages"`
	repro.TermSettings
}

// Run implements repro.Settings.
func (p *settings) Run(ctx context.Context, r *repro.Env) (*repro.Report, error) {
	if err := repro.CheckOneOf("set", p.CorpusName, repro.WebKB.Name, repro.Reuters.Name); err != nil {
		return nil, err
	}
	docs, err := p.read(ctx, r)
	if err != nil {
		return nil, err
	}
	n := int64(docs.Documents.Rows())
	if err := r.CheckMemory(fmt.Sprintf("all eigenvectors of %d documents", n),
		4*n*n+8*n*(3*n+2*signVectorCount)); err != nil {
		return nil, err
	}
	report := &repro.Report{}
	report.AddSetting(p.CorpusName, "%d documents", n)
	coverings := report.AddTable("2",
		"Theorem 2: ln ε* for covering number N(ε*) <= n, for functions with norm up to 1; C_K is measured",
		"kernel", ">C_K")
	averages := report.AddTable("5", fmt.Sprintf("Theorem 5: Rademacher averages over %d draws and their bounds",
		signVectorCount),
		"kernel")
	for _, v := range p.LogN {
		coverings.Columns = append(coverings.Columns, fmt.Sprintf(">ln n=%v: j*", v), fmt.Sprintf(">ln n=%v: ln ε*", v))
	}
	for _, v := range p.R {
		averages.Columns = append(averages.Columns, fmt.Sprintf(">r=%v", v), fmt.Sprintf(">r=%v: at most", v))
	}
	for _, k := range p.Kernels {
		m, err := gram.Gram(ctx, docs, k.String(), gram.Options{Workers: r.Workers})
		if err != nil {
			return nil, err
		}
		b, err := computeBounds(m, p.LogN, p.R)
		if err != nil {
			return nil, err
		}
		cells, means := []string{k.String(), formatNumber(b.maxEigenfunction)}, []string{k.String()}
		for _, c := range b.coverings {
			cells = append(cells, fmt.Sprint(c.index), formatNumber(c.radius))
		}
		for _, a := range b.averages {
			means = append(means, formatNumber(a.mean), formatNumber(a.bound))
		}
		coverings.AddRow(cells...)
		averages.AddRow(means...)
	}
	return report, nil
}

// read reads every p.Stride-th WebKB page or Reuters-21578 training story.
func (p *settings) read(ctx context.Context, r *repro.Env) (c *corpus.Corpus, err error) {
	n, all := 0, repro.TermSettings{Digits: p.Digits, MinDF: 1}
	if p.CorpusName == repro.WebKB.Name {
		if err = r.Require(repro.WebKB); err == nil {
			c, _, err = r.ReadWebKB(ctx, all)
		}
	} else if err = r.Require(repro.Reuters); err == nil {
		c, n, err = r.ReadReuters(ctx, all)
	}
	if err != nil {
		return nil, err
	}
	if n == 0 {
		n = c.Documents.Rows()
	}
	var some []int
	for i := 0; i < n; i += p.Stride {
		some = append(some, i)
	}
	return p.TermSettings.Apply(c.Select(some)), nil
}

func formatNumber(v float64) string { return fmt.Sprintf("%.4g", v) }
