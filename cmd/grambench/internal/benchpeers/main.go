// Command benchpeers measures grambench neighbours against sparse_dot_topn, which finds the nearest
// documents by cosine, on the same documents in the same run.
//
//	make bench-peers                                    with what is installed
//	make bench-peers DATA=corpora PYTHON=venv/bin/python ARGS='-rounds 3 -threads 2'
//
// Both find the ten nearest of each document by the cosine of √θ, with the same number of threads.
// Seconds are those of the search alone, documents in memory: for grambench what it reports, for
// sparse_dot_topn those of its product, whose transposed matrix is ready. Programs run in turn; the
// table has the median, the least and the greatest time. A program that is missing is left out,
// which the command says. It fails where a document has other neighbours: those whose cosines
// differ by no more than 10⁻⁴, what float32 rounds in the sums of sparse_dot_topn, may stand for
// each other.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/gramengine/gram/cmd/grambench/internal/beside"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

//go:embed peers.py
var script string

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// bench is one run.
type bench struct {
	beside.Bench
	in        string
	k, rounds int
}

// run is the whole program; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{}
	return b.Run("benchpeers", args, stderr, beside.Command{
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&b.in, "in", "", "measure on these documents only: anything that grambench -in takes")
			set.IntVar(&b.k, "k", 10, "neighbours of each document")
			set.IntVar(&b.rounds, "rounds", 3, "runs of each")
		},
		Valid:    func() bool { return b.rounds >= 1 && b.k >= 1 },
		Expected: "-rounds and -k of at least 1",
		Measure:  func(ctx context.Context) error { return b.all(ctx, stdout) },
	})
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context, stdout io.Writer) error {
	b.NeedPython(ctx, "sparse_dot_topn, sklearn")
	fmt.Fprintf(stdout, "%s, the %d nearest of each document, median of %d runs (least to most)\n", b.Head(), b.k,
		b.rounds)
	corpora := []string{b.in}
	if b.in == "" {
		corpora = []string{"goroot"}
		if news := b.Find("20 Newsgroups", "20news-bydate", "train.tsv.gz"); news != "" {
			corpora = append(corpora, news)
		}
	}
	for _, in := range corpora {
		if err := b.measure(ctx, in, stdout); err != nil {
			return fmt.Errorf("%s: %w", in, err)
		}
	}
	return nil
}

// own is what grambench reports of neighbours.
type own struct {
	Corpus struct {
		Documents int `json:"documents"`
	} `json:"corpus"`
	Seconds float64 `json:"seconds_neighbours"`
	ISA     string  `json:"isa"`
}

// other is what peers.py reports.
type other struct {
	Seconds float64 `json:"seconds"`
	Version string  `json:"version"`
	Rows    int     `json:"rows"`
	Same    int     `json:"same"`
}

// measure runs both in turn on one corpus.
func (b *bench) measure(ctx context.Context, in string, stdout io.Writer) error {
	vectors, near := b.File("vectors.svm"), b.File("near.npz")
	threads, k := strconv.Itoa(b.Threads), strconv.Itoa(b.k)
	b.Say("%s: writing vectors", in)
	_, err := b.Execute(ctx, b.Grambench, "corpus", "-q", "-in", in, "-min-df", "2", "-embed", "tf-l1-sqrt", "-o", vectors)
	if err != nil {
		return err
	}
	var a own
	var p other
	var ours, theirs []float64
	for range b.rounds {
		if _, err := b.Own(ctx, &a, "neighbours", "-in", in, "-min-df", "2", "-k", k, "-o", near); err != nil {
			return err
		}
		ours = append(ours, a.Seconds)
		if b.Python == "" {
			continue
		}
		if _, err := b.Script(ctx, &p, script, vectors, near, k, threads); err != nil {
			return err
		}
		theirs = append(theirs, p.Seconds)
	}
	fmt.Fprintf(stdout, "\n%s: %s\n", filepath.Base(in), report.Documents(a.Corpus.Documents))
	t := report.NewTable("program", ">seconds", ">least", ">most", ">times as long")
	line := func(name string, seconds []float64) {
		t.Add(name, report.Seconds(report.Median(seconds)), report.Seconds(slices.Min(seconds)),
			report.Seconds(slices.Max(seconds)), fmt.Sprintf("%.1f", report.Median(seconds)/report.Median(ours)))
	}
	line("grambench neighbours, "+a.ISA, ours)
	if b.Python != "" {
		line("sparse_dot_topn "+p.Version, theirs)
	}
	t.Write(stdout)
	if b.Python == "" {
		return nil
	}
	fmt.Fprintf(stdout, "the same neighbours: %s of %s\n", report.Count(p.Same), report.Documents(p.Rows))
	if p.Same < p.Rows {
		return errors.New("some documents have other neighbours")
	}
	return nil
}
