// Command benchtext measures how well and how fast grambench predicts from raw text, beside
// scikit-learn's TfidfVectorizer and LinearSVC, on the same documents.
//
//	make bench-text                               on what is in the data folder
//	make bench-text DATA=corpora PYTHON=python3.12 ARGS='-only Reuters'
//
// Corpora: WebKB by 5 folds, Reuters-21578 and 20 Newsgroups by their test sets, and the first
// images of MNIST. Programs, each from the text to predicted labels:
//
//   - grambench train without options, and grambench predict;
//   - grambench grid without options, the train command that it prints, and predict;
//   - LinearSVC with all defaults;
//   - LinearSVC searched over C from 0.1 to 10, sublinear_tf, and bigrams, by the folds that grid
//     has in its last round.
//
// The figures are counted here, of the lines that each program writes. Seconds are those of whole
// processes, and peak memory the greatest of these. linear.py is what Python runs. What is missing
// is left out, which the command says.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/cpuid/v2"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// bench is one run.
type bench struct {
	grambench, python, data, only string
	images, threads               int
	search                        bool

	folder string // for what the programs read and write
	stderr io.Writer
}

// run is the whole program; it returns the exit status: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{stderr: stderr}
	set := flag.NewFlagSet("benchtext", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&b.grambench, "grambench", filepath.Join("bin", "grambench"), "the command to measure")
	set.StringVar(&b.python, "python", cmp.Or(os.Getenv("PYTHON"), "python3"),
		"a Python with scikit-learn; default $PYTHON")
	set.StringVar(&b.data, "data", cmp.Or(os.Getenv("DATA"), filepath.Join("..", "shared", "data")),
		"folder of the corpora; default $DATA")
	set.StringVar(&b.only, "only", "", "measure on corpora with this in their name only")
	set.IntVar(&b.images, "images", 10000, "training images of MNIST, the first so many")
	set.IntVar(&b.threads, "threads", runtime.NumCPU(), "threads of every program")
	set.BoolVar(&b.search, "search", true, "measure LinearSVC's search, too, which takes the longest")
	if err := set.Parse(args); err != nil {
		return 2
	}
	if set.NArg() > 0 || b.threads < 1 || b.images < 100 {
		b.say("expected flags only, -threads of at least 1 and -images of at least 100")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := b.all(ctx, stdout)
	switch {
	case ctx.Err() != nil:
		b.say("interrupted, nothing half-written was left behind")
	case err != nil:
		b.say("%v", err)
	default:
		return 0
	}
	return 1
}

// say writes a line to standard error.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.stderr, "benchtext: "+format+"\n", args...)
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context, stdout io.Writer) (err error) {
	if _, err := os.Stat(b.grambench); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	if b.grambench, err = filepath.Abs(b.grambench); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "benchtext"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	if err := exec.CommandContext(ctx, b.python, "-c", "import numpy, sklearn.svm").Run(); err != nil {
		b.say("left out: %s has no scikit-learn (PYTHON names one that has)", b.python)
		b.python = ""
	}
	fmt.Fprintf(stdout, "%s, %s, %s; %d threads\n", cpuid.CPU.BrandName, runtime.Version(),
		time.Now().Format(time.DateOnly), b.threads)
	for _, c := range corpora {
		if !strings.Contains(c.name, b.only) {
			continue
		}
		if _, err := os.Stat(filepath.Join(b.data, c.train)); err != nil {
			b.say("left out: %s, since %v (DATA names the folder above)", c.name, err)
			continue
		}
		t := &trial{bench: b, corpus: c}
		if err := t.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintln(stdout)
		t.write(stdout)
	}
	return nil
}

// file names a file of the run.
func (b *bench) file(name string) string { return filepath.Join(b.folder, name) }
