// Package benchlearners is gramlab bench large, which measures learners that have a machine per class,
// linear ones, kernel machines on landmarks, and logistic regression, against scikit-learn's LinearSVC,
// Nystroem and LogisticRegression on the same vectors in the same run:
//
//	make bench-large                                    with what is installed
//	make bench-large DATA=corpora PYTHON=venv/bin/python ARGS='-only MNIST -landmarks 256,1024'
//
// Linear and kernel machines learn from tfidf of texts, or from images scaled to length 1; kernel
// machines compare them by exp(-γ‖x-y‖²), which both programs have, and the exact one is a line.
// Logistic regression, with Euclidean and with spherical margins, learns from √θ of every other page
// of WebKB, and is tested on the others. Seconds are those of training: gram embeds within them
// and computes the matrix, scikit-learn has the vectors ready. Objectives are sums over the machines.
// Programs run in turn; the table has the median of the rounds, and the accuracy on the documents for
// tests. What is missing is left out, which the command says.
package benchlearners

import (
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/peers"
)

//go:embed peers.py
var script string

// bench is one run.
type bench struct {
	peers.Bench
	only   string
	marks  []int // numbers of landmarks
	c      float64
	exact  bool
	plot   string
	panels []*chart.Chart
}

// corpora are what is measured. Without documents for tests, these are every other one.
var corpora = []dataset{
	{"20 Newsgroups", "20news-bydate/train.tsv.gz", "20news-bydate/test.tsv.gz", "tfidf-l2", 0.5, nil},
	{"MNIST", "mnist/train-images-idx3-ubyte.gz", "mnist/t10k-images-idx3-ubyte.gz", "tf-l2", 5, nil},
	{"WebKB", "webkb/all.tsv.gz", "", "tf-l1-sqrt", 0, []string{"-min-df", "1"}},
}

type dataset struct {
	name, train, test, embedding string
	gamma                        float64 // of kernel machines; 0 for logistic regression alone
	read                         []string
}

// Program is the comparison.
var Program = peers.Program{
	Name: "large", New: setup,
	Summary: "linear machines, landmarks and logistic regression against scikit-learn's (an hour)",
}

func setup() (*peers.Bench, peers.Command) {
	b := &bench{}
	landmarks := "256,1024,4096"
	return &b.Bench, peers.Command{
		Rounds: 3,
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&b.only, "only", "", "measure on the corpora with these letters in their names only")
			set.StringVar(&landmarks, "landmarks", landmarks, "numbers of landmarks; none for linear machines alone")
			set.Float64Var(&b.c, "c", 10, "C of kernel machines and logistic regression; linear machines have 1")
			set.BoolVar(&b.exact, "exact", true, "train the exact kernel machine, too")
			set.StringVar(&b.plot, "plot", "", "draw accuracy and seconds over the landmarks into `FILE`.svg")
		},
		Valid: func() bool {
			for word := range strings.FieldsFuncSeq(landmarks, func(r rune) bool { return r == ',' }) {
				m, err := strconv.Atoi(word)
				if err != nil || m < 1 {
					return false
				}
				b.marks = append(b.marks, m)
			}
			return b.c > 0
		},
		Expected: "-landmarks of whole numbers above 0 or none, -c above 0",
		Measure:  b.all,
	}
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context) error {
	b.NeedPython(ctx, "sklearn")
	fmt.Fprintf(b.Out, "%s; C = %v, of linear machines 1; median of %d runs\n", b.Head(), b.c, b.Rounds)
	for _, c := range corpora {
		if !strings.Contains(c.name, b.only) {
			continue
		}
		found, err := b.find(&c)
		if found && err == nil {
			err = b.measure(ctx, &c)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if b.plot == "" || len(b.panels) == 0 {
		return nil
	}
	return chart.Save(b.plot, 16, 11, b.panels...)
}

// find finds the files of a corpus, or writes halves of one without documents for tests.
func (b *bench) find(c *dataset) (bool, error) {
	train, test := b.Find(c.name, c.train), ""
	if c.test != "" && train != "" {
		test = b.Find(c.name, c.test)
	}
	if c.test != "" || train == "" {
		c.train, c.test = train, test
		return train != "" && test != "", nil
	}
	lines, err := peers.ReadLines(train)
	if err != nil {
		return false, err
	}
	peers.ShortLabels(lines)
	var halves [2][]string
	for i, line := range lines {
		halves[i%2] = append(halves[i%2], line)
	}
	c.train, c.test = b.File("train.tsv"), b.File("test.tsv")
	return true, cmp.Or(peers.WriteLines(c.train, halves[0]), peers.WriteLines(c.test, halves[1]))
}

// way is one way to learn.
type way struct {
	curve, name string
	own         []string // flags of gram train; nil for scikit-learn
	peer        string   // what peers.py calls it
	c           float64
	landmarks   int  // 0 for none
	sums        bool // objectives
}

// ways returns the ways to learn on a corpus.
func (b *bench) ways(c *dataset) (ways []way) {
	price := []string{"-c", fmt.Sprint(b.c)}
	own := func(name string, flags ...string) way {
		return way{curve: name, name: name, own: append(flags, "-embed", c.embedding)}
	}
	peer := func(w way) {
		if w.name = cmp.Or(w.name, w.peer); b.Python != "" {
			w.curve = cmp.Or(w.curve, w.name)
			ways = append(ways, w)
		}
	}
	if c.gamma == 0 {
		for _, learner := range []string{"logistic", "sphere-logistic"} {
			w := own("-type "+learner, slices.Concat(price, []string{"-type", learner, "-scheme", "one-vs-rest"})...)
			w.sums = true
			ways = append(ways, w)
		}
		peer(way{peer: "LogisticRegression, lbfgs", c: b.c, sums: true})
		peer(way{peer: "LogisticRegression, liblinear", c: b.c, sums: true})
		return ways
	}
	kernel := slices.Concat(price, []string{"-kernel", fmt.Sprintf("rbf:gamma=%v", c.gamma)})
	linear := own("-type linear", "-type", "linear")
	linear.sums = true
	ways = append(ways, linear)
	peer(way{peer: "LinearSVC", c: 1, sums: true})
	for _, m := range b.marks {
		w := own("-landmarks", slices.Concat(kernel, []string{"-landmarks", fmt.Sprint(m), "-loss", "hinge2"})...)
		w.name, w.landmarks = fmt.Sprintf("-landmarks %d", m), m
		ways = append(ways, w)
		peer(way{curve: "Nystroem and LinearSVC", name: fmt.Sprintf("Nystroem, %d, and LinearSVC", m), peer: "Nystroem",
			c: b.c, landmarks: m})
	}
	if b.exact {
		ways = append(ways, own("exact", slices.Concat(kernel, []string{"-scheme", "one-vs-rest"})...))
	}
	return ways
}

// result is what a way came to.
type result struct {
	Seconds, Accuracy, Objective float64
	program                      string
}

// measure measures all ways on a corpus.
func (b *bench) measure(ctx context.Context, c *dataset) error {
	ways := b.ways(c)
	if b.Python != "" {
		if err := cmp.Or(b.Vectors(ctx, c.train, "", c.embedding, b.File("train"), c.read...),
			b.Vectors(ctx, c.test, c.train, c.embedding, b.File("test"), c.read...)); err != nil {
			return err
		}
	}
	results := make([][]result, len(ways))
	for range b.Rounds {
		for k, w := range ways {
			r, err := b.once(ctx, w, c)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			results[k] = append(results[k], r)
		}
	}
	fmt.Fprintf(b.Out, "\n%s, %s", c.name, c.embedding)
	if c.gamma > 0 {
		fmt.Fprintf(b.Out, ", exp(-%v ‖x-y‖²)", c.gamma)
	}
	fmt.Fprintln(b.Out)
	t, medians := report.NewTable("program", ">seconds", ">accuracy", ">objective"), make([]result, len(ways))
	for k, w := range ways {
		slices.SortFunc(results[k], func(a, b result) int { return cmp.Compare(a.Seconds, b.Seconds) })
		r := results[k][len(results[k])/2]
		medians[k] = r
		objective := ""
		if w.sums {
			objective = fmt.Sprintf("%.2f", r.Objective)
		}
		t.Add(r.program+w.name, fmt.Sprintf("%.2f", r.Seconds), fmt.Sprintf("%.2f%%", 100*r.Accuracy), objective)
	}
	t.Write(b.Out)
	b.curves(c, ways, medians)
	return nil
}

// once learns one way.
func (b *bench) once(ctx context.Context, w way, c *dataset) (r result, err error) {
	if w.own == nil {
		ran, err := b.Script(ctx, &r, script, b.File("train"), b.File("test"), w.peer, fmt.Sprint(w.c),
			fmt.Sprint(w.landmarks), fmt.Sprint(c.gamma), fmt.Sprint(b.Threads))
		r.program = "scikit-learn " + ran.Version + ": "
		return r, err
	}
	var trained struct {
		Seconds float64
		Read    float64 `json:"seconds_read"`
		Write   float64 `json:"seconds_write"`
		Rows    []struct{ Objective float64 }
	}
	model := b.File("model")
	args := slices.Concat([]string{"train", "-in", c.train, "-o", model}, c.read, w.own)
	if _, err := b.Own(ctx, &trained, args...); err != nil {
		return r, err
	}
	_, err = b.Own(ctx, &r, "predict", "-in", c.test, "-model", model, "-o", b.File("predicted"))
	r.program, r.Seconds = "gram ", trained.Seconds-trained.Read-trained.Write // predict has seconds, too
	for _, row := range trained.Rows {
		r.Objective += row.Objective
	}
	return r, err
}
