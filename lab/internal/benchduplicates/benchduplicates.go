// Package benchduplicates is gramlab bench duplicates, which measures gram duplicates against other
// programs that find near-duplicates, on the same documents in the same run.
//
//	make bench-duplicates                                with what is installed
//	make bench-duplicates PYTHON=venv/bin/python ARGS='-names 660000 -plot recall.svg'
//
// All search for the pairs of documents whose cosine is at least 1 − within. gram and
// sparse_dot_topn find them exactly, string_grouper, on names alone, by its own weights. datasketch
// and rensa hash sets of terms by MinHash, of 128 or 256 permutations, and report the pairs that
// share a band and whose estimated Jaccard similarity is at least (1 − within)/(1 + within), that of
// two sets of one size with the cosine. Of each pair that a program reports the cosine is
// computed: missed are the pairs that it should have reported, invented those that it shouldn't.
// Seconds are those from vectors, or sets, in memory to pairs. Programs run in turn; the table has
// the median of each. One that is missing is left out, which the command says.
package benchduplicates

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/peers"
)

//go:embed peers.py
var script string

// bench is one run.
type bench struct {
	peers.Bench
	in, plot string
	within   float64
	names    int
	grow     int
}

// corpus is a source of documents, and the flags that say how gram reads and embeds it.
type dataset struct {
	name, source string
	within       float64
	texts        string // a file of texts, one a line, for programs that read these
	read, embed  []string
}

// programs are those that peers.py runs, by name and module.
var programs = []struct {
	name, module string
	texts        bool // reads texts
}{
	{"sparse_dot_topn", "sparse_dot_topn", false},
	{"string_grouper", "string_grouper", true},
	{"datasketch, 128", "datasketch", false},
	{"datasketch, 256", "datasketch", false},
	{"rensa, 128", "rensa", false},
	{"rensa, 256", "rensa", false},
}

// Program is the comparison.
var Program = peers.Program{
	Name: "duplicates", Summary: "duplicates against MinHash and products of sparse matrices (minutes)", New: setup,
}

func setup() (*peers.Bench, peers.Command) {
	b := &bench{}
	return &b.Bench, peers.Command{
		Rounds: 3,
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&b.in, "in", "", "measure on these documents only: anything that gram -in takes")
			set.Float64Var(&b.within, "within", 0.02, "pairs of c = 1 - cosine of at most this, but for names")
			set.IntVar(&b.names, "names", 20000, "so many names of companies, within a cosine of 0.8; 0 leaves them out")
			set.IntVar(&b.grow, "grow", 0, "measure duplicates alone on synthetic documents, a tenth of so many up to all")
			set.StringVar(&b.plot, "plot", "", "draw recall against seconds, of the last corpus, into this .svg file")
		},
		Valid:    func() bool { return b.names >= 0 && b.within >= 0 && b.within < 1 && (b.grow == 0 || b.grow >= 100) },
		Expected: "-names of at least 0, -within from 0 to below 1, and -grow of 0 or at least 100",
		Measure: func(ctx context.Context) error {
			if b.grow > 0 {
				return b.grows(ctx)
			}
			return b.all(ctx)
		},
	}
}

// corpora are those of this run.
func (b *bench) corpora() (list []dataset, err error) {
	c := dataset{name: filepath.Base(b.in), source: b.in, within: b.within, embed: []string{"-embed", "tf-l1-sqrt"},
		read: []string{"-min-df", "1"}} // duplicates counts all words
	if b.in != "" {
		return []dataset{c}, nil
	}
	if news := b.Find("20 Newsgroups", "20news-bydate", "train.tsv.gz"); news != "" {
		c.name, c.source = "20 Newsgroups", news
		list = append(list, c)
	}
	c.name, c.source = "synthetic, one in twenty a copy", "synthetic:docs=50000,terms=30000,length=140,copies=50,changed=1"
	list = append(list, c)
	if b.names > 0 {
		c.name, c.source, c.within = "names", b.File("names.txt"), 0.2
		c.texts, c.embed = c.source, []string{"-embed", "tfidf-l2"}
		c.read = []string{"-format", "lines", "-analyzer", "char", "-ngrams", "3", "-min-df", "1"}
		err = peers.WriteLines(c.source, names(b.names))
		list = append(list, c)
	}
	return list, err
}

// grows measures duplicates on more and more documents, fits n^p to its seconds, and says what comparing all
// pairs by tiles would take, by the seconds of neighbours on a twentieth.
func (b *bench) grows(ctx context.Context) error {
	source := func(n int) string {
		return fmt.Sprintf("synthetic:docs=%d,terms=60000,length=150,copies=50,changed=1", n)
	}
	var own struct {
		Pairs int     `json:"pairs_within"`
		Took  float64 `json:"seconds_pairs"`
		All   float64 `json:"seconds"`
		Tiles float64 `json:"seconds_neighbours"`
		Peak  int64   `json:"peak_bytes"`
		Plan  struct{ Method string }
	}
	few := b.grow / 20
	if _, err := b.Own(ctx, &own, "neighbours", "-q", "-in", source(few), "-k", "1", "-o", b.File("near")); err != nil {
		return err
	}
	tiles := own.Tiles / float64(few) / float64(few)
	fmt.Fprintf(b.Out, "%s; %s, within %v; all pairs by tiles: %s for %s, with the square for more\n\n", b.Head(),
		source(b.grow), b.within, report.Seconds(own.Tiles), report.Documents(few))
	t := report.NewTable(">documents", "by", ">pairs", ">seconds", ">in all", ">peak memory", ">by tiles")
	bound := strconv.FormatFloat(b.within, 'g', -1, 64)
	var x, y []float64
	for _, share := range []int{10, 5, 2, 1} {
		n := b.grow / share
		_, err := b.Own(ctx, &own, "duplicates", "-in", source(n), "-within", bound, "-o", b.File("groups"))
		if err != nil {
			return err
		}
		x, y = append(x, math.Log(float64(n))), append(y, math.Log(own.Took))
		t.Add(report.Count(n), own.Plan.Method, report.Count(own.Pairs), report.Seconds(own.Took), report.Seconds(own.All),
			report.Bytes(own.Peak), report.Seconds(tiles*float64(n)*float64(n)))
	}
	t.Write(b.Out)
	_, power := stat.LinearRegression(x, y, nil, false)
	fmt.Fprintf(b.Out, "seconds of pairs fit n^%.2f\n", power)
	return nil
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context) error {
	list, err := b.corpora()
	if err != nil {
		return err
	}
	fmt.Fprintf(b.Out, "%s, median of %d runs\n", b.Head(), b.Rounds)
	for _, c := range list {
		if err := b.measure(ctx, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// answer is what a program found.
type answer struct {
	program string
	runs    peers.Runs
	Found   int   // pairs
	Right   int   // of these within the bound
	Peak    int64 `json:"peak_bytes"`
}

// measure runs all in turn on one corpus.
func (b *bench) measure(ctx context.Context, c dataset) error {
	vectors, bound := b.File("vectors.svm"), strconv.FormatFloat(c.within, 'g', -1, 64)
	b.Say("%s: writing vectors", c.name)
	if err := b.Vectors(ctx, c.source, "", c.embed[1], vectors, c.read...); err != nil {
		return err
	}
	var own struct {
		Corpus struct{ Documents int }
		Pairs  int     `json:"pairs_within"`
		Took   float64 `json:"seconds_pairs"`
		Peak   int64   `json:"peak_bytes"`
		Plan   struct{ Method string }
	}
	answers := []*answer{{program: "gram duplicates"}}
	for _, p := range programs {
		if (c.texts != "" || !p.texts) && b.HasPython(ctx, p.module+", sklearn") {
			answers = append(answers, &answer{program: p.name})
		}
	}
	for range b.Rounds {
		args := slices.Concat(
			[]string{"duplicates", "-in", c.source, "-within", bound, "-o", b.File("groups")}, c.read, c.embed)
		if _, err := b.Own(ctx, &own, args...); err != nil {
			return err
		}
		ours := answers[0]
		ours.runs = append(ours.runs, peers.Ran{Seconds: own.Took, Version: own.Plan.Method})
		ours.Found, ours.Right, ours.Peak = own.Pairs, own.Pairs, own.Peak
		for _, a := range answers[1:] {
			b.Say("%s: %s", c.name, a.program)
			r, err := b.Script(ctx, a, script, vectors, c.texts, strconv.Itoa(b.Threads), bound, a.program)
			if err != nil {
				return fmt.Errorf("%s: %w", a.program, err)
			}
			a.runs = append(a.runs, r)
		}
	}
	fmt.Fprintf(b.Out, "\n%s: %s, %s within %s\n", c.name, report.Documents(own.Corpus.Documents),
		report.Counted(own.Pairs, "pair", "pairs"), bound)
	t := report.NewTable("program", ">seconds", ">times as long", ">peak memory", ">found", ">missed", ">invented",
		">recall")
	of, _, _, _ := answers[0].runs.Median()
	for _, a := range answers {
		if a.Right > own.Pairs+own.Pairs/1000 { // cosines at the bound differ in their last bits
			return fmt.Errorf("%s found %d pairs of %d that there are: did it read the same documents?", a.program, a.Right,
				own.Pairs)
		}
		seconds, _, _, _ := a.runs.Median()
		t.Add(strings.TrimSuffix(a.program+", "+a.runs[0].Version, ", "), report.Seconds(seconds),
			fmt.Sprintf("%.1f", seconds/of), report.Bytes(a.Peak), report.Count(a.Found),
			report.Count(max(own.Pairs-a.Right, 0)), report.Count(a.Found-a.Right), report.Percent(a.recall(own.Pairs)))
	}
	t.Write(b.Out)
	if b.plot == "" {
		return nil
	}
	return b.draw(c, answers, own.Pairs)
}

// recall is the share of all pairs that a program found.
func (a *answer) recall(pairs int) float64 { return min(float64(a.Right)/float64(max(pairs, 1)), 1) }

// draw draws recall against seconds, a point a program.
func (b *bench) draw(c dataset, answers []*answer, pairs int) error {
	p := chart.New(fmt.Sprintf("%s: pairs within %v", c.name, c.within), "seconds, logarithmic", "recall")
	p.X.Log = true
	for i, a := range answers {
		seconds, _, _, _ := a.runs.Median()
		at := []chart.Point{{X: max(seconds, 1e-4), Y: a.recall(pairs)}}
		p.Curve(a.program, chart.Colors[i%len(chart.Colors)], at, true)
	}
	p.X.Min, p.X.Max = math.Pow10(int(math.Floor(math.Log10(p.X.Min)))), math.Pow10(int(math.Ceil(math.Log10(p.X.Max))))
	p.Y.Min, p.Y.Max = 0, 1.05
	return chart.Save(b.plot, 16, 10, p)
}
