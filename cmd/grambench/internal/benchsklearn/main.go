// Command benchsklearn times logistic regression one against all on WebKB, with Euclidean and with
// spherical margins, beside scikit-learn's LogisticRegression on the same documents, C and, to about
// the same value of the objective, tolerance:
//
//	make build && go run ./cmd/grambench/internal/benchsklearn -data DIR
//
// DIR has the corpora of grambench repro. Without a Python that has scikit-learn it measures package
// logistic alone, in this process. Runs are interleaved; a row has the median of seconds, the
// accuracy on a half of the pages that wasn't trained on, the same for all, and the sum of the
// machines' objectives on the other half. Seconds are those of training on all pages, from embedded
// documents on.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/beside"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/solver/logistic"
	"github.com/gramengine/gram/sparse"
)

//go:embed regression.py
var script string

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// bench is one run.
type bench struct {
	beside.Bench
	c      float64
	rounds int
}

// run is the whole program; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{}
	return b.Run("benchsklearn", args, stderr, beside.Command{
		Flags: func(set *flag.FlagSet) {
			set.Float64Var(&b.c, "c", 10, "C")
			set.IntVar(&b.rounds, "rounds", 3, "runs of each")
		},
		Valid:    func() bool { return b.rounds >= 1 && b.c > 0 },
		Expected: "-rounds of at least 1 and -c above 0",
		Measure:  func(ctx context.Context) error { return b.all(ctx, stdout) },
	})
}

// outcome is what a program found, as regression.py prints it.
type outcome struct {
	Program   string  `json:"program"`
	Seconds   float64 `json:"seconds"` // training on all pages
	Right     float64 `json:"right"`   // share of the pages that weren't trained on
	Objective float64 `json:"objective"`
}

// all measures and writes the table.
func (b *bench) all(ctx context.Context, stdout io.Writer) error {
	path := b.Find("WebKB", "webkb", "all.tsv.gz")
	if path == "" {
		return nil
	}
	b.NeedPython(ctx, "numpy, sklearn.linear_model")
	corpus, err := webKB(ctx, path)
	if err != nil {
		return err
	}
	var train, test []int
	for i := range corpus.Documents.Rows() {
		if i%2 == 0 {
			train = append(train, i)
		} else {
			test = append(test, i)
		}
	}
	x, err := sparse.Sphere.Fit(corpus.Documents).Transform(corpus.Documents)
	if err != nil {
		return err
	}
	file := b.File("webkb.svm")
	if err := write(file, x, corpus); err != nil {
		return err
	}
	seconds := map[string][]float64{}
	last := map[string]outcome{}
	var order []string
	for range b.rounds {
		for _, margin := range []logistic.Margin{logistic.Euclidean, logistic.Spherical} {
			o, err := b.own(ctx, corpus, train, test, logistic.Settings{Margin: margin, C: b.c})
			if err != nil {
				return err
			}
			last[o.Program] = o
		}
		if b.Python != "" {
			var others []outcome
			if _, err := b.Script(ctx, &others, script, file, fmt.Sprint(b.c), fmt.Sprint(b.Threads)); err != nil {
				return err
			}
			for _, o := range others {
				last[o.Program] = o
			}
		}
		for name, o := range last {
			if seconds[name] = append(seconds[name], o.Seconds); !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
	}
	slices.Sort(order)
	fmt.Fprintf(stdout, "%s\nWebKB: %s, %d terms, tf-l1-sqrt, C = %v, one against all\n", b.Head(),
		report.Documents(corpus.Documents.Rows()), x.Cols-1, b.c)
	t := report.NewTable("program", ">seconds", ">accuracy", ">objective")
	for _, name := range order {
		s := seconds[name]
		slices.Sort(s)
		t.Add(name, fmt.Sprintf("%.2f", s[len(s)/2]), fmt.Sprintf("%.2f%%", 100*last[name].Right),
			fmt.Sprintf("%.2f", last[name].Objective))
	}
	t.Write(stdout)
	return nil
}

// webKB reads the pages with their classes, without universities.
func webKB(ctx context.Context, path string) (*sparse.Corpus, error) {
	c, err := sparse.Read(ctx, path, sparse.Options{Format: sparse.FormatTSV, MinDF: 1})
	if err != nil {
		return nil, err
	}
	var classes []string
	var labels sparse.Labels
	for i := range c.Documents.Rows() {
		class, _, _ := strings.Cut(c.Classes[c.Labels.Of(i)[0]], "|")
		at := slices.Index(classes, class)
		if at < 0 {
			at, classes = len(classes), append(classes, class)
		}
		labels.Add(int32(at))
	}
	c.Classes, c.Labels = classes, labels
	return c, nil
}

// write writes embedded documents as scikit-learn reads them.
func write(path string, x *sparse.Embedded, c *sparse.Corpus) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for i := range x.Rows() {
		fmt.Fprint(w, c.Labels.Of(i)[0])
		terms, values := x.Row(i)
		for k, t := range terms {
			fmt.Fprintf(w, " %d:%v", t+1, values[k])
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// own trains on one half and tests on the other, and times training on all.
func (b *bench) own(ctx context.Context, c *sparse.Corpus, train, test []int, s logistic.Settings) (outcome, error) {
	o := outcome{Program: "grambench, " + s.Margin.String()}
	begin := time.Now()
	if _, err := logistic.Train(ctx, c, sparse.Sphere, s, logistic.Options{Workers: b.Threads}); err != nil {
		return o, err
	}
	o.Seconds = time.Since(begin).Seconds()
	m, err := logistic.Train(ctx, c.Select(train), sparse.Sphere, s, logistic.Options{Workers: b.Threads})
	if err != nil {
		return o, err
	}
	held := c.Select(test)
	p, err := m.Predict(ctx, held.Documents, logistic.Options{Workers: b.Threads})
	if err != nil {
		return o, err
	}
	for i, class := range p.Class {
		if int32(class) == held.Labels.Of(i)[0] {
			o.Right += 1 / float64(len(test))
		}
	}
	for _, q := range m.Machines {
		o.Objective += q.Value
	}
	if math.IsNaN(o.Objective) {
		return o, fmt.Errorf("%s: the objective is NaN", o.Program)
	}
	return o, nil
}
