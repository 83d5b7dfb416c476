// Package peers has what comparisons of gram with other programs share: the command bench, its flags, a
// folder for each run, and runs of programs.
package peers

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
)

// Bench is one run of a comparison.
type Bench struct {
	Grambench string // the program that is measured
	Python    string // "" where [Bench.NeedPython] found none
	Data      string // the folder of corpora
	Threads   int    // of every program
	Rounds    int    // runs of each

	Out    io.Writer // for tables
	env    *cli.Env
	folder string
	has    map[string]bool // what HasPython returned
}

// Program is a comparison with some programs.
type Program struct {
	Name, Summary string
	New           func() (*Bench, Command)
}

// Command is what a comparison does with its flags.
type Command struct {
	Rounds   int                 // the default of -rounds; 0 for a comparison without that flag
	Flags    func(*flag.FlagSet) // declares its own
	Valid    func() bool         // whether they make sense
	Expected string              // what they should be
	Measure  func(context.Context) error
}

// BenchCommand returns the command bench, which has a comparison for each NAME.
func BenchCommand(programs ...Program) *cli.Command {
	var names []string
	help := "Compares gram with other programs, on the same documents in the same run.\n" +
		"A program or a corpus that is missing is left out, which it says.\n\n"
	for _, p := range programs {
		names = append(names, p.Name)
		help += fmt.Sprintf("  %-8s %s\n", p.Name, p.Summary)
	}
	return &cli.Command{
		Name: "bench", Summary: "compare gram with other programs", Args: "NAME", Help: help,
		Examples: "gramlab bench pca -data corpora -python venv/bin/python\ngramlab bench NAME -help",
		Setup: func(f *cli.Flags) cli.Work {
			b, c := &Bench{}, Command{}
			f.Usage = "gramlab bench NAME [flags]"
			f.Rewrite = func(args []string) ([]string, error) {
				if len(args) == 0 || strings.HasPrefix(args[0], "-") {
					return args, nil
				}
				at := slices.Index(names, args[0])
				if at < 0 {
					return nil, cli.Usagef("no comparison %q, expected one of %s", args[0], report.Join(names))
				}
				b, c = programs[at].New()
				f.Usage, f.Help = "gramlab bench "+args[0]+" [flags]", "Measures "+programs[at].Summary+"."
				b.declare(f, c)
				return args[1:], nil
			}
			f.Check(func() error {
				switch {
				case c.Measure == nil:
					return cli.Usagef("the NAME of a comparison is missing, expected one of %s", report.Join(names))
				case f.JSON:
					return cli.Usagef("-json doesn't apply to bench, which prints tables")
				case b.Threads < 1 || b.Rounds < 1 || !c.Valid():
					return cli.Usagef("expected -threads and -rounds of at least 1, and %s", c.Expected)
				}
				return nil
			})
			return func(ctx context.Context, e *cli.Env) error {
				b.env, b.Out = e, e.Stdout
				return b.measure(ctx, c.Measure)
			}
		},
	}
}

// declare declares the flags that all comparisons have, and their own.
func (b *Bench) declare(f *cli.Flags, c Command) {
	f.Group("Comparison", "")
	f.StringVar(&b.Grambench, "gram", filepath.Join("bin", "gram"), "the `PROGRAM` to measure")
	f.StringVar(&b.Python, "python", cmp.Or(os.Getenv("PYTHON"), "python3"),
		"a `PYTHON` with the packages to compare with; default $PYTHON")
	f.StringVar(&b.Data, "data", cmp.Or(os.Getenv("DATA"), filepath.Join("..", "shared", "data")),
		"`FOLDER` of the corpora, such as 20news-bydate/train.tsv.gz; default $DATA")
	f.IntVar(&b.Threads, "threads", runtime.NumCPU(), "`N` threads of every program")
	if b.Rounds = 1; c.Rounds > 0 {
		f.IntVar(&b.Rounds, "rounds", c.Rounds, "`N` runs of each program that gram is measured against")
	}
	c.Flags(f.FlagSet)
}

// measure finds the program and makes the folder.
func (b *Bench) measure(ctx context.Context, measure func(context.Context) error) (err error) {
	if _, err := os.Stat(b.Grambench); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	if b.Grambench, err = filepath.Abs(b.Grambench); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "gramlab"); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	return measure(ctx)
}

// Say writes a line to standard error.
func (b *Bench) Say(format string, args ...any) { b.env.Say(format, args...) }

// File names a file of the run.
func (b *Bench) File(name string) string { return filepath.Join(b.folder, name) }

// Head says what computes, and when.
func (b *Bench) Head() string {
	return fmt.Sprintf("%s, %s, %s; %d threads", cpuid.CPU.BrandName, runtime.Version(),
		time.Now().Format(time.DateOnly), b.Threads)
}

// Find returns the path of a file in the folder of corpora, "" where it isn't there, which it says.
func (b *Bench) Find(corpus string, path ...string) string {
	file := filepath.Join(append([]string{b.Data}, path...)...)
	if _, err := os.Stat(file); err != nil {
		b.Say("left out: %s, since %v (DATA names the folder above)", corpus, err)
		return ""
	}
	return file
}

// NeedPython makes Python "" unless it has modules, and says so.
func (b *Bench) NeedPython(ctx context.Context, modules string) {
	if !b.HasPython(ctx, modules) {
		b.Python = ""
	}
}

// HasPython returns whether Python has modules, and says so once where it hasn't.
func (b *Bench) HasPython(ctx context.Context, modules string) bool {
	if has, asked := b.has[modules]; asked {
		return has
	}
	out, err := exec.CommandContext(ctx, b.Python, "-c", "import "+modules).CombinedOutput()
	if err != nil {
		b.Say("left out: %s, since %s says %v %.200s (PYTHON names another)", modules, b.Python, err, out)
	}
	if b.has == nil {
		b.has = map[string]bool{}
	}
	b.has[modules] = err == nil
	return err == nil
}
