package repro

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/sparse"
)

type command struct {
	backend.ComputeFlags
	f            *cli.Flags
	experiments  []Experiment
	experiment   *Experiment // experiment to run; nil to list all experiments
	settings     Settings
	settingFlags cli.StringList
	data, out    string
	seed         uint64
}

// Command returns the command `gramlab repro`.
func Command(experiments ...Experiment) *cli.Command {
	return &cli.Command{
		Name:    "repro",
		Summary: "reproduce tables of the source papers and compare them with the printed values",
		Setup: func(f *cli.Flags) cli.RunFunc {
			c := &command{f: f, experiments: experiments}
			f.Usage, f.RewriteArgs = "gramlab repro [NAME [flags]]", c.choose
			f.Help = "Reproduces an experiment of a source paper. Without NAME, it lists the experiments;\n" +
				"gramlab repro NAME -help lists the settings of an experiment.\n\n" + c.experimentList()
			f.StartGroup("Experiment", "")
			f.StringVar(&c.data, "data", "", "read the corpora from the sub-folders of `DIR`")
			f.RegisterInput(&c.data, "data", func(context.Context) []string { return CorpusFiles(c.data) })
			f.Var(&c.settingFlags, "set", "change a setting, `NAME=VALUE` (repeatable)")
			f.Uint64Var(&c.seed, "seed", 1, "random seed, `N`")
			c.ComputeFlags.Declare(f)
			f.StartGroup("Output", "")
			f.StringVar(&c.out, "o", "", "write each table to a .tsv file in `FOLDER`")
			f.DeclareReport()
			f.AddCheck(c.check)
			return c.run
		},
	}
}

// choose selects the experiment named by args[0], if any. It returns the remaining arguments.
func (c *command) choose(args []string) ([]string, error) {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return args, nil
	}
	at := slices.IndexFunc(c.experiments, func(e Experiment) bool { return e.Name == args[0] })
	if at < 0 {
		var names []string
		for _, e := range c.experiments {
			names = append(names, e.Name)
		}
		return nil, cli.Usagef("unknown experiment %q; valid experiments are %s", args[0], strings.Join(names, ", "))
	}
	c.experiment = &c.experiments[at]
	c.settings = c.experiment.New()
	c.f.Usage = "gramlab repro " + c.experiment.Name + " [flags]"
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", c.experiment.Paper, strings.TrimSpace(c.experiment.Help))
	report.Wrap(&b, "", fmt.Sprintf("Data: %s. Run time: %s.", c.experiment.Corpora, c.experiment.RunTime), 100)
	var all []string
	for _, row := range params.Help(c.settings) {
		help := row.Help[:strings.LastIndex(row.Help, ": ")]
		value := fmt.Sprint(params.Get(c.settings, row.Name))
		if len(value) > 85 && !strings.Contains(value, ",") { // shorten long lists of kernels
			value = value[:85] + "…"
		}
		all = append(all, fmt.Sprintf("%s=%s (%s)", row.Name, value, help))
	}
	b.WriteString("\nSettings:\n")
	report.Wrap(&b, "  ", strings.Join(all, "; "), 100)
	c.f.Help = b.String()
	return args[1:], nil
}

func (c *command) experimentList() string {
	var b strings.Builder
	for _, e := range c.experiments {
		report.Wrap(&b, "  "+report.Pad(e.Name, 18)+" ", fmt.Sprintf("%s; reads %s; %s", e.Paper, e.Corpora, e.RunTime), 100)
	}
	return b.String()
}

func (c *command) check() error {
	if c.experiment == nil && c.f.NFlag() > 0 {
		return cli.Usagef("the NAME of an experiment must come before the flags")
	}
	for _, setting := range c.settingFlags {
		name, value, ok := strings.Cut(setting, "=")
		if !ok {
			return cli.Usagef("-set must be NAME=VALUE, got %s", setting)
		}
		if err := params.Set(c.settings, name, value); err != nil {
			return cli.Usagef("-set %s: %w", setting, err)
		}
	}
	return nil
}

// run runs the experiment. If the experiment fails, run still prints the complete tables.
func (c *command) run(ctx context.Context, e *cli.Env) error {
	if c.experiment == nil {
		_, err := fmt.Fprint(e.Stdout, c.experimentList())
		return err
	}
	begin := time.Now()
	backend.ResetPeak()
	c.SetMemoryLimit()
	p := e.NewProgress(true)
	defer p.Clear()
	out, err := c.settings.Run(ctx, &Env{
		DataDir: c.data, Workers: c.Workers, ISA: c.ISA, MemoryBytes: c.Budget(), Seed: c.seed, Device: c.device,
		OnProgress: func(stage string, done, total int64) { p.Show(stage, done, total, nil) },
		OnWarning:  func(message string) { p.Clear(); e.Warnf("%s", message) },
	})
	p.Clear()
	if out == nil || err != nil && len(out.Tables) == 0 {
		return err
	}
	if c.OnGPU() {
		out.AddSetting("computed by", "the GPU")
	} else if c.Reason() != "" {
		out.AddSetting("computed by", "auto: %s", c.Reason())
	}
	out.Experiment, out.Paper = c.experiment.Name, c.experiment.Paper
	out.Seconds, out.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	if err != nil {
		out.IncompleteReason = "stopped before the end"
	} else if c.out != "" {
		err = out.Save(c.out)
	}
	if printed := c.PrintReport(e, c.f, out); err == nil {
		err = printed
	}
	return err
}

// device opens the GPU and loads the documents, or returns nil if the GPU isn't used.
func (c *command) device(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
	if c.BackendFor(x.Rows()) != backend.CUDA {
		return nil, nil
	}
	return c.LoadDocuments(ctx, x)
}
