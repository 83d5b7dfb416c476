// Package benchtext is gramlab bench text, which measures how well and how fast gram predicts from
// raw text, against scikit-learn's TfidfVectorizer and LinearSVC, on the same documents.
//
//	make bench-text                               on what is in the data folder
//	make bench-text DATA=corpora PYTHON=python3.12 ARGS='-only Reuters'
//
// Corpora: WebKB by 5 folds, TREC, Chinese reviews, Somali news, Reuters-21578 (all topics, R8, R52) and 20
// Newsgroups by their test sets, and the first images of MNIST. Programs, each from the text to predicted labels:
//
//   - gram train without options, and gram predict;
//   - gram grid without options but -o, and predict;
//   - LinearSVC with all defaults;
//   - LinearSVC on words 1..2 and characters 2..5 within words, with sublinear_tf;
//   - LinearSVC searched over C from 0.1 to 10, sublinear_tf, and bigrams, by the folds that grid
//     has in its last round.
//
// The figures are counted here, of the lines that each program writes. The regret of train's choice is what grid finds
// by 5 folds of all training documents, less what train chose by such folds: grid searches all that train chooses from,
// and beyond. Of a corpus by folds it is that of the first. The last table has a line per corpus, in Markdown.
// Seconds are those of whole processes, of the clock and of the processor, and peak memory is the greatest of these.
// linear.py is what Python runs. What is missing, or takes longer than -limit, is left out, which the command says;
// ^C ends with the table of the corpora until then.
package benchtext

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/gramengine/gram/lab/internal/peers"
)

// bench is one run.
type bench struct {
	peers.Bench
	only   string
	images int
	limit  time.Duration

	grids, search bool
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
			set.BoolVar(&b.grids, "grids", true, "measure gram grid, too, which says what train's choice lost")
			set.BoolVar(&b.search, "search", true, "measure LinearSVC's search, too, which takes the longest")
			set.DurationVar(&b.limit, "limit", 0, "leave out programs, but for train, that take longer than `D`; 0: none")
		},
		Valid:    func() bool { return b.images >= 100 && b.limit >= 0 },
		Expected: "-images of at least 100, and no -limit below 0",
		Measure:  b.all,
	}
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context) (err error) {
	b.NeedPython(ctx, "numpy, sklearn.svm")
	fmt.Fprintln(b.Out, b.Head())
	var trials []*trial
	for _, c := range corpora {
		if !strings.Contains(c.name, b.only) || b.Find(c.name, c.train) == "" {
			continue
		}
		t := &trial{bench: b, corpus: c}
		if err = t.measure(ctx); err != nil {
			err = fmt.Errorf("%s: %w", c.name, err)
			break
		}
		fmt.Fprintln(b.Out)
		t.write(b.Out)
		trials = append(trials, t)
	}
	if len(trials) > 0 {
		fmt.Fprint(b.Out, "\naccuracy, or micro and macro F1 where documents have several labels; processor time\n\n")
		summary(b.Out, trials)
	}
	return err
}
