package benchtext

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/lab/internal/peers"
)

// linearScript is what Python runs: it embeds texts, fits scikit-learn's LinearSVC and predicts.
//
//go:embed linear.py
var linearScript string

// trial is the measurement on one corpus.
type trial struct {
	*bench
	corpus dataset
	all    []part
	rows   []*row

	chosen string  // flags of train's choice on the first part; "" where it chose nothing
	best   float64 // mean by folds of the best that grid found there
	lost   float64 // regret, NaN where it isn't known
}

// row is a program.
type row struct {
	program                    string
	seconds, processor         float64 // of all parts
	peak                       int64
	accuracy, microF1, macroF1 float64  // means over the parts
	found                      []string // settings, by part
	terms                      []string // what train cut text into, by part
}

// said is what programs say of themselves.
type said struct {
	Seconds   float64
	PeakBytes int64 `json:"peak_bytes"`
	Found     string
	Kernel    string
	C         float64
	Choice    struct{ Train string }
	Best      struct {
		Kernel, Scheme, Terms string
		C, Mean               float64
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
	programs := []program{{"gram train", t.train}}
	if t.grids {
		programs = append(programs, program{"gram grid", t.grid})
	}
	if t.Python != "" {
		programs = append(programs, program{"LinearSVC", func(ctx context.Context, p part, out string, r *row) error {
			return t.linear(ctx, p, "-", out, r)
		}})
		if !strings.Contains(t.corpus.train, "idx") {
			programs = append(programs, program{"LinearSVC, words and characters", func(
				ctx context.Context, p part, out string, r *row,
			) error {
				return t.linear(ctx, p, "views", out, r)
			}})
		}
		if t.search {
			programs = append(programs, program{"LinearSVC, searched", func(
				ctx context.Context, p part, out string, r *row,
			) error {
				return t.linear(ctx, p, p.train+".folds", out, r)
			}})
		}
	}
	for _, program := range programs {
		own := ctx
		if t.limit > 0 && len(t.rows) > 0 {
			limited, cancel := context.WithTimeout(ctx, t.limit)
			defer cancel()
			own = limited
		}
		r := &row{program: program.name}
		for i, p := range t.all {
			t.Say("%s: %s, part %d of %d", t.corpus.name, program.name, i+1, len(t.all))
			if err = t.one(own, r, p, program.run); err != nil {
				break
			}
		}
		switch {
		case err == nil:
			t.rows = append(t.rows, r)
		case own.Err() != nil && ctx.Err() == nil:
			t.Say("left out: %s on %s, since it takes longer than %v", program.name, t.corpus.name, t.limit)
		default:
			return fmt.Errorf("%s: %w", program.name, err)
		}
	}
	if t.lost, err = t.regret(ctx); err != nil {
		return fmt.Errorf("regret: %w", err)
	}
	return nil
}

// one runs a program on a part and scores it.
func (t *trial) one(
	ctx context.Context, r *row, p part, run func(ctx context.Context, p part, out string, r *row) error,
) error {
	out := t.File("predicted")
	begin := time.Now()
	if err := run(ctx, p, out, r); err != nil {
		return err
	}
	r.seconds += time.Since(begin).Seconds()
	lines, err := peers.ReadLines(out)
	if err != nil {
		return err
	}
	if len(lines) != len(p.truth) {
		return fmt.Errorf("%d predictions of %d documents", len(lines), len(p.truth))
	}
	r.score(lines, p.truth, len(t.all))
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

// train is gram train as it stands.
func (t *trial) train(ctx context.Context, p part, out string, r *row) error {
	s, err := t.ours(ctx, r, "train", "-in", p.train, "-o", t.File("model"))
	if err != nil {
		return err
	}
	found, terms := fmt.Sprintf("%s, C=%v, %s", s.Kernel, s.C, s.Scheme), "words"
	if _, after, ok := strings.Cut(s.Choice.Train, " -views "); ok {
		terms, _, _ = strings.Cut(after, " -o ")
		found += ", " + terms
	}
	r.found, r.terms = append(r.found, found), append(r.terms, terms)
	_, err = t.ours(ctx, r, "predict", "-in", p.test, "-model", t.File("model"), "-o", out)
	if _, flags, ok := strings.Cut(s.Choice.Train, " -kernel "); ok && t.chosen == "" {
		flags, _, _ = strings.Cut(flags, " -o ")
		t.chosen = "-kernel " + flags
	}
	return err
}

// regret is how much better the best that grid found is than what train chose, by folds of the first part.
func (t *trial) regret(ctx context.Context) (float64, error) {
	if t.best == 0 || t.chosen == "" {
		return math.NaN(), nil
	}
	t.Say("%s: regret", t.corpus.name)
	var got struct {
		Mean float64
		Best struct{ Mean float64 }
	}
	command := fmt.Sprintf(`"$0" cv -json -folds %d -in %s %s`, folds, t.all[0].train, t.chosen)
	r, err := t.Execute(ctx, "sh", "-c", command, t.Grambench)
	if err == nil {
		err = json.Unmarshal([]byte(r.Stdout), &got)
	}
	return max(t.best-cmp.Or(got.Best.Mean, got.Mean), 0), err
}

// grid is gram grid as it stands, with the training of its winner.
func (t *trial) grid(ctx context.Context, p part, out string, r *row) error {
	s, err := t.ours(ctx, r, "grid", "-in", p.train, "-o", t.File("model"))
	if err != nil {
		return err
	}
	t.best = cmp.Or(t.best, s.Best.Mean)
	found := fmt.Sprintf("%s, C=%v, %s", s.Best.Kernel, s.Best.C, s.Best.Scheme)
	if s.Best.Terms != "" {
		found += ", " + s.Best.Terms
	}
	r.found = append(r.found, found)
	_, err = t.ours(ctx, r, "predict", "-in", p.test, "-model", t.File("model"), "-o", out)
	return err
}

// linear is scikit-learn's LinearSVC.
func (t *trial) linear(ctx context.Context, p part, folds, out string, r *row) error {
	var s said
	ran, err := t.Script(ctx, &s, linearScript, p.train, p.test, folds, out)
	if err != nil {
		return err
	}
	r.peak, r.processor = max(r.peak, s.PeakBytes), r.processor+ran.Processor
	r.found = append(r.found, s.Found)
	return nil
}

// ours runs a command of gram that prints JSON.
func (t *trial) ours(ctx context.Context, r *row, args ...string) (s said, err error) {
	ran, err := t.Own(ctx, &s, args...)
	r.peak, r.processor = max(r.peak, s.PeakBytes), r.processor+ran.Processor
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
	fmt.Fprintln(tab, "program\taccuracy\tmicro F1\tmacro F1\tseconds\tof the processor\tpeak memory\tfound")
	for _, r := range t.rows {
		found := r.found[0]
		if others := len(slices.Compact(slices.Sorted(slices.Values(r.found)))) - 1; others > 0 {
			found += fmt.Sprintf("; on other folds %d others", others)
		}
		fmt.Fprintf(tab, "%s\t%.2f%%\t%.4f\t%.4f\t%.1f\t%.1f\t%d MiB\t%s\n", r.program, 100*r.accuracy, r.microF1,
			r.macroF1, r.seconds, r.processor, r.peak>>20, found)
	}
	tab.Flush()
	if t.lost >= 0 {
		fmt.Fprintf(w, "regret of train: %.2f points\n", 100*t.lost)
	}
	if r := t.rows; len(r) > 1 {
		for _, other := range r[1:] {
			fmt.Fprintf(w, "train takes %.2f times as long as %s, %.2f of the processor\n", r[0].seconds/other.seconds,
				other.program, r[0].processor/other.processor)
		}
	}
}

// summary writes a line per corpus of a table in Markdown: the figure that train chose by, of each program.
func summary(w io.Writer, trials []*trial) {
	var names []string // of programs; all corpora have the first ones
	for _, t := range trials {
		for _, r := range t.rows {
			if !slices.Contains(names, r.program) {
				names = append(names, r.program)
			}
		}
	}
	fmt.Fprintf(w, "| corpus | terms of train | its regret | %s |\n", strings.Join(names, " | "))
	fmt.Fprintln(w, strings.Repeat("| --- ", len(names)+3)+"|")
	var losses []float64
	for _, t := range trials {
		lost := "–"
		if t.lost >= 0 {
			lost, losses = fmt.Sprintf("%.2f", 100*t.lost), append(losses, t.lost)
		}
		terms := slices.Compact(slices.Sorted(slices.Values(t.rows[0].terms)))
		fmt.Fprintf(w, "| %s | %s | %s |", t.corpus.name, strings.Join(terms, "; "), lost)
		for _, name := range names {
			figure := "–"
			if at := slices.IndexFunc(t.rows, func(r *row) bool { return r.program == name }); at >= 0 {
				r := t.rows[at]
				figure = fmt.Sprintf("%s, %.1f s, %d MiB", r.figure(t.all), r.processor, r.peak>>20)
			}
			fmt.Fprintf(w, " %s |", figure)
		}
		fmt.Fprintln(w)
	}
	if len(losses) > 0 {
		fmt.Fprintf(w, "\nregret of train: %.2f points on the mean over corpora\n", 100*stat.Mean(losses, nil))
	}
}

// figure is the accuracy of a program, or micro and macro F1 where documents have several labels.
func (r *row) figure(parts []part) string {
	for _, p := range parts {
		if slices.ContainsFunc(p.truth, func(labels []string) bool { return len(labels) != 1 }) {
			return fmt.Sprintf("%.4f, %.4f", r.microF1, r.macroF1)
		}
	}
	return fmt.Sprintf("%.2f%%", 100*r.accuracy)
}
