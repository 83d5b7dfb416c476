// Package lafferty repeats the experiments in §5 of Lafferty and Lebanon, Diffusion Kernels on
// Statistical Manifolds, JMLR 6 (2005). The experiments compare the diffusion kernel with linear
// and Gaussian kernels.
//
// Tables 1 to 4 contain test errors of binary classifiers over random splits. The code is in
// tasks.go (tasks and splits), curves.go (training and tests) and tables.go (selection of scale and
// C). Tables 5 and 6 are for the ten topics of the ModApte split, see modapte.go. In compare.go,
// results are compared with the paper. In pairs.go, kernels with the same embedding share dot
// products.
package lafferty

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// Experiment repeats Tables 1 to 6 of the paper.
var Experiment = repro.Experiment{
	Name:    "lafferty-lebanon",
	Paper:   "Lafferty and Lebanon, Diffusion Kernels on Statistical Manifolds, JMLR 6 (2005), §5",
	Corpora: "webkb, reuters-modapte",
	RunTime: "four minutes of CPU time",
	Help: `
SVMs with linear, Gaussian and diffusion kernels. Tables 1 to 4 are test errors over random splits:
WebKB, a class against the rest or student; Reuters-21578, a topic against the rest or earn. Tables
5 and 6 are error and F1 of ten topics of its ModApte split. Two protocols:
  best scale  the paper's: the scale and C with the lowest mean error on the test sets
  by folds    scale and C by cross-validation on the training documents, in Tables 5 and 6 on a
              third of them
p is from paired t tests over the splits, diffusion against each other kernel, and from sign tests
in Tables 5 and 6. * = lowest with p < 0.05 against both. -report draws the learning curves.`,
	New: func() repro.Settings {
		return &settings{
			Tables: tableNames, Features: featureNames, C: repro.Floats{1, 10, 100},
			Scales: repro.Floats{0.5, 1, 2, 3, 4, 5, 7, 10}, SplitCount: 20, FoldCount: 5, ClassBalance: "balanced",
			TermSettings: repro.TermSettings{Digits: true, MinDF: 1},
		}
	},
}

var (
	tableNames   = repro.Words{"1", "2", "3", "4", "5", "6"}
	featureNames = repro.Words{"tf", "tfidf"}
)

type settings struct {
	Tables     repro.Words  `param:"tables" wants:"numbers of tables" help:"tables to reproduce"`
	Features   repro.Words  `param:"features" wants:"tf, tfidf" help:"features of Tables 1 to 4"`
	C          repro.Floats `param:"c" wants:"positive numbers" help:"values of C"`
	Scales     repro.Floats `param:"scales" wants:"positive numbers" help:"scales √2σ and 2√t"`
	Sizes      repro.Ints   `param:"sizes" wants:"positive integers" help:"training set sizes (default: as in the paper)"`
	SplitCount int          `param:"splits" min:"1" help:"number of random splits per task"`
	FoldCount  int          `param:"folds" min:"2" help:"number of cross-validation folds"`
	// With balanced, half of each training set is positive. With equal, half of each test set is
	// positive too. With natural, the proportion of positive documents is the same as in the
	// corpus.
	ClassBalance string `param:"training" help:"class balance of the training sets: balanced, equal or natural"`
	repro.TermSettings
}

// kernels lists the kernels of the paper. With s = √2σ, the Gaussian kernel is exp(-|x-y|²/s²).
// With s = 2√t, the diffusion kernel on the sphere of radius 2 is exp(-arccos²⟨x,y⟩/t).
var kernels = [...]struct {
	name   string
	suffix string // end of the embedding's name, after tf or tfidf
	scaled bool   // true if the kernel has a scale
	spec   func(scale float64) string
}{
	{"linear", "-l2", false, func(float64) string { return "linear" }},
	{"Gaussian", "-l2", true, func(s float64) string { return fmt.Sprintf("rbf:gamma=%v", 1/(s*s)) }},
	{"diffusion", "-l1-sqrt", true, func(s float64) string { return fmt.Sprintf("diffusion:t=%v", s*s/4) }},
}

// Indices into kernels.
const linear, gaussian, diffusion = 0, 1, 2

var embeddingSuffixes = []string{"-l2", "-l1-sqrt"}

// scalesOf returns the scales to try for kernel k. For a kernel without a scale, it returns a
// single unused value.
func (p *settings) scalesOf(k int) []float64 {
	if kernels[k].scaled {
		return p.Scales
	}
	return []float64{1}
}

// forEachScale calls measure for each kernel whose embedding is features+suffix, and for each scale
// of the kernel.
func (p *settings) forEachScale(features, suffix string,
	measure func(e sparse.Embedding, at int, k kernel.Kernel) error) error {
	e, err := sparse.ParseEmbedding(features + suffix)
	if err != nil {
		return err
	}
	for at, row := range kernels {
		if row.suffix != suffix {
			continue
		}
		for _, scale := range p.scalesOf(at) {
			k, err := kernel.ParseIn(row.spec(scale), e)
			if err == nil {
				err = measure(e, at, k)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *settings) check() (err error) {
	if p.Tables, err = p.Tables.Select("tables", tableNames...); err != nil {
		return err
	}
	if p.Features, err = p.Features.Select("features", featureNames...); err != nil {
		return err
	}
	if p.Sizes != nil && p.Sizes[0] < 4 {
		return cli.Usagef("sizes must be at least 4, got sizes=%s", p.Sizes)
	}
	return repro.CheckOneOf("training", p.ClassBalance, "balanced", "equal", "natural")
}

// Run implements repro.Settings.
func (p *settings) Run(ctx context.Context, r *repro.Env) (*repro.Report, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	report := &repro.Report{}
	report.AddSetting("C", "%s, chosen on the test sets together with the scale (the paper does not name C)", p.C)
	report.AddSetting("scales", "√2σ and 2√t in %s", p.Scales)
	report.AddSetting("training sets", "%s, %d random splits", p.ClassBalance, p.SplitCount)
	report.AddSetting("terms", "%s", p.TermSettings)
	report.AddSetting("by folds", "scale and C from %d-fold cross-validation on the training documents", p.FoldCount)
	report.AddSetting("seed", "%d", r.Seed)
	agreement := newAgreementTable()
	if p.Tables.Has("1") || p.Tables.Has("2") {
		if err := r.Require(repro.WebKB); err != nil {
			return nil, err
		}
		c, _, err := r.ReadWebKB(ctx, p.TermSettings)
		if err == nil {
			err = p.measureCorpus(ctx, r, "webkb", c, report, agreement)
		}
		if err != nil {
			return report, err
		}
	}
	if p.Tables.Has("3") || p.Tables.Has("4") || p.Tables.Has("5") || p.Tables.Has("6") {
		if err := r.Require(repro.Reuters); err != nil {
			return report, err
		}
		both, train, err := r.ReadReuters(ctx, p.TermSettings)
		if err == nil && (p.Tables.Has("3") || p.Tables.Has("4")) {
			err = p.measureCorpus(ctx, r, "reuters", both.Select(storiesWithTopic(both)), report, agreement)
		}
		if err == nil && (p.Tables.Has("5") || p.Tables.Has("6")) {
			err = p.modApteTables(ctx, r, newModApte(both, train), report, agreement)
		}
		if err != nil {
			return report, err
		}
	}
	report.Tables = append(report.Tables, agreement)
	return report, nil
}
