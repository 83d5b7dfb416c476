package benchtext

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
	corpus corpus
	all    []part
	rows   []*row
	chosen []said // by part, where regret is measured
	lost   []float64
}

// row is a program.
type row struct {
	program                    string
	seconds                    float64 // of all parts
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
	Mean      float64
	Choice    struct {
		Train string
		Rows  []struct{ Terms string }
	}
	Best struct {
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
	programs := []program{{"grambench train", t.train}}
	if t.grids {
		programs = append(programs, program{"grambench grid", t.grid})
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
	for i, s := range t.chosen[:min(len(t.chosen), 1)] { // folds of a corpus are alike
		t.Say("%s: regret", t.corpus.name)
		lost, err := t.regret(ctx, t.all[i], s)
		if err != nil {
			return fmt.Errorf("regret: %w", err)
		}
		t.lost = append(t.lost, lost)
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
	found, terms := fmt.Sprintf("%s, C=%v, %s", s.Kernel, s.C, s.Scheme), "words"
	if _, after, ok := strings.Cut(s.Choice.Train, " -views "); ok {
		terms, _, _ = strings.Cut(after, " -o ")
		found += ", " + terms
	}
	r.found, r.terms = append(r.found, found), append(r.terms, terms)
	_, err = t.ours(ctx, r, "predict", "-in", p.test, "-model", t.File("model"), "-o", out)
	if err == nil && t.regrets && s.Choice.Train != "" {
		t.chosen = append(t.chosen, s)
	}
	return err
}

// regret is how much better the best of what train chooses from is than what it chose, both by 5 folds of
// all training documents of a part: the candidates of its first round of terms, with all kernels, schemes and C.
func (t *trial) regret(ctx context.Context, p part, s said) (float64, error) {
	_, flags, ok := strings.Cut(s.Choice.Train, " -kernel ")
	if !ok {
		return 0, fmt.Errorf("train chose nothing to regret: %q", s.Choice.Train)
	}
	flags, _, _ = strings.Cut(flags, " -o ")
	validate := func(command string) (float64, error) {
		var got said
		r, err := t.Execute(ctx, "sh", "-c", `"$0" `+command+` -json`, t.Grambench)
		if err == nil {
			err = json.Unmarshal([]byte(r.Stdout), &got)
		}
		return cmp.Or(got.Best.Mean, got.Mean), err
	}
	own, err := validate("cv -in " + p.train + " -kernel " + flags)
	if err != nil {
		return 0, err
	}
	cuts := []string{""}
	for _, r := range s.Choice.Rows {
		if terms, df, _ := strings.Cut(r.Terms, ", min-df "); df != "" {
			if cut := "-views '" + terms + "' -min-df " + df; !slices.Contains(cuts, cut) {
				cuts = append(cuts, cut)
			}
		}
	}
	best := own
	for _, cut := range cuts {
		logs := ",logtfidf"
		if strings.Contains(cut, " + ") { // views take no damped counts
			logs = ""
		}
		scheme := "-grid scheme=one-vs-rest,one-vs-one"
		if strings.Contains(flags, "labels") {
			scheme = "-scheme labels"
		}
		for _, list := range []string{
			"diffusion -grid t=0.5,1,2,4,8 -grid embed=" + sides("tf,tfidf"+logs, "-l1-sqrt"),
			"linear -grid embed=" + sides("tfidf"+logs, "-l2"),
		} {
			figure, err := validate(fmt.Sprintf("grid -in %s %s %s -grid C=1,10,100 -kernel %s", p.train, cut, scheme, list))
			if err != nil {
				return 0, err
			}
			best = max(best, figure)
		}
	}
	return best - own, nil
}

// sides appends an ending to each name of a list.
func sides(names, ending string) string { return strings.ReplaceAll(names, ",", ending+",") + ending }

// grid is grambench grid as it stands, with the training of its winner.
func (t *trial) grid(ctx context.Context, p part, out string, r *row) error {
	s, err := t.ours(ctx, r, "grid", "-in", p.train, "-o", t.File("model"))
	if err != nil {
		return err
	}
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
	if len(t.lost) > 0 {
		fmt.Fprintf(w, "regret of train: %.2f points\n", 100*mean(t.lost))
	}
	if r := t.rows; len(r) > 1 {
		for _, other := range r[1:] {
			fmt.Fprintf(w, "train takes %.2f times as long as %s\n", r[0].seconds/other.seconds, other.program)
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
	fmt.Fprintf(w, "| corpus | terms of train | its regret | its seconds | %s |\n", strings.Join(names, " | "))
	fmt.Fprintln(w, strings.Repeat("| --- ", len(names)+4)+"|")
	for _, t := range trials {
		of, lost := t.rows[0], "–"
		if len(t.lost) > 0 {
			lost = fmt.Sprintf("%.2f", 100*mean(t.lost))
		}
		terms := slices.Compact(slices.Sorted(slices.Values(of.terms)))
		fmt.Fprintf(w, "| %s | %s | %s | %.1f |", t.corpus.name, strings.Join(terms, "; "), lost, of.seconds)
		for _, name := range names {
			figure := "–"
			if at := slices.IndexFunc(t.rows, func(r *row) bool { return r.program == name }); at >= 0 {
				figure = t.rows[at].figure(t.all)
			}
			fmt.Fprintf(w, " %s |", figure)
		}
		fmt.Fprintln(w)
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

func mean(x []float64) float64 { return stat.Mean(x, nil) }
