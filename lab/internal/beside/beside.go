// Package beside has what commands share that measure grambench beside other programs: flags, a folder
// of their own, and runs of programs.
package beside

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Bench is one run of such a command.
type Bench struct {
	Grambench string // the program that is measured
	Python    string // "" where [Bench.NeedPython] found none
	Data      string // the folder of corpora
	Threads   int    // of every program
	Rounds    int    // runs of each

	Out          io.Writer // for tables
	name, folder string
	stderr       io.Writer
}

// Command is what a command does with its flags.
type Command struct {
	Rounds   int                 // the default of -rounds; 0 for a command without that flag
	Flags    func(*flag.FlagSet) // declares its own
	Valid    func() bool         // whether they make sense
	Expected string              // what they should be
	Measure  func(context.Context) error
}

// Run is the whole program; it returns the exit status: 0 done, 1 failed, 2 wrong usage.
func (b *Bench) Run(name string, args []string, stdout, stderr io.Writer, c Command) int {
	b.name, b.Out, b.stderr = name, stdout, stderr
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&b.Grambench, "grambench", filepath.Join("bin", "grambench"), "the command to measure")
	set.StringVar(&b.Python, "python", cmp.Or(os.Getenv("PYTHON"), "python3"),
		"a Python with the packages to compare with; default $PYTHON")
	set.StringVar(&b.Data, "data", cmp.Or(os.Getenv("DATA"), filepath.Join("..", "shared", "data")),
		"folder of the corpora, such as 20news-bydate/train.tsv.gz; default $DATA")
	set.IntVar(&b.Threads, "threads", runtime.NumCPU(), "threads of every program")
	if b.Rounds = 1; c.Rounds > 0 {
		set.IntVar(&b.Rounds, "rounds", c.Rounds, "runs of each program that grambench is measured against")
	}
	c.Flags(set)
	if err := set.Parse(args); err != nil {
		return 2
	}
	if set.NArg() > 0 || b.Threads < 1 || b.Rounds < 1 || !c.Valid() {
		b.Say("expected flags only, -threads and -rounds of at least 1, and %s", c.Expected)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := b.measure(ctx, c.Measure)
	switch {
	case ctx.Err() != nil:
		b.Say("interrupted, nothing half-written was left behind")
	case err != nil:
		b.Say("%v", err)
	default:
		return 0
	}
	return 1
}

// measure finds the program and makes the folder.
func (b *Bench) measure(ctx context.Context, measure func(context.Context) error) (err error) {
	if _, err := os.Stat(b.Grambench); err != nil {
		return fmt.Errorf("%w (make build makes it)", err)
	}
	if b.Grambench, err = filepath.Abs(b.Grambench); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", b.name); err != nil {
		return err
	}
	defer os.RemoveAll(b.folder)
	return measure(ctx)
}

// Say writes a line to standard error.
func (b *Bench) Say(format string, args ...any) {
	fmt.Fprintf(b.stderr, b.name+": "+format+"\n", args...)
}

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

// HasPython returns whether Python has modules, and says so where it hasn't.
func (b *Bench) HasPython(ctx context.Context, modules string) bool {
	out, err := exec.CommandContext(ctx, b.Python, "-c", "import "+modules).CombinedOutput()
	if err != nil {
		b.Say("left out: %s, since %s says %v %.200s (PYTHON names another)", modules, b.Python, err, out)
	}
	return err == nil
}
