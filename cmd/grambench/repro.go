package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cmd/grambench/internal/repro"
	"github.com/gramengine/gram/cmd/grambench/internal/repro/papers"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// reproText is the command's help.
const reproText = `
Repeats the experiments of the papers that the kernels come from, from raw text to their tables, and prints what is measured beside what the paper prints,
with the standard deviation and the paper's test of significance. Without a NAME it lists the experiments; grambench repro NAME -help says what one does,
what its paper leaves open and which flags decide it.

The folder of -data has a sub-folder for each corpus; where one is missing, the error says where the original is to be had and in what form it is expected.
`

var reproCommand = command{
	name:    "repro",
	summary: "the tables of the source papers, beside the printed figures",
	help:    reproText,
	setup: func(f *flags) func(context.Context, *env) error {
		r := &reproRun{f: f}
		f.usage = "grambench repro [NAME [flags]]"
		f.rewrite = r.choose
		f.check = r.check
		f.set.StringVar(&r.data, "data", "", "read the corpora from the sub-folders of `DIR`")
		f.readsFiles("-data", func() string { return r.data }, func() []string { return repro.Files(r.data) })
		f.set.StringVar(&r.plot, "plot", "", "draw the learning curves into the PNG `FILE`; where there are several figures, the name of each is put before .png")
		f.draws("-plot", &r.plot)
		f.set.StringVar(&r.state, "state", "", "keep what is done in `FILE`, from which an interrupted run with the same settings goes on")
		f.keeps("-state", &r.state)
		f.set.Var(&f.memory, "m", "use at most `SIZE` of memory, such as 500M or 4G; a plain number means MB (default: three quarters of what is free)")
		f.computeFlags(0)
		f.seedFlag("every random choice")
		return r.run
	},
}

// reproRun is one run of the command repro.
type reproRun struct {
	f                 *flags
	experiment        repro.Experiment
	chosen            bool
	work              func(context.Context, *repro.Run) (*repro.Report, error)
	data, plot, state string
}

// choose takes the experiment's name from the front of the arguments, since its flags depend on it.
func (r *reproRun) choose(args []string) ([]string, error) {
	r.f.help = reproText + "\n" + reproList()
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args, nil
	}
	e, ok := papers.Find(args[0])
	if !ok {
		return nil, usagef("no experiment %q, expected one of %s", args[0], papers.Names())
	}
	r.experiment, r.chosen = e, true
	r.f.usage = "grambench repro " + e.Name + " -data DIR [flags]"
	r.f.help = reproHelp(e)
	if e.Setup != nil {
		r.work = e.Setup(r.f.set)
		if words := r.f.set.Lookup("stop-words"); words != nil {
			r.f.readsFiles("-stop-words", words.Value.String, func() []string { return []string{words.Value.String()} })
		}
	}
	return args[1:], nil
}

// check holds what can be held before anything is read.
func (r *reproRun) check() error {
	if !r.chosen {
		if r.f.set.NFlag() > 0 && !r.f.json {
			return usagef("flags without the NAME of an experiment in front of them, expected one of %s", papers.Names())
		}
		return nil
	}
	if r.experiment.Waits != "" {
		return fmt.Errorf("%s %s", r.experiment.Name, r.experiment.Waits)
	}
	if r.data == "" {
		return usagef("-data DIR is missing: %s reads %s", r.experiment.Name, r.experiment.Data)
	}
	if r.plot != "" && !r.experiment.Curves {
		return usagef("-plot: %s has no learning curves", r.experiment.Name)
	}
	return checkPlot(r.plot)
}

// run repeats the experiment and reports; what is complete is printed also when the run is interrupted.
func (r *reproRun) run(ctx context.Context, e *env) error {
	if !r.chosen {
		return writeReport(e.stdout, newReproListing(), r.f.json)
	}
	begin := time.Now()
	resetPeak()
	r.f.limitMemory()
	state, err := repro.OpenState(r.state)
	if err != nil {
		return err
	}
	defer state.Close()
	p := newTrainProgress(e.stderr, false)
	defer p.clear()
	device, backend, computer := r.device()
	if dropped := state.Dropped(); dropped != "" {
		warn(e.stderr, dropped)
	}
	given := &repro.Run{
		Data: r.data, Workers: r.f.workers, ISA: r.f.isa, MemoryBytes: r.f.budget(), Seed: r.f.seed, State: state, Plot: r.plot != "",
		Device: device, Backend: backend, Tell: newReproWatch(p).tell, Warn: func(message string) { p.clear(); warn(e.stderr, message) },
	}
	report, err := r.work(ctx, given)
	p.clear()
	if usage := (repro.UsageError{}); errors.As(err, &usage) {
		return usageError{usage.Err}
	}
	if report == nil {
		return err
	}
	if computer != "" {
		report.Set("computed by", "%s", computer)
	}
	report.Experiment, report.Paper = r.experiment.Name, r.experiment.Paper
	report.Seconds, report.PeakBytes = time.Since(begin).Seconds(), peakBytes()
	if err != nil {
		report.Incomplete = "stopped before the end"
		if state.Results() > 0 {
			report.Incomplete += fmt.Sprintf("; %s kept in %s, from which the same command goes on", counted(state.Results(), "result is", "results are"), r.state)
		}
	} else if r.plot != "" {
		err = r.draw(report)
	}
	if printed := writeReport(e.stdout, r.f.timed(&reproReport{report}), r.f.json); err == nil {
		err = printed
	}
	return err
}

// device returns what computes matrices and predictions beside the processor, nil for nothing, under which name results are kept that it has a part in, and what computes in words,
// nothing where there is no choice.
func (r *reproRun) device() (device func(context.Context, *sparse.Embedded) (engine.Device, error), name, computer string) {
	f := r.f
	if f.backend != string(cudaBackend) && !f.choosesBackend() {
		return nil, "", ""
	}
	d, err := f.openGPU()
	if err != nil { // where -backend names it, that has been an error before
		return nil, "", withWhy(string(asm.Best().ISA), err.Error())
	}
	name = "cuda: " + d.Info().Name
	if f.gpuTensor { // which gives values other bits
		name += ", -gpu-tensor"
	}
	if f.backend == string(cudaBackend) {
		return f.loadGPU, name, name
	}
	device = func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
		if f.jobBackend(x.Rows()) != string(cudaBackend) {
			return nil, nil
		}
		return f.loadGPU(ctx, x)
	}
	return device, name + ", auto", fmt.Sprintf("%s, what would keep the processor busy for more than %g s; %s, the rest (auto)", name, autoSeconds, asm.Best().ISA)
}

// draw writes the figures.
func (r *reproRun) draw(report *repro.Report) error {
	for _, f := range report.Figures {
		path := r.plot
		if len(report.Figures) > 1 {
			ending := filepath.Ext(path) // such as .PNG
			path = strings.TrimSuffix(path, ending) + "-" + f.Key + ending
		}
		if err := f.WritePNG(path); err != nil {
			return err
		}
	}
	if len(report.Figures) == 0 {
		return errors.New("-plot: nothing that was measured is a learning curve")
	}
	return nil
}

// reproList lists the experiments with what they need.
func reproList() string {
	var b strings.Builder
	fmt.Fprintln(&b, "Experiments:")
	for _, e := range papers.Experiments {
		fmt.Fprintf(&b, "  %-18s %s\n", e.Name, e.Paper)
		if e.Waits != "" {
			fmt.Fprintf(&b, "  %-18s %s\n", "", e.Waits)
			continue
		}
		fmt.Fprintf(&b, "  %-18s reads %s; takes %s\n", "", e.Data, e.Time)
	}
	return b.String()
}

// reproHelp is the help of one experiment.
func reproHelp(e repro.Experiment) string {
	text := e.Paper + "\n"
	if e.Waits != "" {
		return text + "It can't be run yet: it " + e.Waits + ".\n"
	}
	return text + "\n" + strings.TrimLeft(e.Help, "\n") + "\nIt reads " + e.Data + " below -data and takes " + e.Time + ".\n"
}

// reproListing is the list of experiments as a report.
type reproListing struct {
	Rows []reproListed `json:"rows"`
}

type reproListed struct {
	Experiment string `json:"experiment"`
	Paper      string `json:"paper"`
	Data       string `json:"data"`
	Time       string `json:"time,omitempty"`
	Waits      string `json:"waits,omitempty"`
}

func newReproListing() *reproListing {
	l := &reproListing{}
	for _, e := range papers.Experiments {
		l.Rows = append(l.Rows, reproListed{e.Name, e.Paper, e.Data, e.Time, e.Waits})
	}
	return l
}

func (l *reproListing) writeText(w io.Writer) {
	io.WriteString(w, reproList()+"Run 'grambench repro NAME -data DIR', or 'grambench repro NAME -help' for what it does.\n")
}
