// Package benchlibsvm is gramlab bench libsvm, which measures gram against LIBSVM's programs and
// scikit-learn, on the same documents in the same run.
//
//	make bench-libsvm                              with what is installed
//	make bench-libsvm SVM_TRAIN=/opt/libsvm/svm-train SVM_PREDICT=/opt/libsvm/svm-predict \
//		DATA=corpora ARGS='-rounds 3'
//
// For each corpus it trains one against one and, where there are test documents, predicts them:
//
//   - svm-train -t 2 and svm-predict on the embedded documents that gram corpus -o writes,
//     square roots of relative word frequencies;
//   - gram train and predict with the same kernel, C and tolerance, from the text;
//   - gram with the kernel of information geometry that such documents are meant for, which
//     LIBSVM doesn't have;
//   - the solver alone on that kernel: scikit-learn's SVC on the ready matrix, against the time
//     that gram train spends in its solver, whose matrix is ready too if memory holds it.
//
// Seconds of train and predict are those of whole processes, files read and written included. The
// other programs run -rounds times, gram -own times before and after each, so that a machine
// that gets slower or faster meanwhile shows in the spread. The table has the median, the least and
// the greatest time. "cores" is processor time by elapsed time: near 1 for an svm-train that was
// built without OpenMP, as Debian's is.
//
// A program that is missing is left out, which the command says. If svm-train is there, the command
// fails where the dual objectives of a pair of classes differ by more than 10⁻⁵, or fewer than 99.9
// % of the predictions are the same.
package benchlibsvm

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gramengine/gram/lab/internal/peers"
)

// bench is one run.
type bench struct {
	peers.Bench
	svmTrain, svmPredict string

	train, test string
	c, gamma    float64
	kernel      string
	own         int
}

// Program is the comparison.
var Program = peers.Program{
	Name: "libsvm", New: setup,
	Summary: "train and predict against LIBSVM and scikit-learn, with the same optima (minutes)",
}

func setup() (*peers.Bench, peers.Command) {
	b := &bench{}
	return &b.Bench, peers.Command{
		Rounds: 1,
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&b.svmTrain, "svm-train", cmp.Or(os.Getenv("SVM_TRAIN"), "svm-train"),
				"LIBSVM's svm-train; default $SVM_TRAIN")
			set.StringVar(&b.svmPredict, "svm-predict", cmp.Or(os.Getenv("SVM_PREDICT"), "svm-predict"),
				"LIBSVM's svm-predict; default $SVM_PREDICT")
			set.StringVar(&b.train, "train", "",
				"measure on these training documents only: anything that gram -in takes")
			set.StringVar(&b.test, "test", "", "test documents for -train")
			set.Float64Var(&b.c, "c", 10, "C, the price of a violated margin")
			set.Float64Var(&b.gamma, "gamma", 1, "gamma of the Gaussian kernel")
			set.StringVar(&b.kernel, "kernel", "diffusion:t=0.5", "kernel on the sphere, for gram alone")
			set.IntVar(&b.own, "own", 5, "runs of gram before and after each of them")
		},
		Valid:    func() bool { return b.own >= 1 && (b.test == "" || b.train != "") },
		Expected: "-own of at least 1, and -test with -train alone",
		Measure:  b.all,
	}
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context) error {
	fmt.Fprintf(b.Out, "%s, median of %d runs of gram, of %d of the others\n", b.Head(), b.own*(b.Rounds+1),
		b.Rounds)
	b.findOthers(ctx)
	passed := true
	for _, c := range b.corpora() {
		t := &trial{bench: b, corpus: c}
		if err := t.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintln(b.Out)
		passed = t.write(b.Out) && passed
	}
	if !passed {
		return errors.New("something isn't the same as LIBSVM's")
	}
	return nil
}

// corpus is a corpus to measure on.
type dataset struct{ name, train, test string } // test is "" where there are no test documents

// corpora returns what there is to measure on, and says what is missing.
func (b *bench) corpora() []dataset {
	if b.train != "" {
		return []dataset{{filepath.Base(b.train), b.train, b.test}}
	}
	all := []dataset{{name: "Go standard library", train: "goroot"}}
	if train := b.Find("20 Newsgroups", "20news-bydate", "train.tsv.gz"); train != "" {
		all = append(all, dataset{"20 Newsgroups", train, filepath.Join(filepath.Dir(train), "test.tsv.gz")})
	}
	return all
}
