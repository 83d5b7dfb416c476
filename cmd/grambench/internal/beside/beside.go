// Package beside has what commands share that measure grambench beside other programs: flags, a folder
// of their own, and runs of programs.
package beside

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
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

	name, folder string
	stderr       io.Writer
}

// Command is what a command does with its flags.
type Command struct {
	Flags    func(*flag.FlagSet) // declares its own
	Valid    func() bool         // whether they make sense
	Expected string              // what they should be
	Measure  func(context.Context) error
}

// Run is the whole program; it returns the exit status: 0 done, 1 failed, 2 wrong usage.
func (b *Bench) Run(name string, args []string, stderr io.Writer, c Command) int {
	b.name, b.stderr = name, stderr
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(stderr)
	set.StringVar(&b.Grambench, "grambench", filepath.Join("bin", "grambench"), "the command to measure")
	set.StringVar(&b.Python, "python", cmp.Or(os.Getenv("PYTHON"), "python3"),
		"a Python with the packages to compare with; default $PYTHON")
	set.StringVar(&b.Data, "data", cmp.Or(os.Getenv("DATA"), filepath.Join("..", "shared", "data")),
		"folder of the corpora, such as 20news-bydate/train.tsv.gz; default $DATA")
	set.IntVar(&b.Threads, "threads", runtime.NumCPU(), "threads of every program")
	c.Flags(set)
	if err := set.Parse(args); err != nil {
		return 2
	}
	if set.NArg() > 0 || b.Threads < 1 || !c.Valid() {
		b.Say("expected flags only, -threads of at least 1, and %s", c.Expected)
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

// Ran is a run of a program.
type Ran struct {
	Stdout, Stderr string
	Seconds        float64
	Cores          float64 // processor time by elapsed time
}

// Execute runs a program.
func (b *Bench) Execute(ctx context.Context, name string, args ...string) (r Ran, err error) {
	c := exec.CommandContext(ctx, name, args...)
	threads := strconv.Itoa(b.Threads)
	c.Env = append(os.Environ(), "OMP_NUM_THREADS="+threads, "OPENBLAS_NUM_THREADS="+threads)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	begin := time.Now()
	err = c.Run()
	r.Seconds = time.Since(begin).Seconds()
	if ctx.Err() != nil {
		return r, ctx.Err()
	}
	if err != nil {
		said := strings.TrimSpace(errs.String() + "\n" + out.String())
		return r, fmt.Errorf("%s: %w: %s", name, err, said[max(0, len(said)-2000):])
	}
	r.Stdout, r.Stderr = out.String(), errs.String()
	r.Cores = (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds() / r.Seconds
	return r, nil
}

// Own runs a command of grambench and reads what it prints as JSON.
func (b *Bench) Own(ctx context.Context, into any, args ...string) (Ran, error) {
	return b.read(ctx, into, b.Grambench, append(args, "-workers", strconv.Itoa(b.Threads), "-json")...)
}

// Script runs a script of Python and reads what it prints as JSON.
func (b *Bench) Script(ctx context.Context, into any, script string, args ...string) (Ran, error) {
	return b.read(ctx, into, b.Python, append([]string{"-c", script}, args...)...)
}

func (b *Bench) read(ctx context.Context, into any, name string, args ...string) (Ran, error) {
	r, err := b.Execute(ctx, name, args...)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal([]byte(r.Stdout), into); err != nil {
		return r, fmt.Errorf("%s printed %.200q: %w", filepath.Base(name), r.Stdout, err)
	}
	return r, nil
}
