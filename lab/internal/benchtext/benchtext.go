// Package benchtext is gramlab bench text, which measures how well and how fast grambench predicts from
// raw text, against scikit-learn's TfidfVectorizer and LinearSVC, on the same documents.
//
//	make bench-text                               on what is in the data folder
//	make bench-text DATA=corpora PYTHON=python3.12 ARGS='-only Reuters'
//
// Corpora: WebKB by 5 folds, TREC, Chinese reviews, Somali news, Reuters-21578 (all topics, R8, R52) and 20
// Newsgroups by their test sets, and the first images of MNIST. Programs, each from the text to predicted labels:
//
//   - grambench train without options, and grambench predict;
//   - grambench grid without options but -o, and predict;
//   - LinearSVC with all defaults;
//   - LinearSVC on words 1..2 and characters 2..5 within words, with sublinear_tf;
//   - LinearSVC searched over C from 0.1 to 10, sublinear_tf, and bigrams, by the folds that grid
//     has in its last round.
//
// The figures are counted here, of the lines that each program writes; the regret of train's choice
// is that of the first fold where there are folds. The last table has a line per corpus, in Markdown.
// Seconds are those of whole processes, and peak memory the greatest of these. linear.py is what
// Python runs. What is missing is left out, which the command says.
package benchtext

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"github.com/gramengine/gram/lab/internal/peers"
)

// bench is one run.
type bench struct {
	peers.Bench
	only   string
	images int
	search bool

	grids, regrets bool
}

// Program is the comparison.
var Program = peers.Program{
	Name: "text", Summary: "accuracy, time and memory on raw text against scikit-learn's LinearSVC (an hour)", New: setup,
}

func setup() (*peers.Bench, peers.Command) {
	b := &bench{}
	return &b.Bench, peers.Command{
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&b.only, "only", "", "measure on corpora with this in their name only")
			set.IntVar(&b.images, "images", 10000, "training images of MNIST, the first so many")
			set.BoolVar(&b.grids, "grids", true, "measure grambench grid, too")
			set.BoolVar(&b.regrets, "regret", true, "validate all that train chooses from, which says what its choice lost")
			set.BoolVar(&b.search, "search", true, "measure LinearSVC's search, too, which takes the longest")
		},
		Valid:    func() bool { return b.images >= 100 },
		Expected: "-images of at least 100",
		Measure:  b.all,
	}
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context) error {
	b.NeedPython(ctx, "numpy, sklearn.svm")
	fmt.Fprintln(b.Out, b.Head())
	var trials []*trial
	var lost []float64
	for _, c := range corpora {
		if !strings.Contains(c.name, b.only) || b.Find(c.name, c.train) == "" {
			continue
		}
		t := &trial{bench: b, corpus: c}
		if err := t.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintln(b.Out)
		t.write(b.Out)
		trials, lost = append(trials, t), append(lost, t.lost...)
	}
	if len(trials) > 0 {
		fmt.Fprint(b.Out, "\naccuracy, or micro and macro F1 where documents have several labels:\n\n")
		summary(b.Out, trials)
	}
	if len(lost) > 0 {
		fmt.Fprintf(b.Out, "\nregret of train: %.2f points on the mean over corpora\n", 100*mean(lost))
	}
	return nil
}
