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
	backend.Compute
	f           *cli.Flags
	experiments []Experiment
	chosen      *Experiment // experiment to run; nil to list all experiments
	settings    Settings
	set         cli.List
	data, out   string
	seed        uint64
}

// Command returns the command gramlab repro.
func Command(experiments ...Experiment) *cli.Command {
	return &cli.Command{
		Name:    "repro",
		Summary: "reproduce tables of the source papers and compare them with the printed values",
		Setup: func(f *cli.Flags) cli.Work {
			c := &command{f: f, experiments: experiments}
			f.Usage, f.Rewrite = "gramlab repro [NAME [flags]]", c.choose
			f.Help = "Reproduces an experiment of a source paper. Without NAME, it lists the experiments;\n" +
				"gramlab repro NAME -help lists the settings of an experiment.\n\n" + c.list()
			f.Group("Experiment", "")
			f.StringVar(&c.data, "data", "", "read the corpora from the sub-folders of `DIR`")
			f.ReadsFiles(&c.data, "data", func(context.Context) []string { return Files(c.data) })
			f.Var(&c.set, "set", "change a setting, `NAME=VALUE` (repeatable)")
			f.Uint64Var(&c.seed, "seed", 1, "random seed, `N`")
			c.Compute.Declare(f)
			f.Group("Output", "")
			f.StringVar(&c.out, "o", "", "write each table to a .tsv file in `FOLDER`")
			f.Pages()
			f.Check(c.check)
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
	c.chosen = &c.experiments[at]
	c.settings = c.chosen.New()
	c.f.Usage = "gramlab repro " + c.chosen.Name + " [flags]"
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", c.chosen.Paper, strings.TrimSpace(c.chosen.Help))
	report.Wrap(&b, "", fmt.Sprintf("Data: %s. Run time: %s.", c.chosen.Data, c.chosen.Time), 100)
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

func (c *command) list() string {
	var b strings.Builder
	for _, e := range c.experiments {
		report.Wrap(&b, "  "+report.Pad(e.Name, 18)+" ", fmt.Sprintf("%s; reads %s; %s", e.Paper, e.Data, e.Time), 100)
	}
	return b.String()
}

func (c *command) check() error {
	if c.chosen == nil && c.f.NFlag() > 0 {
		return cli.Usagef("the NAME of an experiment must come before the flags")
	}
	for _, setting := range c.set {
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
	if c.chosen == nil {
		_, err := fmt.Fprint(e.Stdout, c.list())
		return err
	}
	begin := time.Now()
	backend.ResetPeak()
	c.Limit()
	p := e.Progress(true)
	defer p.Clear()
	out, err := c.settings.Run(ctx, &Run{
		Data: c.data, Workers: c.Workers, ISA: c.ISA, MemoryBytes: c.Budget(), Seed: c.seed, Device: c.device,
		Tell: func(stage string, done, total int64) { p.Tell(stage, done, total, nil) },
		Warn: func(message string) { p.Clear(); e.Warn("%s", message) },
	})
	p.Clear()
	if out == nil || err != nil && len(out.Tables) == 0 {
		return err
	}
	if c.OnGPU() {
		out.Set("computed by", "the GPU")
	} else if c.Why() != "" {
		out.Set("computed by", "auto: %s", c.Why())
	}
	out.Experiment, out.Paper = c.chosen.Name, c.chosen.Paper
	out.Seconds, out.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	if err != nil {
		out.Incomplete = "stopped before the end"
	} else if c.out != "" {
		err = out.Save(c.out)
	}
	if printed := c.Report(e, c.f, out); err == nil {
		err = printed
	}
	return err
}

// device opens the GPU and loads the documents, or returns nil if the GPU isn't used.
func (c *command) device(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
	if c.Job(x.Rows()) != backend.CUDA {
		return nil, nil
	}
	return c.Load(ctx, x)
}
