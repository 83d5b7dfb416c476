// Command benchlarge measures what trains on many documents, linear machines and kernel machines on
// landmarks, against scikit-learn's LinearSVC and Nystroem on the same vectors in the same run, with
// the exact kernel machine as a line:
//
//	make bench-large                                    with what is installed
//	make bench-large DATA=corpora PYTHON=venv/bin/python ARGS='-only MNIST -landmarks 256,1024'
//
// All learn from tfidf of texts, or from images scaled to length 1; kernel machines compare them by
// exp(-γ‖x-y‖²), which both programs have. Seconds are those of training: grambench embeds within
// them and computes the matrix, scikit-learn has the vectors ready. Programs run in turn; the table
// has the median of the rounds, and the accuracy on the documents for tests. What is missing is left
// out, which the command says.
package main

import (
	"bufio"
	"cmp"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/cmd/grambench/internal/beside"
	"github.com/gramengine/gram/cmd/grambench/internal/chart"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/plot"
)

//go:embed peers.py
var script string

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// bench is one run.
type bench struct {
	beside.Bench
	only, landmarks string
	c               float64
	rounds          int
	exact           bool
	plot            string
	out             io.Writer
	panels          []*plot.Plot
}

// corpora are what is measured.
var corpora = []corpus{
	{"20 Newsgroups", "20news-bydate", "train.tsv.gz", "test.tsv.gz", "tfidf-l2", 0.5},
	{"MNIST", "mnist", "train-images-idx3-ubyte.gz", "t10k-images-idx3-ubyte.gz", "tf-l2", 5},
}

type corpus struct {
	name, folder, train, test, embedding string
	gamma                                float64
}

// run is the whole program; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{out: stdout}
	return b.Run("benchlarge", args, stderr, beside.Command{
		Flags: func(set *flag.FlagSet) {
			set.StringVar(&b.only, "only", "", "measure on the corpora with these letters in their names only")
			set.StringVar(&b.landmarks, "landmarks", "256,1024,4096", "numbers of landmarks; none for linear machines alone")
			set.Float64Var(&b.c, "c", 10, "C of kernel machines; linear ones have 1")
			set.IntVar(&b.rounds, "rounds", 3, "runs of each")
			set.BoolVar(&b.exact, "exact", true, "train the exact kernel machine, too")
			set.StringVar(&b.plot, "plot", "", "draw accuracy and seconds over the landmarks into `FILE`.png")
		},
		Valid: func() bool {
			_, err := b.numbers()
			return err == nil && b.rounds >= 1 && b.c > 0
		},
		Expected: "-landmarks of whole numbers above 0 or none, -rounds of at least 1, -c above 0",
		Measure:  b.all,
	})
}

// numbers are those of landmarks.
func (b *bench) numbers() (list []int, err error) {
	if b.landmarks == "" {
		return nil, nil
	}
	for word := range strings.SplitSeq(b.landmarks, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-landmarks %q", b.landmarks)
		}
		list = append(list, n)
	}
	return list, nil
}

// all measures on all corpora.
func (b *bench) all(ctx context.Context) error {
	b.NeedPython(ctx, "sklearn")
	fmt.Fprintf(b.out, "%s; C = %v, of linear machines 1; median of %d runs\n", b.Head(), b.c, b.rounds)
	for _, c := range corpora {
		if !strings.Contains(c.name, b.only) {
			continue
		}
		c.train, c.test = b.Find(c.name, c.folder, c.train), b.Find(c.name, c.folder, c.test)
		if c.train == "" || c.test == "" {
			continue
		}
		if err := b.measure(ctx, &c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	if b.plot == "" || len(b.panels) == 0 {
		return nil
	}
	return chart.Save(b.plot, 16, 11, b.panels...)
}

// way is one way to learn.
type way struct {
	curve, name string
	own         []string // flags of grambench train; nil for scikit-learn
	landmarks   int      // 0 for none
}

// result is what a way came to.
type result struct {
	Seconds   float64 `json:"seconds"`
	Accuracy  float64 `json:"accuracy"`
	Objective float64 `json:"objective"` // of linear machines
	Version   string  `json:"version"`
}

// measure measures all ways on a corpus.
func (b *bench) measure(ctx context.Context, c *corpus) error {
	kernel := []string{"-kernel", fmt.Sprintf("rbf:gamma=%v", c.gamma), "-c", fmt.Sprint(b.c)}
	ways := []way{{curve: "-type linear", name: "-type linear", own: []string{"-type", "linear"}}}
	if b.Python != "" {
		ways = append(ways, way{curve: "LinearSVC", name: "LinearSVC"})
	}
	numbers, _ := b.numbers()
	for _, m := range numbers {
		ways = append(ways, way{curve: "-landmarks", name: fmt.Sprintf("-landmarks %d", m), landmarks: m,
			own: append([]string{"-landmarks", fmt.Sprint(m), "-loss", "hinge2"}, kernel...)})
		if b.Python != "" {
			name := fmt.Sprintf("Nystroem, %d, and LinearSVC", m)
			ways = append(ways, way{curve: "Nystroem and LinearSVC", name: name, landmarks: m})
		}
	}
	if b.exact {
		ways = append(ways, way{curve: "exact", name: "exact", own: append([]string{"-scheme", "one-vs-rest"}, kernel...)})
	}
	if b.Python != "" {
		if err := b.write(ctx, c); err != nil {
			return err
		}
	}
	results := make([][]result, len(ways))
	for range b.rounds {
		for k, w := range ways {
			r, err := b.once(ctx, w, c)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			results[k] = append(results[k], r)
		}
	}
	fmt.Fprintf(b.out, "\n%s, %s, exp(-%v ‖x-y‖²)\n", c.name, c.embedding, c.gamma)
	t, medians := report.NewTable("program", ">seconds", ">accuracy", ">objective"), make([]result, len(ways))
	for k, w := range ways {
		slices.SortFunc(results[k], func(a, b result) int { return cmp.Compare(a.Seconds, b.Seconds) })
		r := results[k][len(results[k])/2]
		medians[k] = r
		objective := ""
		if r.Objective > 0 {
			objective = fmt.Sprintf("%.2f", r.Objective)
		}
		t.Add(r.Version+w.name, fmt.Sprintf("%.2f", r.Seconds), fmt.Sprintf("%.2f%%", 100*r.Accuracy), objective)
	}
	t.Write(b.out)
	b.curves(c, ways, medians)
	return nil
}

// once learns one way.
func (b *bench) once(ctx context.Context, w way, c *corpus) (r result, err error) {
	if w.own == nil {
		price := b.c
		if w.landmarks == 0 {
			price = 1
		}
		_, err = b.Script(ctx, &r, script, b.File("train"), b.File("test"), fmt.Sprint(price), fmt.Sprint(w.landmarks),
			fmt.Sprint(c.gamma))
		r.Version = "scikit-learn " + r.Version + ": "
		return r, err
	}
	var trained struct {
		Seconds float64 `json:"seconds"`
		Read    float64 `json:"seconds_read"`
		Write   float64 `json:"seconds_write"`
		Rows    []struct {
			Objective float64 `json:"objective"`
		} `json:"rows"`
	}
	model := b.File("model")
	if _, err := b.Own(ctx, &trained, append([]string{"train", "-in", c.train, "-o", model, "-embed",
		c.embedding}, w.own...)...); err != nil {
		return r, err
	}
	if w.own[0] == "-type" {
		for _, row := range trained.Rows {
			r.Objective += row.Objective
		}
	}
	_, err = b.Own(ctx, &r, "predict", "-in", c.test, "-model", model, "-o", b.File("predicted"))
	r.Version, r.Seconds = "grambench ", trained.Seconds-trained.Read-trained.Write // predict has seconds, too
	return r, err
}

// write writes the vectors that machines see, for scikit-learn.
func (b *bench) write(ctx context.Context, c *corpus) error {
	train, err := sparse.Read(ctx, c.train, sparse.Options{})
	if err != nil {
		return err
	}
	test, err := sparse.Read(ctx, c.test, sparse.Options{Vocabulary: train.Vocabulary})
	if err != nil {
		return err
	}
	e, err := sparse.ParseEmbedding(c.embedding)
	if err != nil {
		return err
	}
	f := e.Fit(train.Documents)
	for part, documents := range map[string]*sparse.Corpus{"train": train, "test": test} {
		x, err := f.Transform(documents.Documents)
		if err != nil {
			return err
		}
		if err := writeVectors(b.File(part), x, documents); err != nil {
			return err
		}
	}
	return nil
}

// writeVectors writes embedded documents with the names of their classes as whole numbers.
func writeVectors(path string, x *sparse.Embedded, c *sparse.Corpus) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	names := slices.Sorted(slices.Values(c.Classes)) // the same numbers for both parts
	var row []float64
	for i := range x.Rows() {
		class, _ := slices.BinarySearch(names, c.Classes[c.Labels.Of(i)[0]])
		fmt.Fprint(w, class)
		terms, _ := x.Row(i)
		row = x.Vector64(i, row)
		for k, t := range terms {
			fmt.Fprintf(w, " %d:%.9g", t+1, row[k])
		}
		if len(terms) == 0 || int(terms[len(terms)-1]) < x.Cols-1 {
			fmt.Fprintf(w, " %d:0", x.Cols) // so that all files have as many columns
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
