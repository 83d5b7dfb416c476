package machines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// searchedNGrams are how text is cut in a search where nothing says how.
var searchedNGrams = []string{"1", "1..2"}

// checkTexts checks lists of embeddings, schemes and n-grams. The first n-grams are those that the
// documents are read with.
func (g *grid) checkTexts() error {
	l := &g.lists
	for _, q := range []struct {
		list []string
		flag string
	}{{l.embeds, "embed"}, {l.schemes, "scheme"}, {l.ngramList, "ngrams"}} {
		if q.list != nil && g.f.Given(q.flag) {
			return cli.Usagef("-%s and a -grid list of it, expected one of them", q.flag)
		}
		if q.list != nil && g.learner.Learner != nil {
			return cli.Usagef("-grid %s does not apply to -type %s", q.flag, g.learner.Name)
		}
	}
	for _, name := range l.embeds {
		if _, err := sparse.ParseEmbedding(name); err != nil {
			return cli.UsageError{Err: fmt.Errorf("-grid embed: %w", err)}
		}
	}
	for _, name := range l.schemes {
		if name != "one-vs-one" && name != "one-vs-rest" {
			return cli.Usagef("-grid scheme: %q, expected one-vs-one, one-vs-rest", name)
		}
	}
	if len(l.ngramList) > 1 && !backend.Rereadable(g.In) {
		return cli.Usagef("-grid ngrams reads %s several times, expected a file or a folder", g.In)
	}
	for i := len(l.ngramList) - 1; i >= 0; i-- {
		if err := g.SetNGrams(l.ngramList[i]); err != nil {
			return cli.UsageError{Err: err}
		}
	}
	return nil
}

// embedded returns the kernels that were asked for, with all embeddings of a list.
func (g *grid) embedded(c *sparse.Corpus) (all []engine.Kernel, err error) {
	if len(g.lists.embeds) == 0 {
		return g.kernelsOf(c)
	}
	defer func() { g.Embedding = "" }()
	for _, g.Embedding = range g.lists.embeds {
		some, err := g.kernelsOf(c)
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// searches says whether values are tried until the best is found, in place of all of a list.
func (g *grid) searches() bool {
	return g.mayChoose() && len(g.lists.numbers) == 0 && len(g.Specs) <= 1 && (!g.Signed || g.unnamed()) && g.plot == "" &&
		!g.f.Given("tiles", "backend")
}

// runSearch searches and reports.
func (g *grid) runSearch(
	ctx context.Context, e *cli.Env, p *cli.Progress, begin time.Time, c *sparse.Corpus, s svm.Settings,
) error {
	r := &gridReport{
		Corpus: source.NewLine(c), machineLine: newMachineLine(s), Folds: g.folds, Seed: g.seed, Measure: s.Measure(),
		run: g, SecondsRead: time.Since(begin).Seconds(), Rows: []gridRow{},
	}
	s.Thresholds = g.tunes(s)
	from, err := g.candidates(c, s, g.lists.embeds)
	if err != nil {
		return err
	}
	if len(g.lists.schemes) > 0 && len(c.Classes) > 2 {
		from.Schemes = nil
		for _, s := range schemes {
			if slices.Contains(g.lists.schemes, s.String()) {
				from.Schemes = append(from.Schemes, s)
			}
		}
	}
	ngrams := g.lists.ngramList
	if ngrams == nil && c.Vocabulary != nil && backend.Rereadable(g.In) &&
		!g.f.Given("ngrams", "analyzer", "token-pattern") {
		ngrams = searchedNGrams
	}
	from.Cuts, from.Corpus = len(ngrams), func(ctx context.Context, cut int) (*sparse.Corpus, error) {
		return g.ReadAs(ctx, p, ngrams[cut])
	}
	from.Near, from.Final, from.Folds, from.LeastC = learn.Near, learn.Finalists, g.folds, g.oneSE
	if ngrams == nil {
		ngrams = []string{""}
	}
	chosen, choice, err := g.chosen(ctx, p, c, s, from, ngrams)
	if chosen == nil || err != nil && len(chosen.Rounds) == 0 {
		return err
	}
	if chosen.Uncut != nil {
		e.Warn("other n-grams were left out: %v", chosen.Uncut)
	}
	r.machineLine.C, r.machineLine.Scheme = 0, ""
	r.computedBy(cmp.Or(g.processor(), string(asm.Best().ISA)), "", g.NumWorkers())
	r.Choice, r.Complete = choice, err == nil
	if n := len(choice.Rows); n > 0 {
		r.Rows = choice.round(choice.Rows[n-1].Round)
		for i := range r.Rows {
			if r.Rows[i].Best {
				r.Best = &r.Rows[i]
			}
		}
		cut := ""
		if g.lists.ngramList != nil || chosen.Cut > 0 {
			cut = ngrams[chosen.Cut]
		}
		r.Train = g.trainCommand(g.settingsOf(chosen, cut))
	} else if chosen.Why != "" {
		choice.Train = g.trainCommand(g.settingsOf(chosen, ""))
	}
	r.Points, r.Fits, r.DotProducts = len(choice.Rows), choice.Fits, choice.DotProducts
	r.SecondsSolve, r.Seconds = choice.Seconds, time.Since(begin).Seconds()
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(g.Memory)
	return errors.Join(g.Report(e, g.f, r), err)
}

// newGridRow describes a point.
func newGridRow(p svm.Point, t model.Type, m svm.Measure) gridRow {
	row := gridRow{
		Kernel: p.Kernel.String(), Embedding: p.Kernel.Embedding().String(),
		Mean: report.Number(p.Mean), SD: report.Number(p.SD),
		Iterations: p.Iterations, Unfinished: p.Unfinished, Support: p.Support, Seconds: p.Busy.Seconds(),
	}
	row.C, row.Nu, row.Epsilon = t.Used(p.C, p.Nu, p.Epsilon)
	for _, f := range p.Figures {
		row.Figures = append(row.Figures, report.Number(f))
	}
	if t.Classifies() {
		row.Scheme = p.Scheme.String()
	}
	row.figures = newFigures(p.Score, m == svm.MeanSquaredError, m == svm.MicroF1)
	row.LogLoss = logLoss(p.LogLoss)
	return row
}
