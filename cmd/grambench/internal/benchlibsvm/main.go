// Command benchlibsvm measures grambench against LIBSVM's programs and scikit-learn, on the same
// documents in the same run.
//
//	make bench-libsvm                              with what is installed
//	make bench-libsvm SVM_TRAIN=/opt/libsvm/svm-train SVM_PREDICT=/opt/libsvm/svm-predict \
//		DATA=corpora ARGS='-rounds 3'
//
// For each corpus it trains one against one and, where there are test documents, predicts them:
//
//   - svm-train -t 2 and svm-predict on the embedded documents that grambench corpus -o writes,
//     square roots of relative word frequencies;
//   - grambench train and predict with the same kernel, C and tolerance, from the text;
//   - grambench with the kernel of information geometry that such documents are meant for, which
//     LIBSVM doesn't have;
//   - the solver alone on that kernel: scikit-learn's SVC on the ready matrix, against the time
//     that grambench train spends in its solver, whose matrix is ready too if memory holds it.
//
// Seconds of train and predict are those of whole processes, files read and written included. The
// other programs run -rounds times, grambench -own times before and after each, so that a machine
// that gets slower or faster meanwhile shows in the spread. The table has the median, the least and
// the greatest time. "cores" is processor time by elapsed time: near 1 for an svm-train that was
// built without OpenMP, as Debian's is.
//
// A program that is missing is left out, which the command says. If svm-train is there, the command
// fails where the dual objectives of a pair of classes differ by more than 10⁻⁵, or fewer than 99.9
// % of the predictions are the same.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/klauspost/cpuid/v2"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// bench is one run.
type bench struct {
	grambench, svmTrain, svmPredict, python string

	data, train, test string
	c, gamma          float64
	kernel            string
	threads           int
	rounds, own       int

	folder string // for vectors, models, matrices and predictions
	stderr io.Writer
}

// run is the whole program; it returns the exit status: 0 done, 1 failed, 2 wrong usage.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{stderr: stderr}
	set := flag.NewFlagSet("benchlibsvm", flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&b.grambench, "grambench", filepath.Join("bin", "grambench"), "the command to measure")
	set.StringVar(&b.svmTrain, "svm-train", cmp.Or(os.Getenv("SVM_TRAIN"), "svm-train"),
		"LIBSVM's svm-train; default $SVM_TRAIN")
	set.StringVar(&b.svmPredict, "svm-predict", cmp.Or(os.Getenv("SVM_PREDICT"), "svm-predict"),
		"LIBSVM's svm-predict; default $SVM_PREDICT")
	set.StringVar(&b.python, "python", cmp.Or(os.Getenv("PYTHON"), "python3"),
		"a Python with scikit-learn; default $PYTHON")
	set.StringVar(&b.data, "data", cmp.Or(os.Getenv("DATA"), filepath.Join("..", "shared", "data")),
		"folder with 20news-bydate/{train,test}.tsv.gz; default $DATA")
	set.StringVar(&b.train, "train", "", "measure on these training documents only: anything that grambench -in takes")
	set.StringVar(&b.test, "test", "", "test documents for -train")
	set.Float64Var(&b.c, "c", 10, "C, the price of a violated margin")
	set.Float64Var(&b.gamma, "gamma", 1, "gamma of the Gaussian kernel")
	set.StringVar(&b.kernel, "kernel", "diffusion:t=0.5", "kernel on the sphere, for grambench alone")
	set.IntVar(&b.threads, "threads", runtime.NumCPU(), "threads of every program")
	set.IntVar(&b.rounds, "rounds", 1, "runs of the other programs")
	set.IntVar(&b.own, "own", 5, "runs of grambench before and after each of them")
	if err := set.Parse(args); err != nil {
		return 2
	}
	if set.NArg() > 0 || b.rounds < 1 || b.own < 1 || b.threads < 1 || b.test != "" && b.train == "" {
		b.say("expected flags only, -rounds, -own and -threads of at least 1, and -test with -train alone")
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	passed, err := b.all(ctx, stdout)
	switch {
	case ctx.Err() != nil:
		b.say("interrupted, nothing half-written was left behind")
	case err != nil:
		b.say("%v", err)
	case passed:
		return 0
	}
	return 1
}

// say writes a line to standard error.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.stderr, "benchlibsvm: "+format+"\n", args...)
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context, stdout io.Writer) (passed bool, err error) {
	if _, err := os.Stat(b.grambench); err != nil {
		return false, fmt.Errorf("%w (make build makes it)", err)
	}
	if b.folder, err = os.MkdirTemp("", "benchlibsvm"); err != nil {
		return false, err
	}
	defer os.RemoveAll(b.folder)
	fmt.Fprintf(stdout, "%s, %s, %s; %d threads, median of %d runs of grambench, of %d of the others\n",
		cpuid.CPU.BrandName, runtime.Version(), time.Now().Format(time.DateOnly), b.threads, b.own*(b.rounds+1),
		b.rounds)
	b.findOthers(ctx)
	passed = true
	for _, c := range b.corpora() {
		t := &trial{bench: b, corpus: c}
		if err := t.measure(ctx); err != nil {
			return false, fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintln(stdout)
		passed = t.write(stdout) && passed
	}
	return passed, nil
}

// corpus is a corpus to measure on.
type corpus struct{ name, train, test string } // test is "" where there are no test documents

// corpora returns what there is to measure on, and says what is missing.
func (b *bench) corpora() []corpus {
	if b.train != "" {
		return []corpus{{filepath.Base(b.train), b.train, b.test}}
	}
	all := []corpus{{name: "Go standard library", train: "goroot"}}
	news := filepath.Join(b.data, "20news-bydate")
	if _, err := os.Stat(news); err != nil {
		b.say("left out: 20 Newsgroups, since %v (DATA names the folder above)", err)
		return all
	}
	return append(all, corpus{"20 Newsgroups", filepath.Join(news, "train.tsv.gz"), filepath.Join(news, "test.tsv.gz")})
}

// file names a file of the run.
func (b *bench) file(name string) string { return filepath.Join(b.folder, name) }
