// Package explain has the command explain, which shows by which terms a model decides.
package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
)

// Command is the command explain.
var Command = &cli.Command{
	Name:    "explain",
	Summary: "the terms by which a model decides, with their weights",
	Args:    "[MODEL]",
	Help: `
Prints, for each class or pair of classes, the terms that speak most for it and against it: those
with the greatest weights in its decision function. It explains logistic regression, with either
margin, linear machines and support vector machines whose kernel is linear. A weight is by unit of
what the embedding makes of a document. Spherical margins have the hyperplane's unit vector.`,
	Examples: `
grambench explain news.model
grambench explain -n 30 -class course -plot course.png pages.model
grambench train -type logistic mail/ && grambench explain mail.model`,
	Setup: func(f *cli.Flags) cli.Work {
		r := &run{f: f}
		f.MaxArgs = 1
		f.Group("Model", "")
		f.Reads(&r.model, "model", "explain the model in `FILE`")
		f.IntVar(&r.n, "n", 10, "show `N` terms for each class, and as many against it")
		f.StringVar(&r.class, "class", "", "show the machines of one `CLASS` (default: all)")
		f.Group("Output", "")
		f.Draws(&r.plot, "plot", "draw the weights into `FILE`, a .png")
		f.Check(r.check)
		return r.run
	},
}

// run is one run of the command.
type run struct {
	f                  *cli.Flags
	model, class, plot string
	n                  int
}

func (r *run) check() error {
	if len(r.f.Args) > 0 {
		if r.model != "" {
			return cli.Usagef("-model %s and the argument %q both name a model, expected one of them", r.model, r.f.Args[0])
		}
		r.model = r.f.Args[0]
	}
	switch {
	case r.model == "":
		return cli.Usagef("-model FILE is missing")
	case r.n < 1 || r.n > 1000:
		return cli.Usagef("-n %d, expected 1 to 1000", r.n)
	}
	return nil
}

// machine is a decision function by terms.
type machine struct {
	class, against string // against is empty for all others
	weights        []float64
}

// terms are what a model's weights belong to.
type terms struct {
	machines   []machine
	vocabulary []string
	columns    []uint32 // term of each weight
	kind       string
}

// load reads a model of any kind that has weights by term.
func load(ctx context.Context, path string) (*terms, error) {
	m, err := learn.Load(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	if machines, ok := m.(learn.Machines); ok {
		return ofMachines(path, machines.Model)
	}
	a := m.About()
	weighted, ok := m.(learn.Weighted)
	if !ok {
		name, _, _ := strings.Cut(a.Type, ":")
		return nil, fmt.Errorf("%s: a model of -type %s has no weights by term, expected %s", path, name, explained)
	}
	weights, columns, of := weighted.Weights()
	t := &terms{vocabulary: a.Vocabulary, columns: columns, kind: a.Type + ", " + a.Embedding}
	for k, w := range weights {
		t.machines = append(t.machines, machine{class: a.Classes[k], weights: w})
	}
	if of != "" {
		t.kind += ", weights of " + of
	}
	return t, nil
}

// explained says which models have weights.
const explained = "logistic regression, -type linear or a support vector machine with a linear kernel"

// ofMachines computes the weights of support vector machines, Σ coefficient · vector.
func ofMachines(path string, m *model.Model) (*terms, error) {
	if name, _, _ := strings.Cut(m.Kernel, ":"); name != "linear" {
		return nil, fmt.Errorf("%s: the kernel %s has no weights by term, expected %s", path, m.Kernel, explained)
	}
	if _, err := engine.ParseKernel(m.Kernel); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	x, err := m.Embedder.Transform(m.Support)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t := &terms{vocabulary: m.Vocabulary, columns: m.Embedder.Terms, kind: fmt.Sprintf("%s, %s, %s", m.Type, m.Kernel,
		m.Embedder)}
	names := [][2]string{{string(m.Type), ""}}
	if m.Type.Classifies() {
		names = nil
		for a, class := range m.Classes {
			if len(m.Classifier.Machines) == len(m.Classes) && m.Classifier.Scheme.String() != "one-vs-one" {
				names = append(names, [2]string{class, ""})
				continue
			}
			for _, other := range m.Classes[a+1:] {
				names = append(names, [2]string{class, other})
			}
		}
	}
	var row []float64
	for i, q := range m.Classifier.Machines {
		if q == nil {
			continue
		}
		own := machine{names[i][0], names[i][1], make([]float64, x.Cols)}
		for k, s := range q.Support {
			row = x.Vector64(s, row)
			columns, _ := x.Row(s)
			for c, column := range columns {
				own.weights[column] += q.Coef[k] * row[c]
			}
		}
		t.machines = append(t.machines, own)
	}
	return t, nil
}

// name is the text of a weight's term.
func (t *terms) name(column int) string {
	if column == len(t.columns) {
		return "(no term)"
	}
	term := t.columns[column]
	if int(term) < len(t.vocabulary) {
		return t.vocabulary[term]
	}
	return fmt.Sprint(term)
}

// weighted is a term in a report.
type weighted struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
}

// row is a machine in a report.
type row struct {
	Class   string     `json:"class"`
	Against string     `json:"against,omitempty"`
	For     []weighted `json:"terms_for"`
	Not     []weighted `json:"terms_against"`
	Known   int        `json:"terms"` // with a weight other than 0
	Length  float64    `json:"length"`
}

// explanation is the report.
type explanation struct {
	Model string `json:"model"`
	Kind  string `json:"kind"`
	Rows  []row  `json:"rows"`
}

// run reads and reports.
func (r *run) run(ctx context.Context, e *cli.Env) error {
	t, err := load(ctx, r.model)
	if err != nil {
		if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
			err = fmt.Errorf("%s: %w", missing.Path, missing.Err)
		}
		return fmt.Errorf("-model %w", err)
	}
	out := &explanation{Model: r.model, Kind: t.kind, Rows: []row{}}
	var classes []string
	for _, m := range t.machines {
		if classes = append(classes, m.class, m.against); r.class == "" || r.class == m.class || r.class == m.against {
			out.Rows = append(out.Rows, t.row(m, r.n))
		}
	}
	if len(out.Rows) == 0 {
		slices.Sort(classes)
		classes = slices.DeleteFunc(slices.Compact(classes), func(s string) bool { return s == "" })
		return fmt.Errorf("-class %s: %s doesn't know it, expected one of %s", r.class, r.model,
			report.JoinSome(classes, 20))
	}
	if r.plot != "" {
		if err := out.draw(r.plot); err != nil {
			return err
		}
	}
	return report.Write(e.Stdout, out, r.f.JSON)
}

// row lists the greatest weights of a machine, those of equal terms by their column.
func (t *terms) row(m machine, n int) row {
	out := row{Class: m.class, Against: m.against, For: []weighted{}, Not: []weighted{}}
	var order []int
	for j, w := range m.weights {
		if w != 0 {
			order = append(order, j)
			out.Length += w * w
		}
	}
	out.Known, out.Length = len(order), math.Sqrt(out.Length)
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case m.weights[a] > m.weights[b]:
			return -1
		case m.weights[a] < m.weights[b]:
			return 1
		}
		return 0
	})
	for k := range min(n, len(order)) {
		if j := order[k]; m.weights[j] > 0 {
			out.For = append(out.For, weighted{t.name(j), m.weights[j]})
		}
		if j := order[len(order)-1-k]; m.weights[j] < 0 {
			out.Not = append(out.Not, weighted{t.name(j), m.weights[j]})
		}
	}
	return out
}

// title names a machine.
func (r *row) title() string {
	if r.Against == "" {
		return r.Class
	}
	return r.Class + " against " + r.Against
}

func (x *explanation) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s: %s\n", x.Model, x.Kind)
	for _, r := range x.Rows {
		against := "against it"
		if r.Against != "" {
			against = "for " + r.Against
		}
		fmt.Fprintf(w, "\n%s: %s with a weight\n", r.title(), report.Counted(r.Known, "term", "terms"))
		t := report.NewTable("for it", ">weight", against, ">weight")
		for i := range max(len(r.For), len(r.Not)) {
			cells := []string{"", "", "", ""}
			if i < len(r.For) {
				cells[0], cells[1] = r.For[i].Term, fmt.Sprintf("%.4g", r.For[i].Weight)
			}
			if i < len(r.Not) {
				cells[2], cells[3] = r.Not[i].Term, fmt.Sprintf("%.4g", r.Not[i].Weight)
			}
			t.Add(cells...)
		}
		t.Write(w)
	}
}
