// Package cho repeats the experiments in chapters 2 to 5 of Cho, Kernel Methods for Deep Learning,
// PhD thesis, 2012. It compares variants of arc-cosine kernels with linear and Gaussian kernels,
// and measures multilayer kernel machines.
package cho

import (
	"context"
	_ "embed"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

const paper = "Cho, Kernel Methods for Deep Learning, PhD thesis, UC San Diego, 2012, "

// Experiments lists the experiments in the order of the chapters.
var Experiments = []repro.Experiment{
	{
		Name:    "cho",
		Paper:   paper + "Tables 2.2, 3.1",
		Corpora: "mnist, 20news-bydate",
		RunTime: "hours, or minutes with -set train=1000 -set test=1000",
		Help:    help,
		New: func() repro.Settings {
			p := defaults()
			p.Kernels, p.MaxLayers, p.Slanted = repro.Words{familyPlain, familyComposed, familyBias, familySmooth}, 1, true
			return p
		},
	}, {
		Name:    "cho-layers",
		Paper:   paper + "Figures 3.5 and 4.6-4.14",
		Corpora: "mnist, 20news-bydate",
		RunTime: "ten minutes on two cores",
		Help:    help,
		New: func() repro.Settings {
			p := defaults()
			p.Kernels, p.Sets, p.C = repro.Words{familyComposed, familyMixed, familySquare, familyProduct, familyFactors,
				familyAverage},
				repro.Words{"mnist"}, repro.Floats{10, 100}
			p.TrainCount = 10000
			return p
		},
	}, networksExperiment,
}

const help = `
Test errors of SVMs, one against one. Families of kernels:
  plain     linear, and Gaussian with the best of gammas
  composed  layers of one degree; degree 2 is normalised to k(x,x) = 1 from two layers on
  mixed     layers of degree 1 on one of degree 0 or 2;  square  layers of degree 2, not normalised
  product   powers of a degree;  factors  degree n times powers of degree 0;  average  sums
  degree    fractional degrees;  bias, smooth  degree 0 with moved or smoothed thresholds
Sets: mnist, 20news-bydate, 20news-random and look-alikes of the sets of Larochelle et al., ICML
2007: rectangles, rectangles-image, convex, mnist-rand, mnist-image. C and scale have the lowest
error on a validation set; then all documents train. C is in multiples of 1 / mean k(x,x), gamma of
1 / mean |x|², biases and σ of the mean norm. Printed errors are of the thesis' own sets.`

type settings struct {
	Sets       repro.Words  `param:"sets" wants:"names of sets" help:"names of data sets"`
	Kernels    repro.Words  `param:"kernels" wants:"names of families" help:"names of kernel families"`
	Degrees    repro.Words  `param:"degrees" wants:"degrees of 0,1,2" help:"degrees of arc-cosine layers and factors"`
	MaxLayers  int          `param:"layers" min:"1" max:"32" help:"maximum number of layers"`
	MaxFactors int          `param:"factors" min:"1" max:"32" help:"maximum number of factors"`
	Fractions  repro.Floats `param:"fractions" wants:"positive numbers" help:"fractional degrees"`
	Biases     repro.Floats `param:"biases" wants:"positive numbers" help:"values of bias"`
	Sigmas     repro.Floats `param:"sigmas" wants:"positive numbers" help:"values of σ of smoothed thresholds"`
	Gammas     repro.Floats `param:"gammas" wants:"positive numbers" help:"values of γ of the Gaussian kernel"`
	C          repro.Floats `param:"c" wants:"positive numbers" help:"values of C"`
	TrainCount int          `param:"train" min:"0" help:"number of training documents; 0 = all"`
	TestCount  int          `param:"test" min:"0" help:"number of test documents; 0 = all"`
	Slanted    bool         `param:"slanted" help:"do not deskew the digits for kernel families of chapter 4"`
	Embed      string       `param:"embed" help:"embedding of text documents"`
	repro.TermSettings
}

func defaults() *settings {
	p := &settings{
		Degrees: repro.Words{"0", "1", "2"}, MaxLayers: 6, MaxFactors: 6,
		Fractions: repro.Floats{0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2}, Biases: repro.Floats{0.25, 0.5, 1, 2},
		Sigmas: repro.Floats{0.125, 0.25, 0.5, 1, 2}, Gammas: repro.Floats{0.5, 1, 2, 4},
		C: repro.Floats{1, 10, 100}, Embed: "tfidf-l2", TermSettings: repro.TermSettings{MinDF: 2},
	}
	for _, s := range datasets {
		p.Sets = append(p.Sets, s.name)
	}
	return p
}

// chooseSets returns the named data sets. It fails if a file of these sets is missing.
func chooseSets(r *repro.Env, names *repro.Words) (chosen []dataset, err error) {
	var all []string
	for _, s := range datasets {
		all = append(all, s.name)
	}
	if *names, err = names.Select("sets", all...); err != nil {
		return nil, err
	}
	for _, s := range datasets {
		if !names.Has(s.name) {
			continue
		}
		if s.source != nil {
			if err := r.Require(*s.source); err != nil {
				return nil, err
			}
		}
		chosen = append(chosen, s)
	}
	return chosen, nil
}

// Run implements repro.Settings.
func (p *settings) Run(ctx context.Context, r *repro.Env) (*repro.Report, error) {
	embedding, err := sparse.ParseEmbedding(p.Embed)
	if err != nil {
		return nil, cli.Usagef("embed: %w", err)
	}
	if p.Kernels, err = p.Kernels.Select("kernels", families...); err != nil {
		return nil, err
	}
	if p.Degrees, err = p.Degrees.Select("degrees", "0", "1", "2"); err != nil {
		return nil, err
	}
	chosen, err := chooseSets(r, &p.Sets)
	if err != nil {
		return nil, err
	}
	report := &repro.Report{}
	report.AddSetting("classifiers", "one-vs-one, C in %s times 1 / mean k(x,x)", p.C)
	report.AddSetting("seed", "%d", r.Seed)
	report.AddSetting("texts", "%s; embedding %s", p.TermSettings, p.Embed)
	for _, s := range chosen {
		for _, part := range p.variants(&s) {
			m := &measurement{p: p, r: r, dataset: &part, report: report}
			if m.embedding, _ = sparse.ParseEmbedding("tf"); part.isText() {
				m.embedding = embedding
			}
			if err := m.run(ctx); err != nil {
				return report, err
			}
		}
	}
	return report, nil
}

// printedTSV contains the error rates in Table 3.1, and five error rates in Table 2.2. In the
// available copy of the thesis, the columns of Table 2.2 are out of order. In five rows, one number
// can be assigned to a kernel, because Table 3.1 contains the other three numbers of the row.
//
//go:embed printed.tsv
var printedTSV string

// printedError returns the error rate in percent that the thesis prints. If it prints none, ok is
// false.
func printedError(set, kernel string) (percent float64, ok bool) {
	_, rest, ok := strings.Cut(printedTSV, "\n"+set+"\t"+kernel+"\t")
	if ok {
		text, _, _ := strings.Cut(rest, "\n")
		percent, _ = strconv.ParseFloat(text, 64)
	}
	return percent, ok
}
