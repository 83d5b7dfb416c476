// Package tables measures models that gram trains with default options on tables of numbers and
// categories. Rows of a table without categories are also read as vectors, as from an .npy file.
package tables

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/lab/internal/repro"
)

// Experiment compares models trained on rows of CSV files with models trained on the same rows as
// vectors.
var Experiment = repro.Experiment{
	Name:    "tables",
	Paper:   "no paper: tables with numbers and categories, read as CSV files and as vectors",
	Corpora: "CSV files",
	RunTime: "seconds per table",
	Help: `
Mean R² or accuracy on random test sets of a quarter of the rows: gram.Train without options on the
rows of a CSV file and, if it has only numbers, on vectors. Seeds are 0, 1 and so on.`,
	New: func() repro.Settings { return &settings{Files: "*.csv", SplitCount: 10} },
}

type settings struct {
	Files      string `param:"files" help:"pattern of file names in the data folder"`
	SplitCount int    `param:"splits" min:"2" help:"number of random splits per table"`
}

// Run implements repro.Settings.
func (p *settings) Run(ctx context.Context, r *repro.Env) (*repro.Report, error) {
	paths, _ := filepath.Glob(filepath.Join(r.DataDir, p.Files))
	if r.DataDir == "" || len(paths) == 0 {
		return nil, cli.Usagef("-data %s has no CSV files that match files=%s", r.DataDir, p.Files)
	}
	report := &repro.Report{}
	t := report.AddTable("splits", "Mean ± SE", "table", ">rows", "measure", ">CSV", ">vectors", ">CSV - vectors")
	for _, path := range paths {
		row, err := p.measure(ctx, r, path)
		if err != nil {
			return report, err
		}
		t.AddRow(row...)
	}
	return report, nil
}

func (p *settings) measure(ctx context.Context, r *repro.Env, path string) ([]string, error) {
	o := gram.ReadOptions{Options: gram.Options{Workers: r.Workers, MemoryBytes: r.MemoryBytes}, KeepTexts: true}
	c, err := gram.Read(ctx, path, o)
	if err != nil {
		return nil, err
	}
	n := c.Documents.Rows()
	if c.Rows == nil || len(c.Labels.IDs) != n {
		return nil, fmt.Errorf("%s must be a table with several columns and a label in each row", path)
	}
	train := gram.TrainOptions{Options: o.Options}
	name, measure := strings.TrimSuffix(filepath.Base(path), ".csv"), "accuracy in %"
	if learn.CheckTargets(c) != nil {
		train.Type, measure = "epsilon_svr", "R²"
	}
	vectors, err := vectorsOf(c)
	if err != nil {
		return nil, err
	}
	var csv, plain, differences []float64
	for seed := range p.SplitCount {
		rows := rand.New(rand.NewPCG(uint64(seed), repro.Hash(name))).Perm(n)
		test, rest := rows[:n/4], rows[n/4:]
		own := c.Select(rest) // read again, so that only training rows determine the column scales
		read, err := gram.FromRows(ctx, own.Columns, own.Rows, labelsOf(own), o)
		var a, b float64
		if err == nil {
			a, err = score(ctx, read, c.Select(test), train)
		}
		if csv = append(csv, a); err == nil && vectors != nil {
			b, err = score(ctx, vectors.Select(rest), vectors.Select(test), train)
			plain, differences = append(plain, b), append(differences, a-b)
		}
		if err != nil {
			return nil, err
		}
	}
	return []string{name, strconv.Itoa(n), measure, formatMean(csv), formatMean(plain), formatMean(differences)}, nil
}

func labelsOf(c *corpus.Corpus) (labels []string) {
	for i := range c.Documents.Rows() {
		labels = append(labels, c.Classes[c.Labels.Classes(i)[0]])
	}
	return labels
}

// vectorsOf returns the rows of a table as vectors, or nil if a field isn't a number.
func vectorsOf(c *corpus.Corpus) (*corpus.Corpus, error) {
	rows, labels := gram.NewCorpusBuilder(len(c.Columns)), labelsOf(c)
	for i, fields := range c.Rows {
		values, columns := make([]float64, len(fields)), make([]uint32, len(fields))
		for k, field := range fields {
			x, ok := token.ParseNumber(field)
			if !ok || math.IsNaN(x) {
				return nil, nil
			}
			values[k], columns[k] = x, uint32(k)
		}
		if err := rows.Add(columns, values, labels[i]); err != nil {
			return nil, err
		}
	}
	return rows.Corpus(), nil
}

// score returns the accuracy on test in percent or, for a regression, R².
func score(ctx context.Context, train, test *corpus.Corpus, o gram.TrainOptions) (float64, error) {
	m, err := gram.Train(ctx, train, o)
	if err != nil {
		return 0, err
	}
	e, err := m.Evaluate(ctx, test, gram.EvaluateOptions{Mistakes: -1})
	if err != nil {
		return 0, err
	}
	if o.Type != "" {
		return e.Score.R2, nil
	}
	return 100 * e.Score.Accuracy, nil
}

func formatMean(values []float64) string {
	if values == nil {
		return ""
	}
	mean, sd := stat.MeanStdDev(values, nil)
	return fmt.Sprintf("%.3f ± %.3f", mean, stat.StdErr(sd, float64(len(values))))
}
