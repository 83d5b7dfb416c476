package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	report2 "github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/cmd/grambench/internal/source"
)

// version is the version of the program.
const version = "0.1.0"

// Exit statuses.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// grace is how long a command may take to end by itself after ^C.
const grace = 800 * time.Millisecond

// env is the world as a command sees it.
type env struct {
	stdout, stderr io.Writer
}

// command is one of grambench's commands.
type command struct {
	name    string
	summary string // for the list of commands
	args    string // what may stand behind the flags, for the usage line
	help    string // what comes between the usage line and the flags
	// setup declares the flags and returns what runs once they are parsed.
	setup func(f *flags) func(ctx context.Context, e *env) error
}

// commands returns the commands in the order of the help text.
func commands() []command {
	return []command{verifyCommand}
}

var (
	parseGridList = source.ParseValues
	kernelsOn     = source.KernelsOn
)

type gridList = source.Values

// gramOf is for spectrum, until it is moved.
func gramOf(n int) string { return "a Gram matrix of " + report2.Documents(n) }

// orUnknown is for bench, until it is moved.
func orUnknown(s string) string { return report2.Known(s) }

// usageError is a mistake in how the program was called.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }
func (u usageError) Unwrap() error { return u.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errReported says that the command failed and has said so already.
var errReported = errors.New("failed")

// runLegacy is the whole program; stdin is there for commands that will read it.
func runLegacy(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the work goes on when the terminal closes
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	// After the first signal the default behaviour is back, so a second ^C kills at once. Commands heed the context, but some steps can't (a
	// sort, a sync of a slow disk): past the grace period the program removes what is half written and ends.
	stopWatch := context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(grace)
		matrixio.AbortAll()
		fmt.Fprintln(stderr, "grambench: interrupted, nothing half-written was left behind")
		os.Exit(exitFailed)
	})
	defer stopWatch()

	if len(args) == 0 {
		writeOverview(stderr)
		return exitUsage
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help", "help":
		if name == "help" && len(rest) == 1 {
			name, rest = rest[0], []string{"-help"}
			break
		}
		return printed(stdout, stderr, writeOverview)
	case "version", "-version", "--version":
		return printed(stdout, stderr, func(w io.Writer) { fmt.Fprintln(w, "grambench", version) })
	}
	for _, c := range commands() {
		if c.name == name {
			return c.execute(ctx, rest, &env{stdout: stdout, stderr: stderr})
		}
	}
	fmt.Fprintf(stderr, "grambench: unknown command %q, expected one of %s\n", name, commandNames())
	return exitUsage
}

// printed prints what write writes at once, and returns the exit status: on a full disk a text isn't done.
func printed(stdout, stderr io.Writer, write func(io.Writer)) int {
	var b strings.Builder
	write(&b)
	if _, err := io.WriteString(stdout, b.String()); err != nil {
		fmt.Fprintln(stderr, "grambench:", err)
		return exitFailed
	}
	return exitDone
}

// execute parses the command's flags, runs it and turns its error into an exit status.
func (c command) execute(ctx context.Context, args []string, e *env) int {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // a command's limit ends with it
	f := newFlags(c.name)
	work := c.setup(f)
	err := f.parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return printed(e.stdout, e.stderr, func(w io.Writer) { writeCommandHelp(w, c, f) })
	}
	if err == nil {
		err = f.checkFiles(ctx, e)
	}
	if err == nil {
		err = f.do(ctx, e, work)
	}
	err = errors.Join(err, f.closeGPU())
	var usage usageError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage):
		fmt.Fprintf(e.stderr, "grambench %s: %v\nRun 'grambench %s -help' for what is allowed.\n", c.name, err, c.name)
		return exitUsage
	case ctx.Err() != nil:
		fmt.Fprintf(e.stderr, "grambench %s: interrupted, nothing half-written was left behind\n", c.name)
	case !errors.Is(err, errReported):
		fmt.Fprintf(e.stderr, "grambench %s: %v\n", c.name, err)
	}
	return exitFailed
}

// commandNames lists the commands for an error message.
func commandNames() string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return strings.Join(names, ", ")
}

// warn prints a warning.
func warn(w io.Writer, message string) { fmt.Fprintln(w, "grambench: warning:", message) }

var formatSeconds = report2.Seconds
