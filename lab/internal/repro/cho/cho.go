// Package cho repeats the experiments of Cho, Kernel Methods for Deep Learning, PhD thesis, 2012,
// chapters 2 to 5: arc-cosine kernels of several degrees, layers, factors, biases and thresholds
// beside linear and Gaussian ones.
//
// data.go reads the sets, or draws them by package larochelle; kernels.go lists the kernels; run.go
// chooses C on a validation set and measures the test error; report.go makes tables and curves;
// multilayer.go has multilayer kernel machines.
package cho

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	words "github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Experiment is that of the thesis on arc-cosine kernels.
var Experiment = repro.Experiment{
	Name:   "cho",
	Paper:  "Cho, Kernel Methods for Deep Learning, PhD thesis, UC San Diego, 2012, ch. 2-5",
	Data:   "mnist, 20news-bydate",
	Time:   "minutes to hours",
	Curves: true,
	Listed: []string{"networks", "ablation", "deep", "components", "base", "steps", "runs", "fine"}, ListedAs: "Others",
	Help: `
Support vector machines with arc-cosine kernels: test errors.

Sets are trained and tested on 1,000 documents, or all with -train 0 -test 0.

Families of kernels (-kernels):
  plain     linear, and the Gaussian kernel with the best width of -gammas
  composed  degree n (-degrees), 1 to 6 layers of the same degree (-layers); degree 2 is normalised
            to k(x,x) = 1 from two layers on, since its values would grow too large
  mixed     the same with degree 1 from the second layer on
  square    layers of degree 2 as they are, as many as float32 has room for
  product   degree n, to the power of 2 to 6 (-factors)
  factors   the same with degree 0 from the second factor on
  average   sums over degrees, over layers and over factors, of kernels with k(x,x) = 1
  degree    one layer of fractional degree (-fractions), of degree 0 and of degree -1/4
  bias      degree 0 with thresholds that are moved (-biases)
  smooth    degree 0 with thresholds that are smoothed (-sigmas)
  mkm       multilayer kernel machines of arc-cosine kernels (-networks, -ablation), on digits

Sets (-sets), with documents for training, of which validation, and for testing:
  mnist             60,000, 10,000; 10,000  pixels, scaled to [0, 1]; deslanted for families of
                                            chapter 4, from composed to average, but with -slanted
  20news-bydate     11,314, a fifth; 7,532  texts, see -embed
  20news-random     15,076, a fifth; 3,770  the same, divided at random
  rectangles         1,200,    200; 50,000  the outline of a rectangle; is it taller than broad?
  rectangles-image  12,000,  2,000; 50,000  a rectangle of one texture on another
  convex             8,000,  2,000; 50,000  a white region; is it convex?
  mnist-rand        12,000,  2,000; 50,000  digits and random noise, the greater value
  mnist-image       12,000,  2,000; 50,000  digits and a texture, the greater value
The last five are look-alikes, drawn by -seed after the description of Larochelle et al., ICML 2007,
so printed errors, which are for their images, stand for comparison only. The thesis divides another
edition of 20 Newsgroups at random. ISOLET and Gisette aren't here.

C, and a scale where there is one, is what errs least on a validation set: the last of each class,
of texts random ones. The machine is then trained on the whole training set. One value of C and no
scale need no validation; -fine tries values of C around the best. C is in multiples of 1 / mean
k(x,x), gammas are in multiples of 1 / mean |x|², biases and σ in multiples of the mean norm of the
training documents, so that they mean the same for every set and degree. |ln| is that of test error
over printed error, of whole training sets.

The thesis has one-vs-one with votes (§2.2.2). It leaves open, or we don't know: its values of C,
biases and widths, how digits were deslanted (here by moments, their centre of mass moved to the
middle), the text preparation (-embed, -min-df), whether pixels were centred (-centre), and how ties
are broken (the first class, as in LIBSVM). A set smaller than the whole is drawn by -seed.

Networks of mkm (ch. 5) select features by mutual information, find kernel components, and so on,
layer by layer; the last are classified by lmnn, knn and svm. Widths, the steps of lmnn and C are
chosen by one document of six of each class, where the thesis has the last 2,000 of 12,000, and all
are trained on at last. Of all sets they are measured on mnist-rand and mnist-image. Which networks
Figures 5.4 and 5.5 have isn't in the text that we have.
  -networks LIST  degrees of layers, such as 0-0-0,1-1-1,2-2-2, the default; beginnings count, too
  -ablation       in place of that: with selection and without, of -deep (3) layers of the same
                  degree (-degrees)
  -components N   components of a layer, at most (300), -base N: of that many documents (6000)
  -steps N        iterations of lmnn, in place of as many as err least on the documents that choose
  -runs N         runs (5), each on a draw of its own; the thesis draws the documents of -base anew

The matrix of all 60,000 digits takes 14.4 GB. Where -m leaves less, each kernel computes what its
machines ask for: quicker for one kernel, slower for many.

Examples:
  gramlab repro cho -data DIR -sets mnist -train 0 -test 0 -kernels composed -degrees 1 -m 4G
`,
	Setup: func(f *flag.FlagSet) func(context.Context, *repro.Run) (*repro.Report, error) {
		p := &protocol{
			families: repro.AllOf(slices.Concat(families, []string{multilayer})...), degrees: repro.AllOf("0", "1", "2"),
			scheme: repro.AllOf(solver.OneVsOne.String(), solver.OneVsRest.String()),
			c:      repro.Numbers{1, 10, 100}, gammas: repro.Numbers{0.5, 1, 2, 4},
			fractions: repro.Numbers{0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2},
			biases:    repro.Numbers{0.25, 0.5, 1, 2}, sigmas: repro.Numbers{0.125, 0.25, 0.5, 1, 2},
		}
		for _, s := range sets {
			p.sets.Of = append(p.sets.Of, s.name)
		}
		p.sets.Chosen, p.scheme.Chosen = p.sets.Of, p.scheme.Of[:1]
		p.families.Chosen = families
		f.Var(&p.sets, "sets", "measure on the sets of this `LIST`")
		f.Lookup("sets").DefValue = "all eight"
		f.Var(&p.families, "kernels", "families, a `LIST`")
		f.Lookup("kernels").DefValue = "all but mkm"
		f.Var(&p.degrees, "degrees", "compose and multiply kernels of the degrees of this `LIST`")
		f.IntVar(&p.layers, "layers", 6, "compose 1 to `N` layers")
		f.IntVar(&p.factors, "factors", 6, "multiply 2 to `N` factors")
		f.Var(&p.fractions, "fractions", "degrees beside 0, a `LIST`")
		f.Var(&p.biases, "biases", "take the biases of this `LIST`, times the mean norm")
		f.Var(&p.sigmas, "sigmas", "smooth by the σ of this `LIST`, times the mean norm")
		f.Var(&p.gammas, "gammas", "try the gammas of this `LIST`, divided by mean |x|²")
		f.Var(&p.c, "c", "try the C of this `LIST`, divided by mean k(x,x)")
		f.Var(&p.scheme, "scheme", "train by `SCHEME`, one-vs-one or one-vs-rest")
		f.BoolVar(&p.fine, "fine", false, "try C around the best, too")
		f.IntVar(&p.train, "train", 1000, "train on `N` documents; 0 for all of a set")
		f.IntVar(&p.test, "test", 1000, "test on `N` documents; 0 for all of a set")
		f.BoolVar(&p.centred, "centre", false, "subtract from each pixel its mean over the training images")
		f.BoolVar(&p.slanted, "slanted", false, "leave the digits slanted for families of chapter 4, too")
		f.StringVar(&p.networks, "networks", "0-0-0,1-1-1,2-2-2", "degrees of layers, a `LIST`")
		f.BoolVar(&p.ablation, "ablation", false, "by selection and classifier")
		f.IntVar(&p.deep, "deep", 3, "`N` layers")
		f.IntVar(&p.components, "components", 300, "`N` components")
		f.IntVar(&p.base, "base", 6000, "`N` documents")
		f.IntVar(&p.steps, "steps", 0, "`N` iterations")
		f.IntVar(&p.runs, "runs", 5, "`N` runs")
		f.StringVar(&p.embed, "embed", "tfidf-l2", "embed texts as `EMBEDDING`")
		p.text.Flags(f, 2, repro.NoWords)
		return p.run
	},
}

// protocol is the protocol with what the flags leave of it.
type protocol struct {
	sets, families, degrees, scheme      repro.Words
	c, gammas, fractions, biases, sigmas repro.Numbers
	layers, factors, train, test         int
	embed                                string
	text                                 repro.Preparation
	centred, slanted, fine, ablation     bool
	networks                             string
	deep, components, base, steps, runs  int       // of mkm
	gaps                                 []float64 // |ln(measured/printed)| of the figures that are printed
}

// check reports flags that make no sense.
func (p *protocol) check() error {
	for _, n := range []struct {
		flag               string
		value, least, most int
	}{
		{"layers", p.layers, 1, 32}, {"factors", p.factors, 1, 32},
		{"train", p.train, 0, p.train}, {"test", p.test, 0, p.test},
	} {
		if n.value < n.least || n.value > n.most {
			return repro.Usagef("-%s %d is out of range", n.flag, n.value)
		}
	}
	if len(p.scheme.Chosen) != 1 {
		return repro.Usagef("-scheme %s, expected one of %s", &p.scheme, strings.Join(p.scheme.Of, ", "))
	}
	for _, n := range p.fractions {
		if n > 28 {
			return repro.Usagef("-fractions %v, expected degrees up to 28", n)
		}
	}
	if _, err := sparse.ParseEmbedding(p.embed); err != nil {
		return repro.Usagef("-embed: %w", err)
	}
	if err := p.checkMultilayer(); err != nil {
		return err
	}
	return p.text.Check()
}

// solverScheme is the scheme that the flag names.
func (p *protocol) solverScheme() solver.Scheme {
	if p.scheme.Has(solver.OneVsRest.String()) {
		return solver.OneVsRest
	}
	return solver.OneVsOne
}

// run measures one set after the other.
func (p *protocol) run(ctx context.Context, r *repro.Run) (*repro.Report, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if r.Plot && !p.curves() {
		return nil, repro.Usagef("-plot: -kernels %s with so few layers, factors and numbers give no curve, "+
			"which has two points at least", &p.families)
	}
	var chosen, networks []set
	generated := false
	machines := p.families.Has(multilayer)
	p.families.Chosen = slices.DeleteFunc(slices.Clone(p.families.Chosen), func(f string) bool { return f == multilayer })
	for _, s := range sets {
		if !p.sets.Has(s.name) {
			continue
		}
		if len(p.families.Chosen) > 0 {
			chosen = append(chosen, p.parts(&s)...)
		}
		if machines && slices.Contains(multilayerSets, s.name) && (s.generated || len(p.sets.Chosen) < len(sets)) {
			networks = append(networks, s)
		}
		generated = generated || s.generated
		if s.source != nil {
			if err := r.Require(*s.source); err != nil {
				return nil, err
			}
		}
	}
	report := &repro.Report{}
	report.Set("machines", "%s, C of %s in multiples of 1 / mean k(x,x)", p.solverScheme(), &p.c)
	validation := "C, and a width, bias or σ, by the last of each class of the training set, of texts by random " +
		"ones; all are trained on at last"
	if len(p.c) == 1 && !p.fine {
		validation = "none but for a width, bias or σ: one C"
	}
	report.Set("validation", "%s", validation)
	if len(chosen) == 0 {
		report.Settings = nil
	}
	if machines {
		report.Set("mkm", "%d components of up to %d documents; one document of 6 chooses widths, neighbours, steps and C",
			p.components, p.base)
	}
	report.Set("seed", "%d", r.Seed)
	if p.centred {
		report.Set("pixels", "less their means over the training images")
	}
	if p.sets.Has(repro.Newsgroups.Name) {
		report.Set("texts", "%s; embedded as %s", p.text, p.embed)
	}
	if generated {
		report.Set("generated sets", "look-alikes of those of Larochelle et al. 2007, not theirs")
	}
	for _, s := range chosen {
		m := &measurement{p: p, r: r, set: &s, table: newTable(s.name), report: report}
		report.Tables = append(report.Tables, m.table)
		if err := m.run(ctx); err != nil {
			return report, err
		}
	}
	for _, s := range networks {
		if err := p.runMultilayer(ctx, r, &s, report); err != nil {
			return report, err
		}
	}
	if len(p.gaps) > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("mean |ln(measured/printed)| of %s: %.3f",
			words.Counted(len(p.gaps), "figure", "figures"), stat.Mean(p.gaps, nil)))
	}
	return report, nil
}
