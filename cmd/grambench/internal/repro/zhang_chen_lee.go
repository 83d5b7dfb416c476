package repro

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/svm"
)

// zhangChenLee is the experiment of the paper with the negative geodesic distance.
var zhangChenLee = Experiment{
	Name:  "zhang-chen-lee",
	Paper: "Zhang, Chen and Lee, Text Classification with Kernels on the Multinomial Manifold, SIGIR 2005, §5",
	Data:  "webkb, 20news-bydate",
	Time:  "half a minute on two cores",
	Help: `
Linear kernels and negative Euclidean distances (NED), each of documents normalised by L1 and by L2, beside the negative geodesic distance (NGD), for term
frequencies (tf) and tf×idf. One-vs-one support vector machines, accuracy, and the micro sign test with its z (Yang and Liu, SIGIR 1999), by which each
kernel is compared with NGD on the same test documents; a decision is one document's class.

  webkb          for each of cornell, texas, washington and wisconsin: training on the pages of all others, misc always among them, testing on its own; the
                 test pages of all four together make the table
  20news-bydate  the split by date

As in the paper: the kernels, the weightings, the splits, one against one, the sign test. Left open, or not known to us, and decided here:
  -c 1           the price of a violated margin is LIBSVM's default
  -min-df 2      words that one document alone has are left out (also -min-letters, -stop-words); words are runs of letters, in lower case, not stemmed
                 (WebKB: in all pages, 20 Newsgroups: in those for training); those of a test document that no training document has don't count, nor in its length
  idf            log(D/df) of the training documents, with which the weighted counts are normalised
The figures of the paper's tables aren't known to us with certainty: no column has them.

Examples:
  grambench repro zhang-chen-lee -data DIR
  grambench repro zhang-chen-lee -data DIR -sets webkb -c 10
`,
	Setup: func(f *flag.FlagSet) func(context.Context, *Run) (*Report, error) {
		z := &zhang{sets: Words{Of: []string{"webkb", "20news-bydate"}}}
		z.sets.Chosen = z.sets.Of
		f.Float64Var(&z.c, "c", 1, "`C`, the price of a violated margin")
		f.Var(&z.sets, "sets", "measure on the corpora of this `LIST`")
		f.IntVar(&z.text.MinDF, "min-df", 2, "leave out terms that fewer than `N` documents have")
		f.IntVar(&z.text.MinLetters, "min-letters", 1, "leave out terms of fewer than `N` letters")
		f.StringVar(&z.text.StopWords, "stop-words", "", "leave out the words in `FILE` (default: none are)")
		return z.run
	},
}

// zhangKernels are the rows of a table: of each weighting, all against the last. Those of one embedding share dot products.
var zhangKernels = []struct{ name, kernel, embedding string }{
	{"linear, L1", "linear", "-l1"},
	{"NED, L1", "ned", "-l1"},
	{"linear, L2", "linear", "-l2"},
	{"NED, L2", "ned", "-l2"},
	{"NGD", "ngd", "-l1-sqrt"},
}

// zhangWeightings are the halves of a table.
var zhangWeightings = []struct{ name, embedding string }{{"tf", "tf"}, {"tf×idf", "tfidf"}}

// zhang is the protocol with what the flags leave of it.
type zhang struct {
	c    float64
	sets Words
	text Preparation
}

// run measures one set after the other.
func (z *zhang) run(ctx context.Context, r *Run) (*Report, error) {
	if !(z.c > 0) || math.IsInf(z.c, 0) {
		return nil, UsageError{fmt.Errorf("-c %g, expected a number above 0", z.c)}
	}
	if err := z.text.Check(); err != nil {
		return nil, err
	}
	kernels, err := r.Kernels()
	if err != nil {
		return nil, err
	}
	sets := []struct {
		source Source
		read   func(context.Context, *Run) ([]trainTest, string, error)
	}{{WebKB, z.webkb}, {Newsgroups, z.newsgroups}}
	for _, s := range sets {
		if z.sets.Has(s.source.Name) {
			if err := r.Require(s.source); err != nil {
				return nil, err
			}
		}
	}
	report := &Report{}
	report.Set("machines", "one against one, C = %g", z.c)
	report.Set("terms", "%s", z.text)
	of := []string{fmt.Sprintf("-c %g -sets %s -isa %s, terms: %s", z.c, &z.sets, r.computer(kernels), z.text)}
	divided := map[string][]trainTest{}
	for _, s := range sets {
		if name := s.source.Name; z.sets.Has(name) {
			var digest string
			if divided[name], digest, err = s.read(ctx, r); err != nil {
				return nil, err
			}
			of = append(of, name+" "+digest)
		}
	}
	if err := r.State.Begin("zhang-chen-lee", strings.Join(of, ", ")); err != nil {
		return nil, err
	}
	for _, name := range z.sets.Chosen {
		table := zhangTable(name, divided[name])
		report.Tables = append(report.Tables, table)
		if err := z.table(ctx, r, divided[name], table, report); err != nil {
			return report, err
		}
	}
	return report, nil
}

// zhangTable is the form of a table: an accuracy for each division, where there are several, and for all documents together.
func zhangTable(set string, divided []trainTest) *Table {
	documents := 0
	for _, s := range divided {
		documents += s.test.Documents.Rows()
	}
	t := &Table{Key: set, Title: fmt.Sprintf("%s: accuracy in %% on %d test documents", set, documents)}
	t.Columns = append(t.Columns, Column{Key: "weighting", Title: "weighting", Left: true}, Column{Key: "kernel", Title: "kernel", Left: true})
	if len(divided) > 1 {
		for _, s := range divided {
			t.Columns = append(t.Columns, Column{Key: s.name + "_percent", Title: s.name})
		}
	}
	t.Columns = append(t.Columns, Column{Key: "accuracy_percent", Title: "all"}, Column{Key: "ngd_alone", Title: "only NGD right"}, Column{Key: "kernel_alone", Title: "only it right"},
		Column{Key: "z", Title: "z of NGD"}, Column{Key: "p", Title: "p"})
	return t
}

// table fills a table: all kernels of a weighting on all divisions, then the sign tests.
func (z *zhang) table(ctx context.Context, r *Run, divided []trainTest, t *Table, report *Report) error {
	step := r.Counter(t.Key, 0, int64(len(zhangWeightings)*len(zhangKernels)*len(divided)))
	for _, w := range zhangWeightings {
		right := make([][]bool, len(zhangKernels)) // of each kernel, the test documents of all divisions behind each other
		accuracy := make([][]Cell, len(zhangKernels))
		for _, d := range divided {
			var base *classifying // of the kernels of one embedding
			for k, kernel := range zhangKernels {
				if k == 0 || kernel.embedding != zhangKernels[k-1].embedding {
					if err := base.close(); err != nil {
						return err
					}
					base = r.classifying(d.name+", "+w.embedding+kernel.embedding, d.train, d.train.Documents.Bytes()+d.test.Documents.Bytes(), report)
				}
				found, err := z.cell(ctx, base, d, kernel.kernel, w.embedding+kernel.embedding)
				if err != nil {
					return errors.Join(err, base.close())
				}
				right[k] = append(right[k], found...)
				if len(divided) > 1 {
					accuracy[k] = append(accuracy[k], percent(found))
				}
				step()
			}
			if err := base.close(); err != nil {
				return err
			}
		}
		last := len(zhangKernels) - 1
		for k, kernel := range zhangKernels {
			row := append([]Cell{Word(w.name), Word(kernel.name)}, accuracy[k]...)
			row = append(row, percent(right[k]))
			if k == last {
				row = append(row, Empty(), Empty(), Empty(), Empty())
			} else {
				a, b := discordant(right[last], right[k])
				sign := SignTest(a, b)
				row = append(row, Count(a), Count(b), Value(sign.Statistic, 2), Probability(sign.P))
			}
			t.Add(row...)
		}
		report.Notes = append(report.Notes, zhangNote(t, w.name))
	}
	return nil
}

// zhangNote says in plain words whether the paper's finding, that NGD is significantly better than the others, holds for a weighting.
func zhangNote(t *Table, weighting string) string {
	var clearly, not []string
	for _, row := range t.Rows {
		p, ok := row[len(row)-1].Value.(float64)
		if !ok || row[0].Text != weighting {
			continue
		}
		if z, _ := row[len(row)-2].Value.(float64); z > 0 && p < 0.05 {
			clearly = append(clearly, row[1].Text)
		} else {
			not = append(not, fmt.Sprintf("%s (z = %s)", row[1].Text, row[len(row)-2].Text))
		}
	}
	note := fmt.Sprintf("%s, %s: NGD is better than %d of %d kernels with p < 0.05", t.Key, weighting, len(clearly), len(clearly)+len(not))
	if len(not) > 0 {
		note += "; not than " + strings.Join(not, ", ")
	}
	return note
}

// cell trains one kernel and classifies the test documents, and returns of which the class was found.
func (z *zhang) cell(ctx context.Context, base *classifying, d trainTest, kernel, embedding string) ([]bool, error) {
	state, key := base.run.State, fmt.Sprintf("%s %s %s", d.name, kernel, embedding)
	var kept string
	if ok, err := state.LoadFitting(key, &kept, func() error { return fitsBits(kept, d.test.Documents.Rows()) }); ok || err != nil {
		return bitsOf(kept), err
	}
	k, err := engine.ParseKernel(kernel + ":embed=" + embedding)
	if err != nil {
		return nil, err
	}
	o, err := base.test(ctx, svm.Settings{Kernel: k, C: z.c}, d.test)
	if err != nil {
		return nil, err
	}
	return o.Right, state.Save(key, bitString(o.Right))
}

// discordant counts where the first alone is right, and where the second alone is.
func discordant(a, b []bool) (first, second int) {
	for i := range a {
		switch {
		case a[i] && !b[i]:
			first++
		case b[i] && !a[i]:
			second++
		}
	}
	return first, second
}

// percent is a cell with the share of what is true.
func percent(right []bool) Cell {
	n := 0
	for _, ok := range right {
		if ok {
			n++
		}
	}
	return Value(100*float64(n)/float64(len(right)), 2)
}

// bitString writes what was right as text, a character a document.
func bitString(right []bool) string {
	b := make([]byte, len(right))
	for i, ok := range right {
		b[i] = '0'
		if ok {
			b[i] = '1'
		}
	}
	return string(b)
}

// bitsOf reads it.
func bitsOf(s string) []bool {
	right := make([]bool, len(s))
	for i := range right {
		right[i] = s[i] == '1'
	}
	return right
}
