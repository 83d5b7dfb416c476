// Command benchsklearn times logistic regression one against all on WebKB, with Euclidean and with
// spherical margins, beside scikit-learn's LogisticRegression on the same documents, C and, to about
// the same value of the objective, tolerance:
//
//	go run ./cmd/grambench/internal/benchsklearn -data DIR
//
// DIR has the corpora of grambench repro. It needs python3 with scikit-learn. Runs are interleaved; a
// row has the median of seconds, the accuracy on a half of the pages that wasn't trained on, the
// same for all, and the sum of the machines' objectives on the other half. Seconds are those of
// training on all pages, from embedded documents on.
package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/solver/logistic"
	"github.com/gramengine/gram/sparse"
)

//go:embed regression.py
var script string

func main() {
	data := flag.String("data", "", "folder of corpora")
	c := flag.Float64("c", 10, "C")
	rounds := flag.Int("n", 3, "rounds")
	flag.Parse()
	if err := run(context.Background(), *data, *c, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "benchsklearn:", err)
		os.Exit(1)
	}
}

// outcome is what a program found, as regression.py prints it.
type outcome struct {
	Program   string  `json:"program"`
	Seconds   float64 `json:"seconds"` // training on all pages
	Right     float64 `json:"right"`   // share of the pages that weren't trained on
	Objective float64 `json:"objective"`
}

func run(ctx context.Context, data string, c float64, rounds int) error {
	corpus, err := webKB(ctx, filepath.Join(data, "webkb", "all.tsv.gz"))
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
	dir, err := os.MkdirTemp("", "benchsklearn")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x, err := sparse.Sphere.Fit(corpus.Documents).Transform(corpus.Documents)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "webkb.svm")
	if err := write(file, x, corpus); err != nil {
		return err
	}
	seconds := map[string][]float64{}
	last := map[string]outcome{}
	var order []string
	for range rounds {
		for _, margin := range []logistic.Margin{logistic.Euclidean, logistic.Spherical} {
			o, err := own(ctx, corpus, train, test, logistic.Settings{Margin: margin, C: c})
			if err != nil {
				return err
			}
			last[o.Program] = o
		}
		python := exec.CommandContext(ctx, "python3", "-c", script, file, fmt.Sprint(c))
		python.Stderr = os.Stderr
		out, err := python.Output()
		if err != nil {
			return fmt.Errorf("python3 with scikit-learn: %w", err)
		}
		for line := range strings.Lines(string(out)) {
			var o outcome
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				return err
			}
			last[o.Program] = o
		}
		for name, o := range last {
			if seconds[name] = append(seconds[name], o.Seconds); !slices.Contains(order, name) {
				order = append(order, name)
			}
		}
	}
	slices.Sort(order)
	fmt.Printf("WebKB: %s, %d terms, tf-l1-sqrt, C = %v, one against all, %d cores\n",
		report.Documents(corpus.Documents.Rows()), x.Cols-1, c, runtime.NumCPU())
	t := report.NewTable("program", ">seconds", ">accuracy", ">objective")
	for _, name := range order {
		s := seconds[name]
		slices.Sort(s)
		t.Add(name, fmt.Sprintf("%.2f", s[len(s)/2]), fmt.Sprintf("%.2f%%", 100*last[name].Right),
			fmt.Sprintf("%.2f", last[name].Objective))
	}
	t.Write(os.Stdout)
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
func own(ctx context.Context, c *sparse.Corpus, train, test []int, s logistic.Settings) (outcome, error) {
	o := outcome{Program: "grambench, " + s.Margin.String()}
	begin := time.Now()
	if _, err := logistic.Train(ctx, c, sparse.Sphere, s, logistic.Options{}); err != nil {
		return o, err
	}
	o.Seconds = time.Since(begin).Seconds()
	m, err := logistic.Train(ctx, c.Select(train), sparse.Sphere, s, logistic.Options{})
	if err != nil {
		return o, err
	}
	held := c.Select(test)
	p, err := m.Predict(ctx, held.Documents, logistic.Options{})
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
