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

var networksExperiment = repro.Experiment{
	Name:    "cho-networks",
	Paper:   paper + "ch. 5",
	Corpora: "mnist",
	RunTime: "six hours on two cores, or minutes with -set train=600 -set test=1000 -set components=40",
	Help: `
Multilayer kernel machines: each layer selects features by mutual information and finds kernel
principal components of an arc-cosine kernel; lmnn, knn and svm classify the features of the last
layer. One document of six of each class chooses widths, steps of lmnn and C; then all documents
train. Each run draws its own documents. The images are look-alikes of the thesis' sets, whose
Figures 5.4 and 5.5 print 6.13 to 7.69 % for mnist-rand and 17.91 to 23.50 % for mnist-image.`,
	New: func() repro.Settings {
		return &networkSettings{Sets: repro.Words{"mnist-rand", "mnist-image"},
			Networks:      repro.Words{"0-0-0", "1-1-1", "2-2-2"},
			MaxComponents: 300, BaseSize: 6000, RunCount: 5}
	},
}

type networkSettings struct {
	Sets          repro.Words `param:"sets" wants:"names of sets of images" help:"names of data sets"`
	Networks      repro.Words `param:"networks" wants:"layer degrees" help:"layer degrees; a leading + keeps all features"`
	MaxComponents int         `param:"components" min:"1" help:"maximum number of components per layer"`
	BaseSize      int         `param:"base" min:"1" help:"number of documents for computing components"`
	Steps         int         `param:"steps" min:"0" help:"number of LMNN iterations; 0 = automatic"`
	RunCount      int         `param:"runs" min:"1" help:"number of runs"`
	TrainCount    int         `param:"train" min:"0" help:"number of training documents; 0 = all"`
	TestCount     int         `param:"test" min:"0" help:"number of test documents; 0 = all"`
}

// network is a sequence of layers. The experiment measures all prefixes of the sequence.
type network struct {
	degrees     []string // degrees of the arc-cosine kernels
	allFeatures bool     // true if features aren't selected
}

func (n network) name(layers int) string {
	if layers == 0 {
		return "none"
	}
	return strings.Join(n.degrees[:layers], "-")
}

type networkResult struct {
	width           int       // number of features that the classifier uses
	validationError float64   // validation error of the k-NN classifier in percent; NaN if unknown
	testErrors      []float64 // test errors in percent, one per classifier
	steps           int       // number of iterations of metric learning
}

var classifiers = []mkm.FinalClassifier{mkm.FinalLMNN, mkm.FinalKNN, mkm.FinalSVM}

func (p *networkSettings) parseNetworks() (out []network) {
	for _, n := range p.Networks {
		degrees, whole := strings.CutPrefix(n, "+")
		out = append(out, network{strings.Split(degrees, "-"), whole})
	}
	return out
}

// minLayers returns the minimum number of layers. It is 1 if a network doesn't select features,
// because with 0 layers, LMNN would use all pixels, which is slow.
func (p *networkSettings) minLayers() int {
	if slices.ContainsFunc(p.parseNetworks(), func(n network) bool { return n.allFeatures }) {
		return 1
	}
	return 0
}

func (p *networkSettings) mkmSettings(n network, seed uint64) mkm.Settings {
	s := mkm.Settings{KeepAllFeatures: n.allFeatures, MaxComponents: p.MaxComponents, BaseSize: p.BaseSize,
		Steps: p.Steps, Seed: seed}
	for _, degree := range n.degrees {
		s.Layers = append(s.Layers, "arccos:n="+degree)
	}
	return s
}

// Run implements repro.Settings.
func (p *networkSettings) Run(ctx context.Context, r *repro.Env) (*repro.Report, error) {
	chosen, err := chooseSets(r, &p.Sets)
	if err != nil {
		return nil, err
	}
	for _, n := range p.parseNetworks() {
		if err := p.mkmSettings(n, 1).Validate(); err != nil {
			return nil, cli.Usagef("networks: %w", err)
		}
	}
	report := &repro.Report{}
	report.AddSetting("mkm", "%d components from up to %d documents; other settings are selected on 1/6 of the documents",
		p.MaxComponents, p.BaseSize)
	report.AddSetting("seed", "%d", r.Seed)
	for _, s := range chosen {
		if s.isText() {
			return nil, cli.Usagef("setting sets must name sets of images, got %s", s.name)
		}
		if err := p.measure(ctx, r, &s, report); err != nil {
			return report, err
		}
	}
	return report, nil
}

func (p *networkSettings) measure(ctx context.Context, r *repro.Env, s *dataset, report *repro.Report) error {
	chains := p.parseNetworks()
	found := make([][][]networkResult, len(chains)) // results, indexed by network, run and layers
	step := r.ProgressCounter(s.name+": runs of networks", p.RunCount*len(chains))
	for run := range p.RunCount {
		of := *r
		of.Seed += uint64(run)
		d, err := s.read(ctx, &of, repro.TermSettings{}, p.TrainCount, p.TestCount)
		if err != nil {
			return err
		}
		if run == 0 {
			report.AddSetting(s.name+", networks", "%d training and %d test documents, redrawn for each of %s",
				d.train.Documents.Rows(), d.test.Documents.Rows(), words.FormatCountOf(p.RunCount, "run", "runs"))
		}
		for at, n := range chains {
			depths, err := p.measureNetwork(ctx, &of, d, n)
			if err != nil {
				return err
			}
			found[at] = append(found[at], depths)
			step()
		}
	}
	p.addTable(s.name, chains, found, report)
	p.addEffects(s.name, chains, found, report)
	return nil
}

func (p *networkSettings) measureNetwork(
	ctx context.Context, r *repro.Env, d *trainTestSplit, n network,
) ([]networkResult, error) {
	o := mkm.Options{ISA: r.ISA, Workers: r.Workers, Progress: func(q engine.Progress) {
		r.ReportProgress("network "+n.name(len(n.degrees))+", "+q.Stage, q.Done, q.Total)
	}}
	if r.MemoryBytes > 0 {
		o.MemoryBytes = max(r.MemoryBytes-d.bytes(), 1)
	}
	models, err := mkm.TrainPath(ctx, d.train, p.mkmSettings(n, r.Seed), classifiers, p.minLayers(), o)
	if err != nil {
		return nil, err
	}
	found, err := mkm.PredictAll(ctx, models, d.test.Documents, o)
	if err != nil {
		return nil, err
	}
	out := make([]networkResult, len(n.degrees)+1-p.minLayers())
	for i, m := range models {
		to, last := &out[i/len(classifiers)], m.Choices[len(m.Choices)-1]
		to.width, to.validationError = m.Width(), 100*float64(last.Wrong)/float64(last.Documents)
		if m.LMNN != nil {
			to.steps = m.LMNN.Iterations
		}
		wrong := 0
		for k, class := range found[i].ClassIndices {
			if !repro.HasClass(d.test, k, m.Classes[class]) {
				wrong++
			}
		}
		to.testErrors = append(to.testErrors, 100*float64(wrong)/float64(len(found[i].ClassIndices)))
	}
	return out, nil
}

// addTable adds the table of a set, with means and standard deviations over the runs.
func (p *networkSettings) addTable(name string, chains []network, found [][][]networkResult, report *repro.Report) {
	t := report.AddTable(name, name+": multilayer kernel machines, test error in %", "selection", "network", ">layers",
		">width", ">validation, k-NN", ">lmnn", ">knn", ">svm", ">steps of lmnn", ">runs")
	shown := map[string]bool{}
	low, high, least, best := math.Inf(1), 0., math.Inf(1), ""
	for at, n := range chains {
		for layers := p.minLayers(); layers <= len(n.degrees); layers++ {
			row := fmt.Sprint(n.allFeatures, n.name(layers))
			if shown[row] {
				continue
			}
			shown[row] = true
			over := func(figure func(*networkResult) float64) repro.Summary {
				var values []float64
				for _, run := range found[at] {
					values = append(values, figure(&run[layers-p.minLayers()]))
				}
				return repro.Summarise(values)
			}
			selection := map[bool]string{false: "yes", true: "no"}[n.allFeatures]
			failed := over(func(d *networkResult) float64 { return d.validationError })
			cells := []string{selection, n.name(layers), fmt.Sprint(layers),
				over(func(d *networkResult) float64 { return float64(d.width) }).Text(0), failed.Text(2)}
			for f := range classifiers {
				cells = append(cells, over(func(d *networkResult) float64 { return d.testErrors[f] }).Text(2))
			}
			steps := over(func(d *networkResult) float64 { return float64(d.steps) })
			t.AddRow(append(cells, steps.Text(0), fmt.Sprint(len(found[at])))...)
			if layers > 0 && !n.allFeatures {
				e := over(func(d *networkResult) float64 { return d.testErrors[0] }).Mean
				low, high = min(low, e), max(high, e)
				if failed.Mean < least {
					least, best = failed.Mean, fmt.Sprintf("%s (test error %.2f%%)", n.name(layers), e)
				}
			}
		}
	}
	report.AddNote("%s: test error of arc-cosine networks with a metric: %.2f%% to %.2f%%; the network with the smallest "+
		"validation error is %s", name, low, high, best)
}

// addEffects adds a note on the effect of each setting. The effect is the mean difference in test
// error between two results that differ only in this setting. The mean is over all such pairs and
// all runs. Standard deviations are over runs.
func (p *networkSettings) addEffects(name string, chains []network, found [][][]networkResult, report *repro.Report) {
	type result struct{ chain, layers, final int }
	var all []result
	for at, n := range chains {
		for l := p.minLayers(); l <= len(n.degrees); l++ {
			for f := range classifiers {
				all = append(all, result{at, l, f})
			}
		}
	}
	tell := func(what string, differ func(a, b result) bool) {
		pairs, means := 0, make([]float64, p.RunCount)
		for _, a := range all {
			for _, b := range all {
				if !differ(a, b) {
					continue
				}
				pairs++
				for run := range means {
					wrong := func(of result) float64 { return found[of.chain][run][of.layers-p.minLayers()].testErrors[of.final] }
					means[run] += wrong(a) - wrong(b)
				}
			}
		}
		if pairs == 0 {
			return
		}
		floats.Scale(1/float64(pairs), means)
		m := repro.Summarise(means)
		text := fmt.Sprintf("%+.2f points", m.Mean)
		if m.N > 1 {
			text += fmt.Sprintf(" ± %.2f", m.SD)
		}
		report.AddNote("%s: %s: %s, over %s", name, what, text, words.FormatCountOf(pairs, "pair", "pairs"))
	}
	tell("selection against all features", func(a, b result) bool {
		n, o := chains[a.chain], chains[b.chain]
		return !n.allFeatures && o.allFeatures && slices.Equal(n.degrees, o.degrees) && a.layers == b.layers &&
			a.final == b.final
	})
	tell("lmnn against knn", func(a, b result) bool { return a == result{b.chain, b.layers, 0} && b.final == 1 })
	tell("svm against lmnn", func(a, b result) bool { return a == result{b.chain, b.layers, 2} && b.final == 0 })
	for l := range mkm.MaxLayers {
		tell(fmt.Sprintf("%s against %d", words.FormatCountOf(l+1, "layer", "layers"), l), func(a, b result) bool {
			return a == result{b.chain, b.layers + 1, b.final} && b.layers == l
		})
	}
}
