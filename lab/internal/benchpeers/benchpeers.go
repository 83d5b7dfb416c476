// Package benchpeers is gramlab bench peers, which measures gram neighbours against other programs
// that find the nearest documents by cosine, on the same documents in the same run.
//
//	make bench-peers                                    with what is installed
//	make bench-peers DATA=corpora PYTHON=venv/bin/python ARGS='-rounds 3 -threads 2'
//
// All find the ten nearest of each document by the cosine of √θ, with the same number of threads:
// sparse_dot_topn, also as it is called by default, on one thread, and with -more scikit-learn's
// brute force and pynndescent, which finds a part of them. Seconds are those of the search alone,
// documents in memory: for gram what it reports, for sparse_dot_topn those of its product, whose
// transposed matrix is ready; pynndescent is compiled. Programs run in turn; the table has the
// median, the least and the greatest time. A program that is missing is left out, which the command
// says. It fails where an exact one has other neighbours: those whose cosines differ by no more than
// 10⁻⁴, what float32 rounds in such sums, may stand for each other.
package benchpeers

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/peers"
)

//go:embed peers.py
var script string

// bench is one run.
type bench struct {
	peers.Bench
	in    string
	k     int
	more  bool
	peers []peer
}

// peer is another program, as peers.py calls it.
type peer struct {
	name, module string
	more         bool // takes long: only with -more
	approximate  bool
}

var programs = []peer{
	{name: "sparse_dot_topn", module: "sparse_dot_topn"},
	{name: "sparse_dot_topn, its default", module: "sparse_dot_topn"},
	{name: "scikit-learn", module: "sklearn.neighbors", more: true},
	{name: "pynndescent", module: "pynndescent", more: true, approximate: true},
}

// Program is the comparison.
var Program = peers.Program{
	Name: "peers", Summary: "neighbours against sparse_dot_topn and others (minutes)", New: setup,
}

func setup() (*peers.Bench, peers.Command) {
	b := &bench{}
	return &b.Bench, peers.Command{
		Rounds: 3,
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&b.in, "in", "", "measure on these documents only: anything that gram -in takes")
			set.IntVar(&b.k, "k", 10, "neighbours of each document")
			set.BoolVar(&b.more, "more", false, "measure scikit-learn's brute force and pynndescent, too, which take long")
		},
		Valid:    func() bool { return b.k >= 1 },
		Expected: "-k of at least 1",
		Measure:  b.all,
	}
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context) error {
	for _, p := range programs {
		if (b.more || !p.more) && b.HasPython(ctx, p.module+", sklearn") {
			b.peers = append(b.peers, p)
		}
	}
	fmt.Fprintf(b.Out, "%s, the %d nearest of each document, median of %d runs (least to most)\n", b.Head(), b.k, b.Rounds)
	corpora := []string{b.in}
	if b.in == "" {
		corpora = []string{"goroot"}
		if news := b.Find("20 Newsgroups", "20news-bydate", "train.tsv.gz"); news != "" {
			corpora = append(corpora, news)
		}
	}
	for _, in := range corpora {
		if err := b.measure(ctx, in); err != nil {
			return fmt.Errorf("%s: %w", in, err)
		}
	}
	return nil
}

// measure runs all in turn on one corpus.
func (b *bench) measure(ctx context.Context, in string) error {
	vectors, near := b.File("vectors.svm"), b.File("near.npz")
	threads, k := strconv.Itoa(b.Threads), strconv.Itoa(b.k)
	b.Say("%s: writing vectors", in)
	// words of one document match nothing
	if err := b.Vectors(ctx, in, "", "tf-l1-sqrt", vectors, "-min-df", "2"); err != nil {
		return err
	}
	var own struct {
		Corpus  struct{ Documents int }
		Seconds float64 `json:"seconds_neighbours"`
		ISA     string
	}
	type other struct {
		Rows, Same int
		Recall     float64
	}
	var ours peers.Runs
	found, theirs := make([]other, len(b.peers)), make([]peers.Runs, len(b.peers))
	for range b.Rounds {
		if _, err := b.Own(ctx, &own, "neighbours", "-q", "-in", in, "-min-df", "2", "-k", k, "-o", near); err != nil {
			return err
		}
		ours = append(ours, peers.Ran{Seconds: own.Seconds})
		for at, p := range b.peers {
			r, err := b.Script(ctx, &found[at], script, vectors, near, k, threads, p.name)
			if err != nil {
				return err
			}
			theirs[at] = append(theirs[at], r)
		}
	}
	fmt.Fprintf(b.Out, "\n%s: %s\n", filepath.Base(in), report.Documents(own.Corpus.Documents))
	t := report.NewTable("program", ">seconds", ">least", ">most", ">times as long", ">the same", ">found")
	of, _, _, _ := ours.Median()
	line := func(name string, runs peers.Runs, same, recall string) {
		seconds, least, most, _ := runs.Median()
		t.Add(name, report.Seconds(seconds), report.Seconds(least), report.Seconds(most), fmt.Sprintf("%.1f", seconds/of),
			same, recall)
	}
	line("gram neighbours, "+own.ISA, ours, "", "")
	var err error
	for at, p := range b.peers {
		o := found[at]
		line(p.name+", "+theirs[at][0].Version, theirs[at], report.Count(o.Same), report.Percent(o.Recall))
		if !p.approximate && o.Same < o.Rows {
			err = fmt.Errorf("%s: %s have other neighbours", p.name, report.Documents(o.Rows-o.Same))
		}
	}
	t.Write(b.Out)
	return err
}
