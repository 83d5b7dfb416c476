package benchtext

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gramengine/gram/lab/internal/peers"
)

// linearScript is what Python runs: it embeds texts, fits scikit-learn's LinearSVC and predicts.
//
//go:embed linear.py
var linearScript string

// trial is the measurement on one corpus.
type trial struct {
	*bench
	corpus corpus
	all    []part
	rows   []*row
}

// row is a program.
type row struct {
	program                    string
	seconds                    float64 // of all parts
	peak                       int64
	accuracy, microF1, macroF1 float64  // means over the parts
	found                      []string // settings, by part
}

// said is what programs say of themselves.
type said struct {
	Seconds   float64
	PeakBytes int64 `json:"peak_bytes"`
	Found     string
	Kernel    string
	C         float64
	Train     string `json:"train_command"`
	Best      struct {
		Kernel, Scheme, NGrams string
		C                      float64
	}
	Scheme string
}

// measure runs all programs on all parts.
func (t *trial) measure(ctx context.Context) (err error) {
	if t.all, err = t.parts(ctx); err != nil {
		return err
	}
	type program struct {
		name string
		run  func(ctx context.Context, p part, out string, r *row) error
	}
	programs := []program{{"grambench train", t.train}, {"grambench grid", t.grid}}
	if t.Python != "" {
		programs = append(programs, program{"LinearSVC", func(ctx context.Context, p part, out string, r *row) error {
			return t.linear(ctx, p, "-", out, r)
		}})
		if t.search {
			programs = append(programs, program{"LinearSVC, searched", func(
				ctx context.Context, p part, out string, r *row,
			) error {
				return t.linear(ctx, p, p.train+".folds", out, r)
			}})
		}
	}
	for _, program := range programs {
		r := &row{program: program.name}
		t.rows = append(t.rows, r)
		for i, p := range t.all {
			t.Say("%s: %s, part %d of %d", t.corpus.name, program.name, i+1, len(t.all))
			out := t.File("predicted")
			begin := time.Now()
			if err := program.run(ctx, p, out, r); err != nil {
				return fmt.Errorf("%s: %w", program.name, err)
			}
			r.seconds += time.Since(begin).Seconds()
			lines, err := peers.ReadLines(out)
			if err != nil {
				return err
			}
			if len(lines) != len(p.truth) {
				return fmt.Errorf("%s: %d predictions of %d documents", program.name, len(lines), len(p.truth))
			}
			r.score(lines, p.truth, len(t.all))
		}
	}
	return nil
}

// score adds the figures of a part, one of so many.
func (r *row) score(lines []string, truth [][]string, parts int) {
	type count struct{ of, given, right int }
	classes := map[string]*count{}
	at := func(name string) *count {
		if classes[name] == nil {
			classes[name] = &count{}
		}
		return classes[name]
	}
	same := 0
	for i, line := range lines {
		given := labelsOf(line)
		both := 0
		for _, name := range given {
			at(name).given++
			if slices.Contains(truth[i], name) {
				at(name).right++
				both++
			}
		}
		for _, name := range truth[i] {
			at(name).of++
		}
		if both == len(given) && both == len(truth[i]) {
			same++
		}
	}
	right, sum, macro := 0, 0, 0.0
	for _, name := range slices.Sorted(maps.Keys(classes)) {
		c := classes[name]
		right, sum = right+c.right, sum+c.of+c.given
		macro += 2 * float64(c.right) / float64(c.of+c.given)
	}
	share := 1 / float64(parts)
	r.accuracy += share * float64(same) / float64(len(lines))
	r.microF1 += share * 2 * float64(right) / float64(sum)
	r.macroF1 += share * macro / float64(len(classes))
}

// train is grambench train as it stands.
func (t *trial) train(ctx context.Context, p part, out string, r *row) error {
	s, err := t.ours(ctx, r, "train", "-in", p.train, "-o", t.File("model"))
	if err != nil {
		return err
	}
	r.found = append(r.found, fmt.Sprintf("%s, C=%v, %s", s.Kernel, s.C, s.Scheme))
	_, err = t.ours(ctx, r, "predict", "-in", p.test, "-model", t.File("model"), "-o", out)
	return err
}

// grid is grambench grid as it stands, with the training that it proposes.
func (t *trial) grid(ctx context.Context, p part, out string, r *row) error {
	s, err := t.ours(ctx, r, "grid", "-in", p.train)
	if err != nil {
		return err
	}
	found := fmt.Sprintf("%s, C=%v, %s", s.Best.Kernel, s.Best.C, s.Best.Scheme)
	if s.Best.NGrams != "" {
		found += ", " + s.Best.NGrams + "-grams"
	}
	r.found = append(r.found, found)
	command, ok := strings.CutPrefix(s.Train, "grambench ")
	if !ok {
		return fmt.Errorf("grid printed the command %q", s.Train)
	}
	if _, err := t.Execute(ctx, "sh", "-c", `"$0" `+command+` -q -o "$1"`, t.Grambench, t.File("model")); err != nil {
		return err
	}
	_, err = t.ours(ctx, r, "predict", "-in", p.test, "-model", t.File("model"), "-o", out)
	return err
}

// linear is scikit-learn's LinearSVC.
func (t *trial) linear(ctx context.Context, p part, folds, out string, r *row) error {
	var s said
	if _, err := t.Script(ctx, &s, linearScript, p.train, p.test, folds, out); err != nil {
		return err
	}
	r.peak = max(r.peak, s.PeakBytes)
	r.found = append(r.found, s.Found)
	return nil
}

// ours runs a command of grambench that prints JSON.
func (t *trial) ours(ctx context.Context, r *row, args ...string) (s said, err error) {
	_, err = t.Own(ctx, &s, args...)
	r.peak = max(r.peak, s.PeakBytes)
	return s, err
}

// write prints the table.
func (t *trial) write(w io.Writer) {
	p := t.all[0]
	how := fmt.Sprintf("%d training and %d test documents", p.documents[0], p.documents[1])
	if len(t.all) > 1 {
		how = fmt.Sprintf("%d documents, %d folds", p.documents[0]+p.documents[1], len(t.all))
	}
	fmt.Fprintf(w, "%s: %s\n", t.corpus.name, how)
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tab, "program\taccuracy\tmicro F1\tmacro F1\tseconds\tpeak memory\tfound")
	for _, r := range t.rows {
		found := r.found[0]
		if others := len(slices.Compact(slices.Sorted(slices.Values(r.found)))) - 1; others > 0 {
			found += fmt.Sprintf("; on other folds %d others", others)
		}
		fmt.Fprintf(tab, "%s\t%.2f%%\t%.4f\t%.4f\t%.1f\t%d MiB\t%s\n", r.program, 100*r.accuracy, r.microF1, r.macroF1,
			r.seconds, r.peak>>20, found)
	}
	tab.Flush()
}
