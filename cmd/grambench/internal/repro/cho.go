package repro

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// cho is the experiment of the thesis on arc-cosine kernels.
var cho = Experiment{
	Name:   "cho",
	Paper:  "Cho, Kernel Methods for Deep Learning, PhD thesis, University of California, San Diego, 2012, ch. 2-4",
	Data:   "mnist, 20news-bydate",
	Time:   "two minutes for six kernels on all digits, minutes for everything with -train 2000 -test 2000 -c 10,100, hours at full size, on two cores",
	Curves: true,
	Help: `
Support vector machines with arc-cosine kernels, and the error on test sets: MNIST, 20 Newsgroups by date, and four generated sets.

Families of kernels (-kernels):
  plain      linear, and the Gaussian kernel with the best width of -gammas
  composed   degree n (-degrees), 1 to 6 layers of the same degree (-layers); degree 2 from two layers on is normalised to k(x,x) = 1, since its values
             would grow beyond all numbers
  mixed      the same with degree 1 from the second layer on
  product    degree n, to the power of 2 to 6 (-factors)
  degree     one layer of fractional degree (-fractions), and degree 0
  bias       degree 0 with thresholds that are moved (-biases)
  smooth     degree 0 with thresholds that are smoothed (-sigmas)

Sets (-sets), with documents for training, of which in parentheses the validation set, and for testing:
  mnist             60,000 (10,000) and 10,000; raw pixels, scaled to [0, 1]
  20news-bydate     11,314 (a sixth) and 7,532; -embed
  rectangles         1,200 (200) and 50,000: the outline of a rectangle; is it taller than broad?
  rectangles-image  12,000 (2,000) and 50,000: a rectangle of one texture on another
  convex             8,000 (1,000) and 50,000: a white region; is it convex?
  mnist-rand        12,000 (2,000) and 50,000: digits on random noise
The last four are look-alikes, drawn after the description of Larochelle et al., ICML 2007, by -seed: errors on them can't be held against printed ones.

The protocol: C, and a width where there is one, is what errs least on a validation set, a random part of the training set, and is then trained on the whole,
validation set included; one value of C and no width need no validation. C is given in multiples of 1 / mean k(x,x), gammas in multiples of 1 / mean |x|², biases
and σ in multiples of the mean norm of the training documents, so that they mean the same for every set and degree. What the thesis leaves open, or we don't know:
the C it took, its biases and widths, the text preparation (-embed, -min-df), whether pixels were centred (-centre), and how ties of votes are broken (the
first class, as in LIBSVM). A set smaller than the whole (-train, -test) is drawn by -seed.

The matrix of all 60,000 digits takes 14.4 GB. Where -m leaves less, each kernel computes what its machines ask for, which for one kernel is quicker, for many it isn't.
A results file (-state) keeps every kernel that is done; the same command goes on from there.

Examples:
  grambench repro cho -data DIR -sets mnist -kernels composed -degrees 1 -layers 1 -c 100 -m 4G     all 60,000 digits, degree 1, in a minute
  grambench repro cho -data DIR -sets mnist -train 10000 -c 100 -kernels composed -plot layers.png
  grambench repro cho -data DIR -state cho.jsonl                                                    everything
`,
	Setup: func(f *flag.FlagSet) func(context.Context, *Run) (*Report, error) {
		p := &choProtocol{
			sets: Words{Of: choSetNames()}, families: Words{Of: choFamilies}, degrees: Words{Of: []string{"0", "1", "2"}}, scheme: Words{Of: []string{solver.OneVsOne.String(), solver.OneVsRest.String()}},
			c: Numbers{1, 10, 100}, gammas: Numbers{0.5, 1, 2, 4}, fractions: Numbers{0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2}, biases: Numbers{0.125, 0.25, 0.5, 1}, sigmas: Numbers{0.125, 0.25, 0.5, 1, 2},
		}
		p.sets.Chosen, p.families.Chosen, p.degrees.Chosen, p.scheme.Chosen = p.sets.Of, p.families.Of, p.degrees.Of, p.scheme.Of[:1]
		f.Var(&p.sets, "sets", "measure on the sets of this `LIST`")
		f.Var(&p.families, "kernels", "measure the families of kernels of this `LIST`")
		f.Var(&p.degrees, "degrees", "compose and multiply kernels of the degrees of this `LIST`")
		f.IntVar(&p.layers, "layers", 6, "compose 1 to `N` layers")
		f.IntVar(&p.factors, "factors", 6, "multiply 2 to `N` factors")
		f.Var(&p.fractions, "fractions", "take the degrees of this `LIST` beside 0")
		f.Var(&p.biases, "biases", "take the biases of this `LIST`, in multiples of the mean norm")
		f.Var(&p.sigmas, "sigmas", "take the widths of smoothing of this `LIST`, in multiples of the mean norm")
		f.Var(&p.gammas, "gammas", "try the gammas of this `LIST` for the Gaussian kernel, in multiples of 1 / mean |x|²")
		f.Var(&p.c, "c", "try the values of C of this `LIST`, in multiples of 1 / mean k(x,x)")
		f.Var(&p.scheme, "scheme", "train the machines of this `SCHEME`: one-vs-one or one-vs-rest")
		f.IntVar(&p.train, "train", 0, "train on `N` documents, the validation set in proportion (default: all of a set)")
		f.IntVar(&p.test, "test", 0, "test on `N` documents (default: all of a set)")
		f.BoolVar(&p.centred, "centre", false, "subtract from each pixel its mean over the training images")
		f.StringVar(&p.embed, "embed", "tfidf-l2", "embed texts as `EMBEDDING`")
		f.IntVar(&p.text.MinDF, "min-df", 2, "leave out terms that fewer than `N` texts have")
		f.IntVar(&p.text.MinLetters, "min-letters", 1, "leave out terms of fewer than `N` letters")
		f.StringVar(&p.text.StopWords, "stop-words", "", "leave out the words in `FILE` (default: none are)")
		return p.run
	},
}

// choProtocol is the protocol with what the flags leave of it.
type choProtocol struct {
	sets, families, degrees, scheme      Words
	c, gammas, fractions, biases, sigmas Numbers
	layers, factors, train, test         int
	embed                                string
	text                                 Preparation
	centred                              bool
}

// check holds the flags together.
func (p *choProtocol) check() error {
	for _, n := range []struct {
		flag         string
		value, least int
	}{{"layers", p.layers, 1}, {"factors", p.factors, 1}, {"train", p.train, 0}, {"test", p.test, 0}} {
		if n.value < n.least || n.value > 32 && n.least == 1 {
			return UsageError{fmt.Errorf("-%s %d is out of range", n.flag, n.value)}
		}
	}
	if len(p.scheme.Chosen) != 1 {
		return UsageError{fmt.Errorf("-scheme %s, expected one of %s", &p.scheme, strings.Join(p.scheme.Of, ", "))}
	}
	for _, n := range p.fractions {
		if n > 28 {
			return UsageError{fmt.Errorf("-fractions %v, expected degrees up to 28", n)}
		}
	}
	if _, err := sparse.ParseEmbedding(p.embed); err != nil {
		return UsageError{fmt.Errorf("-embed: %w", err)}
	}
	return p.text.Check()
}

// solverScheme is the scheme that the flag names.
func (p *choProtocol) solverScheme() solver.Scheme {
	if p.scheme.Has(solver.OneVsRest.String()) {
		return solver.OneVsRest
	}
	return solver.OneVsOne
}

// run measures one set after the other.
func (p *choProtocol) run(ctx context.Context, r *Run) (*Report, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if r.Plot && !p.curves() {
		return nil, UsageError{fmt.Errorf("-plot: -kernels %s with so few layers, factors and numbers give no curve, which has two points at least", &p.families)}
	}
	kernels, err := r.Kernels()
	if err != nil {
		return nil, err
	}
	for _, s := range choSets {
		if p.sets.Has(s.name) && s.source != nil {
			if err := r.Require(*s.source); err != nil {
				return nil, err
			}
		}
	}
	report := &Report{}
	report.Set("machines", "%s, C of %s in multiples of 1 / mean k(x,x)", p.solverScheme(), &p.c)
	report.Set("validation", "%s", p.validation())
	report.Set("seed", "%d", r.Seed)
	if p.centred {
		report.Set("pixels", "less their means over the training images")
	}
	if p.sets.Has(Newsgroups.Name) {
		report.Set("texts", "%s; embedded as %s", p.text, p.embed)
	}
	if slices.ContainsFunc(choSets, func(s choSet) bool { return p.sets.Has(s.name) && s.generated }) {
		report.Set("generated sets", "look-alikes of those of Larochelle et al. 2007, not theirs")
	}
	// What decides a cell is in its key or here; which sets and kernels are asked for doesn't matter.
	if err := r.State.Begin("cho", fmt.Sprintf("-c %s -gammas %s -scheme %s -train %d -test %d -centre %t -embed %s -seed %d -isa %s, terms: %s", &p.c, &p.gammas, &p.scheme, p.train, p.test, p.centred, p.embed,
		r.Seed, r.computer(kernels), p.text)); err != nil {
		return nil, err
	}
	for _, s := range choSets {
		if !p.sets.Has(s.name) {
			continue
		}
		table := choTable(s.name)
		report.Tables = append(report.Tables, table)
		if err := p.set(ctx, r, &s, table, report); err != nil {
			return report, err
		}
	}
	return report, nil
}

// validation says how C was chosen.
func (p *choProtocol) validation() string {
	if len(p.c) == 1 {
		return "none but for the width of the Gaussian kernel: one C"
	}
	return "C, and the width of the Gaussian kernel, by a random part of the training set, which is trained on at last"
}
