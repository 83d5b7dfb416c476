// Package experiments has the command repro, which repeats the experiments of the source papers.
package experiments

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// help is the command's help.
const help = `
Repeats the experiments of the papers that the kernels come from, from raw text to their tables, and
prints what is measured beside what the paper prints, with the standard deviation and the paper's
test of significance. Without a NAME it lists the experiments; gramlab repro NAME -help lists the
flags of one, gramlab help NAME says what it does and what its paper leaves open.

The folder of -data has a sub-folder for each corpus; where one is missing, the error says where the
original is to be had and in what form it is expected.`

// Command is the command repro.
var Command = &cli.Command{
	Name:    "repro",
	Summary: "the tables of the source papers, beside the printed figures",
	Setup: func(f *cli.Flags) cli.Work {
		r := &run{f: f}
		f.Usage, f.Help = "gramlab repro [NAME [flags]]", help+"\n\n"+strings.TrimSpace(list())
		f.Rewrite = r.choose
		f.Group("Experiment", "")
		f.StringVar(&r.data, "data", "", "read the corpora from the sub-folders of `DIR`")
		f.ReadsFiles(&r.data, "data", func(context.Context) []string { return repro.Files(r.data) })
		f.Uint64Var(&r.seed, "seed", 1, "seed of every random choice")
		r.Compute.Declare(f)
		f.Group("Output", "")
		f.DrawsSeveral(&r.plot, "plot", "draw the learning curves into `FILE`, an .svg file, or several with its name")
		f.Check(r.check)
		return r.work
	},
}

// run is one run of the command.
type run struct {
	backend.Compute
	f          *cli.Flags
	experiment repro.Experiment
	chosen     bool
	measure    func(context.Context, *repro.Run) (*repro.Report, error)
	data, plot string
	words      string // -stop-words
	seed       uint64
}

// choose takes the experiment's name from the front of the arguments, since its flags depend on it.
func (r *run) choose(args []string) ([]string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args, nil
	}
	e, ok := Find(args[0])
	if !ok {
		return nil, cli.Usagef("no experiment %q, expected one of %s", args[0], Names())
	}
	r.experiment, r.chosen = e, true
	r.f.Usage = "gramlab repro " + e.Name + " -data DIR [flags]"
	r.f.Help, r.f.Examples = helpOf(e)
	if e.Setup != nil {
		r.f.Group("Experiment", "")
		r.measure = e.Setup(r.f.FlagSet)
		if len(e.Listed) > 0 {
			r.f.Assign(e.ListedAs, e.Name, e.Listed...)
		}
		if words := r.f.Lookup("stop-words"); words != nil {
			f := r.f
			f.Check(func() error { r.words = words.Value.String(); return nil })
			f.ReadsFiles(&r.words, "stop-words", func(context.Context) []string { return []string{r.words} })
		}
	}
	return args[1:], nil
}

// check checks what can be checked before anything is read.
func (r *run) check() error {
	switch {
	case !r.chosen && r.f.NFlag() > 0 && !r.f.JSON:
		return cli.Usagef("flags without the NAME of an experiment in front of them, expected one of %s", Names())
	case !r.chosen:
		return nil
	case r.experiment.Waits != "":
		return fmt.Errorf("%s %s", r.experiment.Name, r.experiment.Waits)
	case r.data == "":
		return cli.Usagef("-data DIR is missing: %s reads %s", r.experiment.Name, r.experiment.Data)
	case r.plot != "" && !r.experiment.Curves:
		return cli.Usagef("-plot: %s has no learning curves", r.experiment.Name)
	}
	return nil
}

// work repeats the experiment and reports; what is complete is printed also when the run is
// interrupted.
func (r *run) work(ctx context.Context, e *cli.Env) error {
	if !r.chosen {
		return report.Write(e.Stdout, newListing(), r.f.JSON)
	}
	begin := time.Now()
	backend.ResetPeak()
	r.Limit()
	p := e.Progress(true)
	defer p.Clear()
	device, computer := r.device()
	out, err := r.measure(ctx, &repro.Run{
		Data: r.data, Workers: r.Workers, ISA: r.ISA, MemoryBytes: r.Budget(), Seed: r.seed,
		Plot:   r.plot != "",
		Device: device, Tell: (&watch{p: p}).tell,
		Warn: func(message string) { p.Clear(); e.Warn("%s", message) },
	})
	p.Clear()
	if usage := (repro.UsageError{}); errors.As(err, &usage) {
		return cli.UsageError{Err: usage.Err}
	}
	if out == nil {
		return err
	}
	if computer != "" {
		out.Set("computed by", "%s", computer)
	}
	out.Experiment, out.Paper = r.experiment.Name, r.experiment.Paper
	out.Seconds, out.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	if err != nil {
		out.Incomplete = "stopped before the end"
	} else if r.plot != "" {
		err = r.draw(out)
	}
	if printed := r.Report(e, r.f, &printedReport{out}); err == nil {
		err = printed
	}
	return err
}

// device returns what computes matrices and predictions beside the processor, nil for nothing, and
// what computes in words, nothing where there is no choice.
func (r *run) device() (device func(context.Context, *sparse.Embedded) (engine.Device, error), computer string) {
	if !r.OnGPU() && !r.Chooses() {
		return nil, ""
	}
	name, err := r.Device()
	if err != nil { // where -backend names it, that has been an error before
		return nil, backend.WithWhy(string(asm.Best().ISA), err.Error())
	}
	name = "cuda: " + name
	if r.GPUTensor { // which gives values other bits
		name += ", -gpu-tensor"
	}
	if r.OnGPU() {
		return r.Load, name
	}
	device = func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
		if r.Job(x.Rows()) != backend.CUDA {
			return nil, nil
		}
		return r.Load(ctx, x)
	}
	return device, fmt.Sprintf(
		"%s, what would keep the processor busy for more than %g s; %s, the rest (auto)",
		name,
		backend.AutoSeconds,
		asm.Best().ISA,
	)
}

// draw writes the figures.
func (r *run) draw(out *repro.Report) error {
	for _, f := range out.Figures {
		path := r.plot
		if len(out.Figures) > 1 {
			ending := filepath.Ext(path) // such as .PNG
			path = strings.TrimSuffix(path, ending) + "-" + f.Key + ending
		}
		if err := f.Save(path); err != nil {
			return err
		}
	}
	if len(out.Figures) == 0 {
		return errors.New("-plot: nothing that was measured is a learning curve")
	}
	return nil
}

// list lists the experiments with what they need.
func list() string {
	var b strings.Builder
	fmt.Fprintln(&b, "Experiments:")
	for _, e := range Experiments {
		report.Wrap(&b, "  "+report.Pad(e.Name, 18)+" ", e.Paper, 100)
		text := e.Waits
		if text == "" {
			text = "reads " + e.Data + "; takes " + e.Time
		}
		report.Wrap(&b, report.Pad("", 21), text, 100)
	}
	return b.String()
}

// examples is the line in front of the examples in the help of an experiment.
const examples = "\nExamples:\n"

// helpOf is what the help of an experiment says before its flags, and its examples.
func helpOf(e repro.Experiment) (help, example string) {
	var b strings.Builder
	report.Wrap(&b, "", e.Paper, 100)
	if e.Waits != "" {
		return b.String() + "It can't be run yet: it " + e.Waits + ".", ""
	}
	protocol, example, _ := strings.Cut(e.Help, examples)
	first, _, _ := strings.Cut(strings.TrimSpace(protocol), "\n\n")
	report.Wrap(&b, "", fmt.Sprintf("%s It reads %s below -data and takes %s. Its protocol, and what the paper leaves "+
		"open: gramlab help %s.", strings.Join(strings.Fields(first), " "), e.Data, e.Time, e.Name), 100)
	return b.String(), strings.ReplaceAll(strings.TrimSpace(example), "\n  ", "\n")
}

// Topics are the protocols of the experiments, for the help.
func Topics() (topics []cli.Topic) {
	for _, e := range Experiments {
		topics = append(topics, cli.Topic{Name: e.Name, Text: e.Paper + "\n\n" + strings.TrimSpace(e.Help)})
	}
	return topics
}

// listing is the list of experiments as a report.
type listing struct {
	Rows []listed `json:"rows"`
}

// listed is one experiment of the list.
type listed struct {
	Experiment string `json:"experiment"`
	Paper      string `json:"paper"`
	Data       string `json:"data"`
	Time       string `json:"time,omitempty"`
	Waits      string `json:"waits,omitempty"`
}

func newListing() *listing {
	l := &listing{}
	for _, e := range Experiments {
		l.Rows = append(l.Rows, listed{e.Name, e.Paper, e.Data, e.Time, e.Waits})
	}
	return l
}

func (l *listing) Describe(d *report.Document) {
	d.Line(list() + "Run 'gramlab repro NAME -data DIR', or 'gramlab repro NAME -help' for what it does.")
}
