// Command benchpeers measures grambench neighbours against sparse_dot_topn, the nearest documents by
// cosine, on the same documents in the same run.
//
//	make bench-peers                                    with what is installed
//	make bench-peers DATA=corpora PYTHON=venv/bin/python ARGS='-rounds 3 -threads 2'
//
// Both find the ten nearest of each document by the cosine of √θ, with the same number of threads.
// Seconds are those of the search alone, documents in memory: for grambench what it reports, for
// sparse_dot_topn those of its product, whose transposed matrix is ready. Programs run in turn; the
// table has the median, the least and the greatest time. A program that is missing is left out,
// which the command says. It fails where a document has other neighbours: those whose cosines differ
// by no more than 10⁻⁴, what float32 rounds in the sums of sparse_dot_topn, may stand for each other.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

//go:embed peers.py
var script string

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// bench is one run.
type bench struct {
	grambench, python, data, in string
	k, threads, rounds          int
	folder                      string
	stderr                      io.Writer
}

// run is the whole program; it returns the exit status: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{stderr: stderr}
	set := flag.NewFlagSet("benchpeers", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&b.grambench, "grambench", filepath.Join("bin", "grambench"), "the command to measure")
	set.StringVar(&b.python, "python", cmp.Or(os.Getenv("PYTHON"), "python3"),
		"a Python with sparse_dot_topn and scikit-learn; default $PYTHON")
	set.StringVar(&b.data, "data", cmp.Or(os.Getenv("DATA"), filepath.Join("..", "shared", "data")),
		"folder with 20news-bydate/train.tsv.gz; default $DATA")
	set.StringVar(&b.in, "in", "", "measure on these documents only: anything that grambench -in takes")
	set.IntVar(&b.k, "k", 10, "neighbours of each document")
	set.IntVar(&b.threads, "threads", runtime.NumCPU(), "threads of every program")
	set.IntVar(&b.rounds, "rounds", 3, "runs of each")
	if err := set.Parse(args); err != nil {
		return 2
	}
	if set.NArg() > 0 || b.rounds < 1 || b.threads < 1 || b.k < 1 {
		b.say("expected flags only, and -rounds, -threads and -k of at least 1")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := b.all(ctx, stdout); err != nil {
		b.say("%v", err)
		return 1
	}
	return 0
}

// say writes a line to standard error.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.stderr, "benchpeers: "+format+"\n", args...)
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context, stdout io.Writer) (err error) {
	if _, err := os.Stat(b.grambench); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	if b.folder, err = os.MkdirTemp("", "benchpeers"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	out, err := exec.CommandContext(ctx, b.python, "-c", "import sparse_dot_topn, sklearn").CombinedOutput()
	if err != nil {
		b.say("left out: sparse_dot_topn, since %s says %v %.200s (PYTHON names another)", b.python, err, out)
		b.python = ""
	}
	fmt.Fprintf(stdout, "%s, %s; %d threads, the %d nearest of each document, median of %d runs (least to most)\n",
		cpuid.CPU.BrandName, time.Now().Format(time.DateOnly), b.threads, b.k, b.rounds)
	corpora := []string{b.in}
	if b.in == "" {
		corpora = []string{"goroot"}
		news := filepath.Join(b.data, "20news-bydate", "train.tsv.gz")
		if _, err := os.Stat(news); err != nil {
			b.say("left out: 20 Newsgroups, since %v (DATA names the folder above)", err)
		} else {
			corpora = append(corpora, news)
		}
	}
	for _, in := range corpora {
		if err := b.measure(ctx, in, stdout); err != nil {
			return fmt.Errorf("%s: %w", in, err)
		}
	}
	return ctx.Err()
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
	vectors, near := filepath.Join(b.folder, "vectors.svm"), filepath.Join(b.folder, "near.npz")
	threads, k := strconv.Itoa(b.threads), strconv.Itoa(b.k)
	b.say("%s: writing vectors", in)
	err := b.execute(ctx, nil, b.grambench, "corpus", "-q", "-in", in, "-embed", "tf-l1-sqrt", "-o", vectors)
	if err != nil {
		return err
	}
	var a own
	var p other
	var ours, theirs []float64
	for range b.rounds {
		err := b.execute(ctx, &a, b.grambench, "neighbours", "-json", "-in", in, "-k", k, "-workers", threads, "-o", near)
		if err != nil {
			return err
		}
		ours = append(ours, a.Seconds)
		if b.python == "" {
			continue
		}
		if err := b.execute(ctx, &p, b.python, "-c", script, vectors, near, k, threads); err != nil {
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
	if b.python != "" {
		line("sparse_dot_topn "+p.Version, theirs)
	}
	t.Write(stdout)
	if b.python == "" {
		return nil
	}
	fmt.Fprintf(stdout, "the same neighbours: %s of %s\n", report.Count(p.Same), report.Documents(p.Rows))
	if p.Same < p.Rows {
		return errors.New("some documents have other neighbours")
	}
	return nil
}

// execute runs a program and reads what it prints as JSON, unless into is nil.
func (b *bench) execute(ctx context.Context, into any, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = b.stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(out, into)
}
