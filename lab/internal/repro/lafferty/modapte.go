package lafferty

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// topTen lists the ten most frequent topics of the ModApte split.
var topTen = []string{"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"}

type modApte struct {
	train, test *sparse.CSR
	labels      [2][][]int // topics of training and test stories, as indices into topTen
}

// newModApte splits the stories that have a topic. Training stories are among the first n documents
// of c, and test stories among the others.
func newModApte(c *corpus.Corpus, n int) *modApte {
	s := &modApte{}
	var docs [2][]int
	for _, i := range storiesWithTopic(c) {
		have := []int{} // not nil, because stories with nil labels aren't used for training
		for t, topic := range topTen {
			if repro.HasClass(c, i, topic) {
				have = append(have, t)
			}
		}
		part := 0
		if i >= n {
			part = 1
		}
		docs[part], s.labels[part] = append(docs[part], i), append(s.labels[part], have)
	}
	s.train, s.test = c.Documents.SelectRows(docs[0]), c.Documents.SelectRows(docs[1])
	return s
}

// heldOutMask marks a third of the training stories as held out for selecting scale and C. The
// choice is stratified by first topic.
func (s *modApte) heldOutMask(seed uint64) []bool {
	first := make([]int, len(s.labels[0]))
	for i, have := range s.labels[0] {
		first[i] = append(slices.Clone(have), len(topTen))[0]
	}
	held := make([]bool, len(first))
	for i, part := range solver.StratifiedFolds(first, 3, seed) {
		held[i] = part == 0
	}
	return held
}

type topicResult struct {
	correctMask string // a character per story: '1' if correctly classified, else '0'
	// numbers of stories with the topic, of false negatives and of false positives
	positives, falseNegatives, falsePositives int
}

func (t *topicResult) errorRate() float64 {
	return float64(t.falseNegatives+t.falsePositives) / float64(len(t.correctMask))
}

// f1 returns the harmonic mean of precision and recall, 2·TP/(2·TP + FP + FN), or 0 without true
// positives.
func (t *topicResult) f1() float64 {
	if right := t.positives - t.falseNegatives; right > 0 {
		return 2 * float64(right) / float64(2*right+t.falseNegatives+t.falsePositives)
	}
	return 0
}

// modApteResult holds the results of one kernel and scale, indexed by C and topic. test holds
// results on test stories, and heldOut results on held-out stories. For heldOut, classifiers are
// trained without the held-out stories.
type modApteResult struct{ test, heldOut [][]topicResult }

// modApteProducts holds the products of training stories with training stories (train) and with
// test stories (cross), for one embedding.
type modApteProducts struct{ train, cross *products }

func newModApteBase(ctx context.Context, r *repro.Env, s *modApte, e sparse.Embedding,
	report *repro.Report) (b modApteProducts, err error) {
	fit := e.Fit(s.train)
	train, err := fit.Transform(s.train)
	if err != nil {
		return b, err
	}
	test, err := fit.Transform(s.test)
	if err != nil {
		return b, err
	}
	if b.train, err = newProducts(ctx, r, train, train, report); err != nil {
		return b, err
	}
	b.cross, err = newProducts(ctx, r, train, test, report)
	return b, err
}

// rowBytes returns the size of the solver's row cache in bytes: half the matrix, at least 1 MiB.
func rowBytes(stories int64) int64 { return max(2*stories*stories, 1<<20) }

// measure trains classifiers with kernel k for each C. Classifiers for the test stories are trained
// on all training stories. Classifiers for held-out stories are trained on the other stories.
func (b modApteProducts) measure(ctx context.Context, s *modApte, k kernel.Kernel, cs []float64, held []bool,
	workers int,
	loops *asm.Kernels, report *repro.Report) (out modApteResult, err error) {
	m, err := b.train.matrix(ctx, k, loops, workers)
	if err != nil {
		return out, err
	}
	crossed, err := b.cross.matrix(ctx, k, loops, workers)
	if err != nil {
		return out, err
	}
	dense, err := solver.NewDense(m.n, m.k)
	if err != nil {
		return out, err
	}
	all := s.labels[0]
	left := slices.Clone(all)
	for i := range left {
		if held[i] {
			left[i] = nil // excluded from the training set
		}
	}
	opt := solver.Options{Workers: workers, Kernels: loops, RowBytes: rowBytes(int64(len(all)))}
	for _, on := range []struct {
		train, test [][]int
		m           matrix
		only        []bool
		to          *[][]topicResult
	}{{all, s.labels[1], crossed, nil, &out.test}, {left, all, m, held, &out.heldOut}} {
		training := solver.Training{LabelSets: on.train, Classes: len(topTen)}
		for _, c := range cs {
			training.C = c
			if training.StartFrom, err = solver.Train(ctx, dense, training, opt); err != nil {
				return out, err
			}
			report.ClassifierCount += int64(len(training.StartFrom.Functions))
			*on.to = append(*on.to, decideTopics(ctx, training.StartFrom, on.m, on.test, on.only, workers, loops))
		}
	}
	return out, ctx.Err()
}

// decideTopics classifies stories with the classifiers of all topics. m has one column of kernel
// values per story. If only isn't nil, decideTopics classifies only stories s with only[s].
func decideTopics(ctx context.Context, c *solver.Classifier, m matrix, labels [][]int, only []bool, workers int,
	loops *asm.Kernels) []topicResult {
	out := make([]topicResult, len(c.Functions))
	_ = run.Tasks(ctx, workers, len(out), func(_ context.Context, _, topic int) error {
		machine, t := c.Functions[topic], &out[topic]
		row := func(s int) []float32 { return m.row(machine.Support[s]) }
		var right []byte
		forEachDecision(loops, machine, m.n, row, func(story int, value float64) {
			if only != nil && !only[story] {
				return
			}
			has := slices.Contains(labels[story], topic)
			switch {
			case has == (value > 0):
				right = append(right, '1')
			case has:
				t.falseNegatives, right = t.falseNegatives+1, append(right, '0')
			default:
				t.falsePositives, right = t.falsePositives+1, append(right, '0')
			}
			if has {
				t.positives++
			}
		})
		t.correctMask = string(right)
		return nil
	})
	return out
}

func (p *settings) modApteTables(ctx context.Context, r *repro.Env, s *modApte, report *repro.Report,
	agreement *repro.Table) error {
	n, t := int64(s.train.Rows()), int64(s.test.Rows())
	need := fmt.Sprintf("computing two kernel matrices of %d training and %d test documents", n, t)
	if err := r.CheckMemory(need, 8*n*(n+t)+rowBytes(n), s.train, s.test); err != nil {
		return err
	}
	report.AddSetting("ModApte", "%d training and %d test stories, embedding tf", n, t)
	loops, err := r.AsmKernels()
	if err != nil {
		return err
	}
	held := s.heldOutMask(r.Seed)
	step := r.ProgressCounter("tables 5 and 6", 1+2*len(p.Scales))
	var found [len(kernels)][]modApteResult // indexed by kernel and scale
	for _, suffix := range embeddingSuffixes {
		var base modApteProducts
		err := p.forEachScale("tf", suffix, func(e sparse.Embedding, at int, k kernel.Kernel) (err error) {
			if base.train == nil {
				if base, err = newModApteBase(ctx, r, s, e, report); err != nil {
					return err
				}
			}
			one, err := base.measure(ctx, s, k, p.C, held, r.NumWorkers(), loops, report)
			found[at] = append(found[at], one)
			step()
			return err
		})
		if err != nil {
			return err
		}
	}
	if p.Tables.Has("5") {
		p.modApteTable("5", "error", -1, (*topicResult).errorRate, found, report, agreement)
	}
	if p.Tables.Has("6") {
		p.modApteTable("6", "F1", 1, (*topicResult).f1, found, report, agreement)
	}
	return nil
}

// choose selects the C and scale with the best figure on held-out stories if held is set, otherwise
// on test stories. It returns the result on test stories. Ties go to the smallest C, then to the
// largest scale.
func (p *settings) choose(results []modApteResult, topic int, better float64, figure func(*topicResult) float64,
	held bool) (choice *topicResult) {
	best := math.Inf(-1)
	for c := range p.C {
		for _, r := range slices.Backward(results) {
			on := r.test
			if held {
				on = r.heldOut
			}
			if v := better * figure(&on[c][topic]); v > best {
				best, choice = v, &r.test[c][topic]
			}
		}
	}
	return choice
}

// modApteTable adds a table to the report, and a row to the table agreement. better is 1 if larger
// figures are better, and -1 otherwise.
func (p *settings) modApteTable(number, what string, better float64, figure func(*topicResult) float64,
	found [len(kernels)][]modApteResult, report *repro.Report, agreement *repro.Table) {
	titles := map[string]string{"error": "test error", "F1": "F1"}
	table := report.AddTable(number, fmt.Sprintf("Table %s: Reuters-21578, ModApte split, %s", number, titles[what]),
		slices.Concat([]string{"topic", ">linear", ">Gaussian", ">diffusion", "best", ">p lin", ">p Gau", ">held out: lin",
			">held out: Gau", ">held out: dif", "held out: best", ">held out: p lin", ">held out: p Gau"}, comparisonColumns,
			[]string{"printed ±", "±"})...)
	var rows []comparison
	// first lists the topics for which diffusion is among the best kernels, with C and scale
	// selected on test stories (first[0]) or on held-out stories (first[1]).
	var first [2][]string
	for topic, name := range topTen {
		cells := []string{name}
		row := comparison{direction: better}
		var sign string
		row.printed, row.decimals, sign = printedFigures(number, name, "tf", 0)
		for protocol := range first {
			var choices [len(kernels)]*topicResult
			var figures []float64
			for k := range kernels {
				choices[k] = p.choose(found[k], topic, better, figure, protocol == 1)
				v := figure(choices[k])
				if protocol == 0 {
					row.measured[k] = v
				}
				figures, cells = append(figures, -better*v), append(cells, repro.FormatFixed(v, 4))
			}
			best := bestKernels(figures)
			cells = append(cells, strings.Join(best, ", "))
			for _, k := range []int{linear, gaussian} {
				test, _, _ := repro.CompareBySignTest(choices[diffusion].correctMask, choices[k].correctMask)
				cells = append(cells, repro.FormatPValue(test.PValue))
			}
			if slices.Contains(best, kernels[diffusion].name) {
				first[protocol] = append(first[protocol], name)
			}
		}
		table.AddRow(slices.Concat(cells, row.cells(), []string{sign, signOf(sign, row.measured[diffusion],
			row.printed[diffusion])})...)
		rows = append(rows, row)
	}
	addAgreementRow(agreement, number, "tf", rows)
	for protocol, name := range []string{"best scale", "held out"} {
		report.AddNote("Table %s, %s: diffusion has the best %s, possibly tied, for %d of %d topics: %s.", number, name,
			what, len(first[protocol]), len(topTen), strings.Join(first[protocol], ", "))
	}
}

// signOf returns the sign in Table 6 for a measured F1: + if it exceeds the F1 of Zhang and Oles
// (2001). The paper prints its own F1 and sign, but not the F1 of Zhang and Oles. If the sign of
// the measured F1 can't be inferred, signOf returns "?".
func signOf(sign string, measured, printed float64) string {
	if sign == "+" && measured >= printed || sign == "-" && measured <= printed || sign == "" {
		return sign
	}
	return "?"
}
