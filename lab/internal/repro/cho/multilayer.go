package cho

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/cli"
	words "github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/mkm"
	"github.com/gramengine/gram/lab/internal/repro"
)

var networks = repro.Experiment{
	Name:  "cho-networks",
	Paper: paper + "ch. 5",
	Data:  "mnist",
	Time:  "six hours on two cores, or minutes with -set train=600 -set test=1000 -set components=40",
	Help: `
Multilayer kernel machines: each layer selects features by mutual information and finds kernel
principal components of an arc-cosine kernel; lmnn, knn and svm classify the features of the last
layer. One document of six of each class chooses widths, steps of lmnn and C; then all documents
train. Each run draws its own documents. The images are look-alikes of the thesis' sets, whose
Figures 5.4 and 5.5 print 6.13 to 7.69 % for mnist-rand and 17.91 to 23.50 % for mnist-image.`,
	New: func() repro.Settings {
		return &machines{Sets: repro.Words{"mnist-rand", "mnist-image"}, Networks: repro.Words{"0-0-0", "1-1-1", "2-2-2"},
			Components: 300, Base: 6000, Runs: 5}
	},
}

// machines holds the settings of the experiment in chapter 5.
type machines struct {
	Sets       repro.Words `param:"sets" wants:"names of sets of images" help:"sets"`
	Networks   repro.Words `param:"networks" wants:"layer degrees" help:"layer degrees; a leading + keeps all features"`
	Components int         `param:"components" min:"1" help:"maximum number of components per layer"`
	Base       int         `param:"base" min:"1" help:"number of documents for computing components"`
	Steps      int         `param:"steps" min:"0" help:"iterations of lmnn; 0 = automatic"`
	Runs       int         `param:"runs" min:"1" help:"runs"`
	Train      int         `param:"train" min:"0" help:"training documents; 0 = all"`
	Test       int         `param:"test" min:"0" help:"test documents; 0 = all"`
}

// network is a sequence of layers. The experiment measures all prefixes of the sequence.
type network struct {
	degrees []string // degrees of the arc-cosine kernels
	whole   bool     // true if features aren't selected
}

func (n network) name(layers int) string {
	if layers == 0 {
		return "none"
	}
	return strings.Join(n.degrees[:layers], "-")
}

// depth is the result of a network with a given number of layers in one run.
type depth struct {
	width  int       // number of features for the classifier
	failed float64   // validation error of the k-NN classifier in percent; NaN if unknown
	wrong  []float64 // test errors in percent, one per classifier
	steps  int       // number of iterations of metric learning
}

var finals = []mkm.Final{mkm.Metric, mkm.Neighbours, mkm.Machines}

// chains parses the settings into networks.
func (p *machines) chains() (out []network) {
	for _, n := range p.Networks {
		degrees, whole := strings.CutPrefix(n, "+")
		out = append(out, network{strings.Split(degrees, "-"), whole})
	}
	return out
}

// from returns the minimum number of layers. It is 1 if a network doesn't select features, because
// with 0 layers, LMNN would use all pixels, which is slow.
func (p *machines) from() int {
	if slices.ContainsFunc(p.chains(), func(n network) bool { return n.whole }) {
		return 1
	}
	return 0
}

// settings returns the mkm settings of a network for one run.
func (p *machines) settings(n network, seed uint64) mkm.Settings {
	s := mkm.Settings{Whole: n.whole, Components: p.Components, Base: p.Base, Steps: p.Steps, Seed: seed}
	for _, degree := range n.degrees {
		s.Layers = append(s.Layers, "arccos:n="+degree)
	}
	return s
}

// Run implements repro.Settings.
func (p *machines) Run(ctx context.Context, r *repro.Run) (*repro.Report, error) {
	chosen, err := choose(r, &p.Sets)
	if err != nil {
		return nil, err
	}
	for _, n := range p.chains() {
		if err := p.settings(n, 1).Validate(); err != nil {
			return nil, cli.Usagef("networks: %w", err)
		}
	}
	report := &repro.Report{}
	report.Set("mkm", "%d components from up to %d documents; 1/6 of the documents select the other settings",
		p.Components, p.Base)
	report.Set("seed", "%d", r.Seed)
	for _, s := range chosen {
		if s.text() {
			return nil, cli.Usagef("sets must be sets of images, got %s", s.name)
		}
		if err := p.measure(ctx, r, &s, report); err != nil {
			return report, err
		}
	}
	return report, nil
}

func (p *machines) measure(ctx context.Context, r *repro.Run, s *set, report *repro.Report) error {
	chains := p.chains()
	found := make([][][]depth, len(chains)) // results, indexed by network, run and layers
	step := r.Counter(s.name+": runs of networks", p.Runs*len(chains))
	for run := range p.Runs {
		of := *r
		of.Seed += uint64(run)
		d, err := s.read(ctx, &of, repro.Terms{}, p.Train, p.Test)
		if err != nil {
			return err
		}
		if run == 0 {
			report.Set(s.name+", networks", "%d training and %d test documents, redrawn for each of %s",
				d.train.Documents.Rows(), d.test.Documents.Rows(), words.Counted(p.Runs, "run", "runs"))
		}
		for at, n := range chains {
			depths, err := p.network(ctx, &of, d, n)
			if err != nil {
				return err
			}
			found[at] = append(found[at], depths)
			step()
		}
	}
	p.table(s.name, chains, found, report)
	p.effects(s.name, chains, found, report)
	return nil
}

// network trains and tests a network with each number of layers.
func (p *machines) network(ctx context.Context, r *repro.Run, d *data, n network) ([]depth, error) {
	o := mkm.Options{ISA: r.ISA, Workers: r.Workers, Progress: func(q engine.Progress) {
		r.Progress("network "+n.name(len(n.degrees))+", "+q.Stage, q.Done, q.Total)
	}}
	if r.MemoryBytes > 0 {
		o.MemoryBytes = max(r.MemoryBytes-d.bytes(), 1)
	}
	models, err := mkm.Path(ctx, d.train, p.settings(n, r.Seed), finals, p.from(), o)
	if err != nil {
		return nil, err
	}
	found, err := mkm.PredictAll(ctx, models, d.test.Documents, o)
	if err != nil {
		return nil, err
	}
	out := make([]depth, len(n.degrees)+1-p.from())
	for i, m := range models {
		to, last := &out[i/len(finals)], m.Choices[len(m.Choices)-1]
		to.width, to.failed = m.Width(), 100*float64(last.Wrong)/float64(last.Documents)
		if m.Metric != nil {
			to.steps = m.Metric.Iterations
		}
		wrong := 0
		for k, class := range found[i].Class {
			if !repro.HasClass(d.test, k, m.Classes[class]) {
				wrong++
			}
		}
		to.wrong = append(to.wrong, 100*float64(wrong)/float64(len(found[i].Class)))
	}
	return out, nil
}

// table adds the table of a set, with means and standard deviations over the runs.
func (p *machines) table(name string, chains []network, found [][][]depth, report *repro.Report) {
	t := report.NewTable(name, name+": multilayer kernel machines, test error in %", "selection", "network", ">layers",
		">width", ">validation, k-NN", ">lmnn", ">knn", ">svm", ">steps of lmnn", ">runs")
	shown := map[string]bool{}
	low, high, least, best := math.Inf(1), 0., math.Inf(1), ""
	for at, n := range chains {
		for layers := p.from(); layers <= len(n.degrees); layers++ {
			row := fmt.Sprint(n.whole, n.name(layers))
			if shown[row] {
				continue
			}
			shown[row] = true
			over := func(figure func(*depth) float64) repro.Measured {
				var values []float64
				for _, run := range found[at] {
					values = append(values, figure(&run[layers-p.from()]))
				}
				return repro.Measure(values)
			}
			selection := map[bool]string{false: "yes", true: "no"}[n.whole]
			failed := over(func(d *depth) float64 { return d.failed })
			cells := []string{selection, n.name(layers), fmt.Sprint(layers),
				over(func(d *depth) float64 { return float64(d.width) }).Text(0), failed.Text(2)}
			for f := range finals {
				cells = append(cells, over(func(d *depth) float64 { return d.wrong[f] }).Text(2))
			}
			steps := over(func(d *depth) float64 { return float64(d.steps) })
			t.Add(append(cells, steps.Text(0), fmt.Sprint(len(found[at])))...)
			if layers > 0 && !n.whole {
				e := over(func(d *depth) float64 { return d.wrong[0] }).Mean
				low, high = min(low, e), max(high, e)
				if failed.Mean < least {
					least, best = failed.Mean, fmt.Sprintf("%s (test error %.2f%%)", n.name(layers), e)
				}
			}
		}
	}
	report.Note("%s: test error of arc-cosine networks with a metric: %.2f%% to %.2f%%; the validation documents "+
		"would choose %s", name, low, high, best)
}

// effects adds a note on the effect of each setting. The effect is the mean difference in test
// error between two results that differ only in this setting. The mean is over all such pairs and
// all runs. Standard deviations are over runs.
func (p *machines) effects(name string, chains []network, found [][][]depth, report *repro.Report) {
	type result struct{ chain, layers, final int }
	var all []result
	for at, n := range chains {
		for l := p.from(); l <= len(n.degrees); l++ {
			for f := range finals {
				all = append(all, result{at, l, f})
			}
		}
	}
	tell := func(what string, differ func(a, b result) bool) {
		pairs, means := 0, make([]float64, p.Runs)
		for _, a := range all {
			for _, b := range all {
				if !differ(a, b) {
					continue
				}
				pairs++
				for run := range means {
					wrong := func(of result) float64 { return found[of.chain][run][of.layers-p.from()].wrong[of.final] }
					means[run] += wrong(a) - wrong(b)
				}
			}
		}
		if pairs == 0 {
			return
		}
		floats.Scale(1/float64(pairs), means)
		m := repro.Measure(means)
		text := fmt.Sprintf("%+.2f points", m.Mean)
		if m.N > 1 {
			text += fmt.Sprintf(" ± %.2f", m.SD)
		}
		report.Note("%s: %s: %s, over %s", name, what, text, words.Counted(pairs, "pair", "pairs"))
	}
	tell("selection against all features", func(a, b result) bool {
		n, o := chains[a.chain], chains[b.chain]
		return !n.whole && o.whole && slices.Equal(n.degrees, o.degrees) && a.layers == b.layers && a.final == b.final
	})
	tell("lmnn against knn", func(a, b result) bool { return a == result{b.chain, b.layers, 0} && b.final == 1 })
	tell("svm against lmnn", func(a, b result) bool { return a == result{b.chain, b.layers, 2} && b.final == 0 })
	for l := range mkm.MaxLayers {
		tell(fmt.Sprintf("%s against %d", words.Counted(l+1, "layer", "layers"), l), func(a, b result) bool {
			return a == result{b.chain, b.layers + 1, b.final} && b.layers == l
		})
	}
}
