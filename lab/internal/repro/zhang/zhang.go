// Package zhang repeats the experiments in §4 of Zhang, Chen and Lee, Text Classification with
// Kernels on the Multinomial Manifold, SIGIR 2005. The experiments compare the negative geodesic
// distance (NGD) with linear kernels and negative Euclidean distances (NED).
package zhang

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/lab/internal/repro"
)

// Experiment repeats the comparison in §4 of the paper.
var Experiment = repro.Experiment{
	Name:    "zhang-chen-lee",
	Paper:   "Zhang, Chen and Lee, Text Classification with Kernels on the Multinomial Manifold, SIGIR 2005, §4",
	Corpora: "webkb, 20news-bydate",
	RunTime: "half a minute on two cores",
	Help: `
Accuracy of one-vs-one SVMs: linear kernels and negative Euclidean distances (NED) of documents
normalised by L1 and by L2, and the negative geodesic distance (NGD), for tf and tf×idf. The micro
sign test with its z (Yang and Liu, SIGIR 1999) compares each kernel with NGD. On WebKB each of four
universities is the test set in turn; all other pages, including misc, are for training.`,
	New: func() repro.Settings {
		return &settings{C: 1, Sets: corpusNames, TermSettings: repro.TermSettings{MinDF: 2,
			StopWords: repro.RainbowStopWords}}
	},
}

var corpusNames = repro.Words{repro.WebKB.Name, repro.Newsgroups.Name}

type settings struct {
	C    float64     `param:"c" above:"0" help:"regularization parameter"`
	Sets repro.Words `param:"sets" wants:"names of corpora" help:"corpora"`
	repro.TermSettings
}

// kernels lists the compared kernels. For each weighting, a table has one row per kernel. All other
// kernels are compared with the last kernel.
var kernels = []struct{ name, kernel, embedding string }{
	{"linear, L1", "linear", "-l1"},
	{"NED, L1", "ned", "-l1"},
	{"linear, L2", "linear", "-l2"},
	{"NED, L2", "ned", "-l2"},
	{"NGD", "ngd", "-l1-sqrt"},
}

var weightings = []struct{ name, embedding string }{{"tf", "tf"}, {"tf×idf", "tfidf"}}

// universities lists the universities of WebKB. Each university is held out once.
var universities = []string{"cornell", "texas", "washington", "wisconsin"}

type trainTestSplit struct {
	name        string
	train, test *corpus.Corpus
}

// Run implements repro.Settings.
func (p *settings) Run(ctx context.Context, r *repro.Env) (*repro.Report, error) {
	chosen, err := p.Sets.Select("sets", corpusNames...)
	if err != nil {
		return nil, err
	}
	for _, s := range []repro.Source{repro.WebKB, repro.Newsgroups} {
		if chosen.Has(s.Name) {
			if err := r.Require(s); err != nil {
				return nil, err
			}
		}
	}
	report := &repro.Report{}
	report.AddSetting("classifiers", "one-vs-one, C = %g", p.C)
	report.AddSetting("terms", "%s", p.TermSettings)
	for _, set := range chosen {
		divided, err := p.read(ctx, r, set)
		if err == nil {
			err = p.addTable(ctx, r, set, divided, report)
		}
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

func (p *settings) read(ctx context.Context, r *repro.Env, set string) ([]trainTestSplit, error) {
	if set != repro.WebKB.Name {
		train, test, err := r.ReadNewsgroups(ctx, p.TermSettings)
		return []trainTestSplit{{set, train, test}}, err
	}
	c, of, err := r.ReadWebKB(ctx, p.TermSettings)
	if err != nil {
		return nil, err
	}
	var divided []trainTestSplit
	for _, u := range universities {
		var train, test []int
		for i, university := range of {
			if university == u {
				test = append(test, i)
			} else {
				train = append(train, i)
			}
		}
		if len(test) == 0 || len(train) == 0 {
			return nil, fmt.Errorf("%s must have pages of %s and of other universities", c.Source, u)
		}
		divided = append(divided, trainTestSplit{u, c.Select(train), c.Select(test)})
	}
	return divided, nil
}

// addTable adds the table of a corpus to the report. For each weighting, it contains the accuracies
// of all kernels on all splits, followed by the sign tests.
func (p *settings) addTable(ctx context.Context, r *repro.Env, set string, divided []trainTestSplit,
	report *repro.Report) error {
	t := &repro.Table{Key: set, Columns: []string{"weighting", "kernel"}}
	documents := 0
	for _, d := range divided {
		documents += d.test.Documents.Rows()
		if len(divided) > 1 {
			t.Columns = append(t.Columns, ">"+d.name)
		}
	}
	t.Title = fmt.Sprintf("%s: accuracy in %% on %d test documents", set, documents)
	if len(divided) > 1 {
		t.Columns = append(t.Columns, ">mean", ">pooled")
	} else {
		t.Columns = append(t.Columns, ">accuracy")
	}
	t.Columns = append(t.Columns, ">only NGD right", ">only it right", ">z of NGD", ">p")
	step := r.ProgressCounter(set, len(weightings)*len(kernels)*len(divided))
	for _, w := range weightings {
		rights := make([][]string, len(kernels)) // as returned by measure, indexed by kernel and split
		for _, d := range divided {
			found, err := p.measure(ctx, r, d, w.embedding, report, step)
			if err != nil {
				return err
			}
			for k := range kernels {
				rights[k] = append(rights[k], found[k])
			}
		}
		last := len(kernels) - 1
		best, clearly := strings.Join(rights[last], ""), 0
		var not []string
		for k, kernel := range kernels {
			row := slices.Concat([]string{w.name, kernel.name}, accuracies(rights[k]))
			if k == last {
				t.AddRow(append(row, "", "", "", "")...)
				break
			}
			sign, a, b := repro.CompareBySignTest(best, strings.Join(rights[k], ""))
			z := repro.FormatFixed(sign.Statistic, 2)
			t.AddRow(append(row, fmt.Sprint(a), fmt.Sprint(b), z, repro.FormatPValue(sign.PValue))...)
			if sign.Statistic > 0 && sign.PValue < 0.05 {
				clearly++
			} else {
				not = append(not, fmt.Sprintf("%s (z = %s)", kernel.name, z))
			}
		}
		note := fmt.Sprintf("%s, %s: NGD is better than %d of %d kernels (p < 0.05)", set, w.name, clearly, last)
		if len(not) > 0 {
			note += "; exceptions: " + strings.Join(not, ", ")
		}
		report.AddNote("%s", note)
	}
	report.Tables = append(report.Tables, t)
	return nil
}

// measure returns Outcome.CorrectMask for each kernel.
func (p *settings) measure(ctx context.Context, r *repro.Env, d trainTestSplit, weighting string, report *repro.Report,
	step func()) (right []string, err error) {
	var session *repro.Session // shared by kernels with the same embedding
	defer func() { err = errors.Join(err, session.Close()) }()
	for k, row := range kernels {
		embedding := weighting + row.embedding
		if k == 0 || row.embedding != kernels[k-1].embedding {
			if err := session.Close(); err != nil {
				return nil, err
			}
			held := d.train.Documents.Bytes() + d.test.Documents.Bytes()
			session = r.NewSession(d.name+", "+embedding, func() *corpus.Corpus { return d.train }, held, report)
		}
		k, err := kernel.Parse(row.kernel + ":embed=" + embedding)
		if err != nil {
			return nil, err
		}
		found, err := session.TrainAndTest(ctx, svm.Settings{Kernel: k, C: p.C}, d.test)
		if err != nil {
			return nil, err
		}
		right = append(right, found.CorrectMask)
		step()
	}
	return right, nil
}

// accuracies returns the table cells with a kernel's accuracies. If there are several splits, the
// cells are the accuracy on each split, the mean, and the pooled accuracy.
func accuracies(rights []string) (cells []string) {
	percent := func(right string) float64 { return 100 * float64(strings.Count(right, "1")) / float64(len(right)) }
	if len(rights) == 1 {
		return []string{repro.FormatFixed(percent(rights[0]), 2)}
	}
	mean := 0.
	for _, right := range rights {
		mean += percent(right) / float64(len(rights))
		cells = append(cells, repro.FormatFixed(percent(right), 2))
	}
	return append(cells, repro.FormatFixed(mean, 2), repro.FormatFixed(percent(strings.Join(rights, "")), 2))
}
