package cho

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/engine"
	words "github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/mkm"
	"github.com/gramengine/gram/lab/internal/repro"
)

// multilayer is the family of multilayer kernel machines, chapter 5.
const multilayer = "mkm"

// multilayerSets are those of images; of all sets, those of Figures 5.4 and 5.5 are taken.
var multilayerSets = []string{"mnist", "mnist-rand", "mnist-image"}

// figures5 are the ranges of errors, in per cent, in the captions of Figures 5.4 and 5.5, and the
// errors of the machine with a Gaussian kernel and of deep belief nets there.
var figures5 = map[string]struct {
	figure                    string
	low, high, gaussian, deep float64
}{
	"mnist-rand": {"5.4", 6.13, 7.69, 14.58, 6.73}, "mnist-image": {"5.5", 17.91, 23.50, 22.61, 16.31},
}

// network is a chain of layers, of which all beginnings are measured, too.
type network struct {
	degrees []string // of the arc-cosine kernels
	whole   bool     // no features are selected
}

func (n network) name(layers int) string {
	if layers == 0 {
		return "none"
	}
	return strings.Join(n.degrees[:layers], "-")
}

// depth is what a network of some layers did in one run.
type depth struct {
	Width  int     `json:"width"`  // features that are classified
	Failed float64 `json:"failed"` // share of the documents that chose, by neighbours
	Wrong  []int   `json:"wrong"`  // test documents, by classifier
	Tests  int     `json:"tests"`
	Steps  int     `json:"steps"` // iterations of the metric
}

func (d *depth) percent(final int) float64 { return 100 * float64(d.Wrong[final]) / float64(d.Tests) }

// from is the least number of layers that is measured: a metric on all pixels takes long.
func (p *protocol) from() int {
	if p.ablation {
		return 1
	}
	return 0
}

// chains are the networks that flags ask for.
func (p *protocol) chains() (out []network) {
	if p.ablation {
		for _, whole := range []bool{false, true} {
			for _, n := range p.degrees.Chosen {
				out = append(out, network{slices.Repeat([]string{n}, p.deep), whole})
			}
		}
		return out
	}
	for n := range strings.SplitSeq(p.networks, ",") {
		out = append(out, network{strings.Split(strings.TrimSpace(n), "-"), false})
	}
	return out
}

// finals are the classifiers.
var finals = []mkm.Final{mkm.Metric, mkm.Neighbours, mkm.Machines}

// machine are the settings of a network in a run.
func (p *protocol) machine(n network, seed uint64) mkm.Settings {
	s := mkm.Settings{Whole: n.whole, Components: p.components, Base: p.base, Steps: p.steps, Seed: seed}
	for _, degree := range n.degrees {
		s.Layers = append(s.Layers, "arccos:n="+degree)
	}
	return s
}

// checkMultilayer reports flags that make no sense.
func (p *protocol) checkMultilayer() error {
	if p.runs < 1 || p.deep < 1 || p.deep > mkm.MostLayers {
		return repro.Usagef("-runs %d, -deep %d, expected at least 1 run, and from 1 to %d layers", p.runs, p.deep,
			mkm.MostLayers)
	}
	if p.components < 1 || p.base < 1 || p.steps < 0 {
		return repro.Usagef("-components %d, -base %d, -steps %d, expected at least 1, and 0 steps to choose", p.components,
			p.base, p.steps)
	}
	for _, n := range p.chains() {
		if err := p.machine(n, 1).Validate(); err != nil {
			return repro.Usagef("-networks %s: %w", p.networks, err)
		}
	}
	return nil
}

// runMultilayer measures all networks on a set, run by run: each run draws the set anew.
func (p *protocol) runMultilayer(
	ctx context.Context, r *repro.Run, s *set, report *repro.Report,
) error {
	chains := p.chains()
	found := make([][][]depth, len(chains)) // by chain, run, layers
	seed := r.Seed
	defer func() {
		r.Seed = seed
		p.fillMultilayer(s.name, chains, found, report)
	}()
	step := r.Counter(s.name+": runs of networks", 0, int64(p.runs*len(chains)))
	for run := range p.runs {
		r.Seed = seed + uint64(run)
		d, err := p.read(ctx, r, s)
		if err != nil {
			return err
		}
		if run == 0 {
			report.Set(s.name+", networks", "%d documents for training, %d for testing, drawn anew for each of %s",
				d.train.Documents.Rows(), d.test.Documents.Rows(), words.Counted(p.runs, "run", "runs"))
		}
		for at, n := range chains {
			depths, err := p.measureNetwork(ctx, r, d, n)
			if err != nil {
				return err
			}
			found[at] = append(found[at], depths)
			step()
		}
	}
	return nil
}

// measureNetwork trains a network and all of its beginnings, and tests them.
func (p *protocol) measureNetwork(ctx context.Context, r *repro.Run, d *data, n network) ([]depth, error) {
	name := "network " + n.name(len(n.degrees))
	o := mkm.Options{ISA: r.ISA, Workers: r.Workers, Progress: func(q engine.Progress) {
		r.Progress(fmt.Sprintf("%s, %s", name, q.Stage), q.Done, q.Total)
	}}
	if r.MemoryBytes > 0 {
		o.MemoryBytes = max(r.MemoryBytes-d.bytes(), 1)
	}
	models, err := mkm.Path(ctx, d.train, p.machine(n, r.Seed), finals, p.from(), o)
	if err != nil {
		return nil, err
	}
	tests := d.test.Documents.Rows()
	found, err := mkm.PredictAll(ctx, models, d.test.Documents, o)
	if err != nil {
		return nil, err
	}
	out := make([]depth, len(n.degrees)+1-p.from())
	for i, m := range models {
		to := &out[i/len(finals)]
		last := m.Choices[len(m.Choices)-1]
		to.Width, to.Tests, to.Failed = m.Width(), tests, -1 // where no documents choose
		if m.Metric != nil {
			to.Steps = m.Metric.Iterations
		}
		if last.Documents > 0 {
			to.Failed = float64(last.Wrong) / float64(last.Documents)
		}
		wrong := 0
		for k, class := range found[i].Class {
			if m.Classes[class] != d.test.Classes[d.test.Labels.Of(k)[0]] { // which parts number as they like
				wrong++
			}
		}
		to.Wrong = append(to.Wrong, wrong)
	}
	return out, nil
}

// over measures a figure of the networks over runs.
func (p *protocol) over(runs [][]depth, layers int, figure func(*depth) float64) repro.Measured {
	var values []float64
	for _, run := range runs {
		if v := figure(&run[layers-p.from()]); v >= 0 {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return repro.Measured{Mean: math.NaN(), SD: math.NaN()}
	}
	return repro.Measure(values)
}

// fillMultilayer fills the table of a set with the runs that are complete, and says what helps.
func (p *protocol) fillMultilayer(name string, chains []network, found [][][]depth, report *repro.Report) {
	t := &repro.Table{Key: name + "-mkm", Title: name + ": multilayer kernel machines, test error in %"}
	t.Columns = []repro.Column{
		repro.Left("selection", "selection"), repro.Left("network", "network"), repro.Right("layers", "layers"),
		repro.Right("width", "width"), repro.Right("validation_percent", "validation, k-NN"),
	}
	for _, f := range finals {
		t.Columns = append(t.Columns, repro.Right(f.String()+"_percent", f.String()))
	}
	t.Columns = append(t.Columns, repro.Right("steps", "steps of lmnn"), repro.Right("runs", "runs"))
	shown := map[string]bool{}
	low, high := math.Inf(1), math.Inf(-1)
	best, bestFailed := "", math.Inf(1)
	for at, n := range chains {
		for layers := p.from(); layers <= len(n.degrees); layers++ {
			row := fmt.Sprint(n.whole, n.name(layers))
			if shown[row] || len(found[at]) == 0 {
				continue
			}
			shown[row] = true
			selection := "yes"
			if n.whole {
				selection = "no"
			}
			cell := func(figure func(*depth) float64, digits int) repro.Cell {
				m := p.over(found[at], layers, figure)
				if math.IsNaN(m.Mean) {
					return repro.Empty()
				}
				return m.Cell(digits)
			}
			failed := func(d *depth) float64 { return 100 * d.Failed }
			cells := []repro.Cell{repro.Word(selection), repro.Word(n.name(layers)), repro.Count(layers),
				cell(func(d *depth) float64 { return float64(d.Width) }, 0), cell(failed, 2)}
			for f := range finals {
				cells = append(cells, cell(func(d *depth) float64 { return d.percent(f) }, 2))
			}
			cells = append(cells, cell(func(d *depth) float64 { return float64(d.Steps) }, 0))
			t.Add(append(cells, repro.Count(len(found[at])))...)
			if layers > 0 && !n.whole {
				e := p.over(found[at], layers, func(d *depth) float64 { return d.percent(0) }).Mean
				low, high = min(low, e), max(high, e)
				if v := p.over(found[at], layers, failed).Mean; v < bestFailed {
					bestFailed, best = v, fmt.Sprintf("%s, test error %.2f %%", n.name(layers), e)
				}
			}
		}
	}
	report.Tables = append(report.Tables, t)
	if low <= high {
		text := fmt.Sprintf("%s: networks of arc-cosine kernels with a metric, from %.2f to %.2f %%; by the documents that "+
			"choose it would be %s", name, low, high, best)
		if of, ok := figures5[name]; ok && p.train == 0 {
			text += fmt.Sprintf("; printed in Figure %s, of other images: from %.2f to %.2f %%, %.2f %% of machines with a "+
				"Gaussian kernel and %.2f %% of deep belief nets", of.figure, of.low, of.high, of.gaussian, of.deep)
		}
		report.Notes = append(report.Notes, text)
	}
	report.Notes = append(report.Notes, p.effects(name, chains, found)...)
}

// effects says by how much errors differ in pairs that differ in one thing alone: the mean over pairs
// and runs, and the deviation of its values over runs.
func (p *protocol) effects(name string, chains []network, found [][][]depth) (notes []string) {
	type pair struct{ chain, layers, final, otherChain, otherLayers, otherFinal int }
	tell := func(what string, pairs []pair) {
		runs := math.MaxInt
		for _, q := range pairs {
			runs = min(runs, len(found[q.chain]), len(found[q.otherChain]))
		}
		if len(pairs) == 0 || runs == 0 {
			return
		}
		means := make([]float64, runs)
		for run := range means {
			for _, q := range pairs {
				a := &found[q.chain][run][q.layers-p.from()]
				b := &found[q.otherChain][run][q.otherLayers-p.from()]
				means[run] += (a.percent(q.final) - b.percent(q.otherFinal)) / float64(len(pairs))
			}
		}
		m := repro.Measure(means)
		text := fmt.Sprintf("%s: %s: %+.2f points", name, what, m.Mean)
		if m.N > 1 {
			text += fmt.Sprintf(" ± %.2f", m.SD)
		}
		notes = append(notes, text+fmt.Sprintf(", over %s", words.Counted(len(pairs), "pair", "pairs")))
	}
	var selection, metric, machines []pair
	layers := make([][]pair, p.most())
	for at, n := range chains {
		for l := p.from(); l <= len(n.degrees); l++ {
			metric = append(metric, pair{at, l, 0, at, l, 1})
			machines = append(machines, pair{at, l, 2, at, l, 0})
			for f := range finals {
				if l > p.from() {
					layers[l-1] = append(layers[l-1], pair{at, l, f, at, l - 1, f})
				}
				for other, o := range chains {
					if !n.whole && o.whole && slices.Equal(n.degrees, o.degrees) {
						selection = append(selection, pair{at, l, f, other, l, f})
					}
				}
			}
		}
	}
	tell("selection against all features", selection)
	tell("lmnn against knn", metric)
	tell("svm against lmnn", machines)
	for l, pairs := range layers {
		tell(fmt.Sprintf("%s against %d", words.Counted(l+1, "layer", "layers"), l), pairs)
	}
	return notes
}

// most is the greatest number of layers.
func (p *protocol) most() (most int) {
	for _, n := range p.chains() {
		most = max(most, len(n.degrees))
	}
	return most
}
