package lafferty

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

const significanceLevel = 0.05

var tableTitles = map[string]string{
	"1": "Table 1: WebKB, one class against the rest, test error",
	"2": "Table 2: WebKB, a class against student, test error",
	"3": "Table 3: Reuters-21578, one topic against the rest, test error",
	"4": "Table 4: Reuters-21578, a topic against earn, test error",
}

// curveTasks lists the tasks with learning curves in Figures 5 to 8 of the paper.
var curveTasks = []string{"1 course", "2 course", "3 acq", "3 moneyFx", "4 moneyFx", "4 grain"}

type results [len(kernels)][]errorCounts

func (p *settings) measureCorpus(ctx context.Context, r *repro.Env, name string, c *corpus.Corpus, report *repro.Report,
	agreement *repro.Table) error {
	tasks, err := p.tasks(name, c)
	if err != nil {
		return err
	}
	n := int64(c.Documents.Rows())
	need := fmt.Sprintf("computing two kernel matrices of %d documents", n)
	if err := r.CheckMemory(need, 8*n*n, c.Documents); err != nil {
		return err
	}
	terms, _ := c.Documents.TermFrequencies()
	report.AddSetting(name, "%d documents, %d terms", n, len(terms))
	plan := &plan{tasks: tasks, splitCount: p.SplitCount, cValues: p.C, foldCount: p.FoldCount, seed: r.Seed}
	step := r.ProgressCounter(name, len(p.Features)*(1+2*len(p.Scales))*len(tasks)*p.SplitCount)
	found := map[string]*results{} // indexed by features
	for _, features := range p.Features {
		found[features] = &results{}
		for _, suffix := range embeddingSuffixes {
			if err := p.measure(ctx, r, c.Documents, plan, features, suffix, found[features], step, report); err != nil {
				return err
			}
		}
	}
	of := pairTables[name]
	both := p.addTable(of.rest, tasks, found, report, agreement)
	both = append(both, p.addTable(of.pairs, tasks, found, report, agreement)...)
	addAgreementRow(agreement, of.rest+", "+of.pairs, "both", both)
	return nil
}

func (p *settings) measure(ctx context.Context, r *repro.Env, docs *sparse.CSR, plan *plan, features, suffix string,
	found *results, step func(), report *repro.Report) error {
	loops, err := r.AsmKernels()
	if err != nil {
		return err
	}
	var c *products
	return p.forEachScale(features, suffix, func(e sparse.Embedding, at int, k kernel.Kernel) (err error) {
		if c == nil {
			x, err := e.Fit(docs).Transform(docs)
			if err != nil {
				return err
			}
			if c, err = newProducts(ctx, r, x, x, report); err != nil {
				return err
			}
		}
		m, err := c.matrix(ctx, k, loops, r.NumWorkers())
		if err != nil {
			return err
		}
		counts, err := plan.measure(ctx, m, r.NumWorkers(), loops, step)
		report.ClassifierCount += counts.classifierCount
		found[at] = append(found[at], counts)
		return err
	})
}

// choice holds the scale and C selected for a kernel, task, feature set and size.
type choice struct {
	scale, c float64
	errors   []float64 // test errors, one per split
}

// bestOnTest selects the scale and C with the smallest mean error on the test sets, as in the
// paper. Ties go to the smallest scale, then to the smallest C.
func (p *settings) bestOnTest(results []errorCounts, kernel, task, size, testDocs int) (bestOnTest choice) {
	least := math.Inf(1)
	for i, scale := range p.scalesOf(kernel) {
		for j, c := range p.C {
			tried := choice{scale, c, nil}
			for s := range p.SplitCount {
				tried.errors = append(tried.errors, float64(results[i].test[task][s][size][j])/float64(testDocs))
			}
			if mean := repro.Summarise(tried.errors).Mean; mean < least {
				bestOnTest, least = tried, mean
			}
		}
	}
	return bestOnTest
}

// bestByFolds selects, for each split, the scale and C with the fewest cross-validation errors on
// the training documents. Ties go to the smallest C, then to the largest scale.
func (p *settings) bestByFolds(results []errorCounts, task, size, testDocs int) (chosen choice) {
	for s := range p.SplitCount {
		least, wrong := math.MaxInt, 0
		for j := range p.C {
			for _, r := range slices.Backward(results) {
				if n := r.crossValidation[task][s][size][j]; n < least {
					least, wrong = n, r.test[task][s][size][j]
				}
			}
		}
		chosen.errors = append(chosen.errors, float64(wrong)/float64(testDocs))
	}
	return chosen
}

func bestKernels(figures []float64) (names []string) {
	for k, v := range figures {
		if v == slices.Min(figures) {
			names = append(names, kernels[k].name)
		}
	}
	return names
}

type diffusionTest struct {
	cells         []string // means, best kernels, p values for linear and Gaussian
	isLower       bool     // true if diffusion has a lower error than both other kernels
	isSignificant bool     // true if diffusion's error is significantly lower than both other errors
	differs       bool     // true if diffusion differs significantly from the better of the other kernels
}

func testDiffusion(choices [len(kernels)]choice) (t diffusionTest) {
	var means []float64
	for _, c := range choices {
		m := repro.Summarise(c.errors)
		t.cells, means = append(t.cells, m.Text(4)), append(means, m.Mean)
	}
	var tests [2]repro.SignificanceTest
	for k := range tests {
		tests[k] = repro.PairedTTest(choices[diffusion].errors, choices[k].errors)
	}
	t.isLower = tests[linear].Statistic < 0 && tests[gaussian].Statistic < 0
	t.isSignificant = t.isLower && tests[linear].PValue < significanceLevel && tests[gaussian].PValue < significanceLevel
	t.differs = t.isSignificant
	if other := linear; !t.isLower {
		if means[gaussian] < means[linear] {
			other = gaussian
		}
		t.differs = tests[other].PValue < significanceLevel
	}
	lowest := strings.Join(bestKernels(means), ", ")
	if t.isSignificant {
		lowest += " *"
	}
	t.cells = append(t.cells, lowest, repro.FormatPValue(tests[linear].PValue), repro.FormatPValue(tests[gaussian].PValue))
	return t
}

// addTable adds one of Tables 1 to 4, with charts and notes, to the report. It adds rows to
// agreement, and returns the figures of all rows.
func (p *settings) addTable(number string, tasks []*task, found map[string]*results, report *repro.Report,
	agreement *repro.Table) (both []comparison) {
	if !p.Tables.Has(number) {
		return nil
	}
	columns := slices.Concat([]string{"class", "features", ">L", ">linear", ">Gaussian", ">diffusion", "lowest", ">p lin",
		">p Gau"}, comparisonColumns, []string{">by folds: lin", ">by folds: Gau", ">by folds: dif", "by folds: lowest",
		">by folds: p lin", ">by folds: p Gau"})
	table := report.AddTable(number, tableTitles[number], columns...)
	for _, features := range p.Features {
		var paper, honest []diffusionTest
		var rows []comparison
		for at, t := range tasks {
			if t.table != number {
				continue
			}
			var curves [2 * len(kernels)]repro.Curve
			for size, documents := range t.sizes {
				positive, negative := newSplit(t, 0, 0).testDocuments(documents)
				var best, byFolds [len(kernels)]choice
				row := comparison{direction: -1}
				row.printed, row.decimals, _ = printedFigures(number, t.class, features, documents)
				for k := range kernels {
					best[k] = p.bestOnTest(found[features][k], k, at, size, len(positive)+len(negative))
					byFolds[k] = p.bestByFolds(found[features][k], at, size, len(positive)+len(negative))
					m := repro.Summarise(best[k].errors)
					row.measured[k] = m.Mean
					c, x := &curves[k], float64(documents)
					c.Name, c.SD = kernels[k].name, append(c.SD, m.SD)
					c.Points = append(c.Points, chart.Point{X: x, Y: m.Mean})
					c = &curves[len(kernels)+k]
					c.DrawCrosses, c.Points = true, append(c.Points, chart.Point{X: x, Y: row.printed[k]})
				}
				a, b := testDiffusion(best), testDiffusion(byFolds)
				_, _, mark := printedFigures(number, t.class, features, documents)
				row.isSignificant, row.isPrintedSignificant = a.differs, mark == ""
				table.AddRow(slices.Concat([]string{t.class, features, fmt.Sprint(documents)}, a.cells, row.cells(), b.cells)...)
				paper, honest, rows = append(paper, a), append(honest, b), append(rows, row)
			}
			if slices.Contains(curveTasks, number+" "+t.class) {
				curves[len(kernels)].Name = "printed"
				report.AddChart(fmt.Sprintf("%s against %s, %s", t.class, t.otherClass, features), "training documents",
					"test error",
					curves[:]...)
			}
		}
		addAgreementRow(agreement, number, features, rows)
		both = append(both, rows...)
		for i, protocol := range []string{"best scale", "by folds"} {
			lower, clearly := 0, 0
			for _, t := range [][]diffusionTest{paper, honest}[i] {
				if t.isLower {
					lower++
				}
				if t.isSignificant {
					clearly++
				}
			}
			report.AddNote("Table %s, %s, %s: diffusion has the lowest error in %d of %d rows, %d with p < %v against both.",
				number, features, protocol, lower, len(rows), clearly, significanceLevel)
		}
	}
	return both
}
