package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/run"
)

// Version is the version of the module and its programs.
const Version = "0.1.0"

// Exit statuses. A command ended by a signal returns ExitSignalBase plus the signal's number, as in
// shells: 130 after ^C, 143 after SIGTERM, 129 after the terminal was closed.
const (
	ExitSuccess    = 0
	ExitFailure    = 1
	ExitUsage      = 2
	ExitSignalBase = 128
)

// Program is a program with several commands.
type Program struct {
	Name        string
	Description string     // first lines of the help text
	Examples    string     // last lines of the help text
	Commands    []*Command // commands in the order of the help text
	Topics      []Topic    // help topics besides commands

	Redact func(message string) string // filter of all messages; nil for none
}

// Command is one of the program's commands.
type Command struct {
	Name      string
	Summary   string // one line for the list of commands
	ArgsUsage string // arguments after the flags, for the usage line
	Help      string // description in a few lines
	Examples  string // examples, one line each
	// Setup declares the flags and returns the work, which runs after they are parsed and checked.
	Setup func(f *Flags) RunFunc

	NoJSON bool // true if there is no -json flag, because the output has a single format
}

func (c *Command) flags() (*Flags, RunFunc) {
	f := newFlags(c.Name, !c.NoJSON)
	return f, c.Setup(f)
}

// RunFunc does the work of a command after flags are parsed and checked.
type RunFunc func(ctx context.Context, e *Env) error

// Env is the environment of a command.
type Env struct {
	ProgramName    string // name, used as a prefix of messages
	Stdout, Stderr io.Writer

	Quiet bool // true to print only errors

	reportWriter io.Writer // destination of reports
	redact       func(string) string

	mu      sync.Mutex
	printed map[string]bool
}

// ReportWriter returns the writer for reports: standard output or, if the command's result goes
// there, standard error. Quiet commands have no report if -o writes the result.
func (e *Env) ReportWriter() io.Writer { return cmp.Or(e.reportWriter, e.Stdout) }

// Infof prints a message on standard error unless Quiet is set. It omits repeated messages.
func (e *Env) Infof(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !e.Quiet && !e.printed[text] {
		if e.printed == nil {
			e.printed = map[string]bool{}
		}
		e.printed[text] = true
		e.printf("%s: %s\n", e.ProgramName, text)
	}
}

func (e *Env) printf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if e.redact != nil {
		text = e.redact(text)
	}
	_, _ = io.WriteString(e.Stderr, text) // a write error can't be reported
}

// Warnf is like Infof, for a warning.
func (e *Env) Warnf(format string, args ...any) { e.Infof("warning: "+format, args...) }

// UsageError is an error in the command-line arguments.
type UsageError struct{ Err error }

func (u UsageError) Error() string { return u.Err.Error() }
func (u UsageError) Unwrap() error { return u.Err }

// Usagef is like [fmt.Errorf], but returns a [UsageError].
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// ErrReported is the error of a command that has already printed its errors.
var ErrReported = errors.New("failed")

// Run runs the command args[0] with the arguments after it, and returns the exit status.
func (p *Program) Run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := signalContext(stderr, p.Name)
	defer stop()

	if len(args) == 0 {
		p.printOverview(stderr)
		return ExitUsage
	}
	e := &Env{ProgramName: p.Name, Stdout: stdout, Stderr: stderr, redact: p.Redact}
	if file, ok := stdout.(*os.File); ok && matrixio.IsStdoutClosed(file) {
		e.Stdout = closedOutput{}
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help", "help":
		if name != "help" || len(rest) == 0 || rest[0] == "help" {
			return e.printText(p.printOverview)
		}
		for _, t := range append(p.Topics, p.completionTopic()) {
			if t.Name == rest[0] {
				return e.printText(t.write)
			}
		}
		name, rest = rest[0], append(rest[1:len(rest):len(rest)], "-help")
	case "-version", "--version":
		name = "version"
	case "completion":
		return p.printCompletion(e, rest)
	case "man":
		return e.printText(p.printManual)
	}
	for _, c := range p.Commands {
		if c.Name == name {
			return p.execute(ctx, c, rest, e)
		}
	}
	what, known := "command", p.commandNames()
	if args[0] == "help" {
		what = "command or topic"
		for _, t := range p.Topics {
			known = append(known, t.Name)
		}
	}
	e.Infof("unknown %s %q; valid names are %s%s", what, name, strings.Join(known, ", "), suggestion(name, known))
	return ExitUsage
}

func (p *Program) commandNames() []string {
	var names []string
	for _, c := range p.Commands {
		names = append(names, c.Name)
	}
	return names
}

// closedOutput discards output. It replaces standard output if standard output is closed. Go then
// opens the null device for reading and writing. Some programs open the null device in this way to
// discard output, so writing a report isn't an error.
type closedOutput struct{}

func (closedOutput) Write(b []byte) (int, error) { return len(b), nil }

// errClosed is the error for a result that would be lost.
var errClosed = errors.New("standard output is closed; use -o FILE, a pipe or >/dev/null")

// printText writes a text to standard output in a single write. It returns ExitFailure if the write
// fails, such as on a full disk.
func (e *Env) printText(write func(io.Writer)) int {
	var b strings.Builder
	write(&b)
	if _, err := io.WriteString(e.Stdout, b.String()); err != nil {
		fmt.Fprintf(e.Stderr, "%s: %v\n", e.ProgramName, err)
		return ExitFailure
	}
	return ExitSuccess
}

// execute parses a command's flags, runs the command and turns its error into an exit status.
func (p *Program) execute(ctx context.Context, c *Command, args []string, e *Env) int {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // restores the memory limit after the command
	f, work := c.flags()
	f.ProgramName = p.Name
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return e.printText(func(w io.Writer) { p.writeHelp(c, w, f) })
	}
	if err == nil {
		err = f.checkFiles(ctx, e)
	}
	if err == nil {
		e.Quiet = f.Quiet
		err = f.wrapper(ctx, e, work)
	}
	for _, end := range f.cleanups {
		err = errors.Join(err, end())
	}
	who := p.Name + " " + f.Name()
	var usage UsageError
	switch {
	case err == nil:
		return ExitSuccess
	case errors.As(err, &usage):
		e.printf("%s: %s\nRun '%[1]s -help' for usage.\n", who, flagtext.UserMessage(err))
		return ExitUsage
	case ctx.Err() != nil:
		return reportInterrupt(ctx, e.Stderr, who)
	case !errors.Is(err, ErrReported):
		e.printf("%s: %s\n", who, flagtext.UserMessage(err))
		if failed := (*run.PanicError)(nil); errors.As(err, &failed) {
			e.printf("\n%s", failed.Stack)
		}
	}
	return ExitFailure
}

// suggestion returns a suggestion for a mistyped word, or "" if no known word is similar.
func suggestion(word string, known []string) string {
	if best := run.ClosestWord(word, known); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}
