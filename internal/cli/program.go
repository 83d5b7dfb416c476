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

// Exit statuses. A command ended by a signal returns Signalled plus the signal's number, as in
// shells: 130 after ^C, 143 after SIGTERM, 129 after the terminal was closed.
const (
	Done      = 0
	Failed    = 1
	Misuse    = 2
	Signalled = 128
)

// Program is a program with several commands.
type Program struct {
	Name     string
	About    string     // first lines of the help text
	Examples string     // last lines of the help text
	Commands []*Command // commands in the order of the help text
	Topics   []Topic    // help topics besides commands

	Redact func(message string) string // filter of all messages; nil for none
}

// Command is one of the program's commands.
type Command struct {
	Name     string
	Summary  string // one line for the list of commands
	Args     string // arguments after the flags, for the usage line
	Help     string // description in a few lines
	Examples string // three examples, one line each
	// Setup declares the flags and returns the work, which runs after they are parsed and checked.
	Setup func(f *Flags) Work

	NoJSON bool // no -json flag, because the output has a single format
}

func (c *Command) flags() (*Flags, Work) {
	f := newFlags(c.Name, !c.NoJSON)
	return f, c.Setup(f)
}

// Work runs a command.
type Work func(ctx context.Context, e *Env) error

// Env is the environment of a command.
type Env struct {
	Program        string // name, used as a prefix of messages
	Stdout, Stderr io.Writer

	Quiet bool // print only errors

	reports io.Writer // destination of reports
	redact  func(string) string

	mu   sync.Mutex
	said map[string]bool
}

// Reports returns the writer for reports: standard output or, if the command's result goes there,
// standard error. Quiet commands have no report if -o writes the result.
func (e *Env) Reports() io.Writer { return cmp.Or(e.reports, e.Stdout) }

// Say prints a message on standard error. It prints the same message only once.
func (e *Env) Say(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if text := fmt.Sprintf(format, args...); !e.Quiet && !e.said[text] {
		if e.said == nil {
			e.said = map[string]bool{}
		}
		e.said[text] = true
		e.tell("%s: %s\n", e.Program, text)
	}
}

func (e *Env) tell(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if e.redact != nil {
		text = e.redact(text)
	}
	_, _ = io.WriteString(e.Stderr, text) // a write error can't be reported
}

// Warn prints a warning on standard error. It prints the same warning only once.
func (e *Env) Warn(format string, args ...any) { e.Say("warning: "+format, args...) }

// UsageError is an error in the arguments of the command line.
type UsageError struct{ Err error }

func (u UsageError) Error() string { return u.Err.Error() }
func (u UsageError) Unwrap() error { return u.Err }

// Usagef makes a [UsageError].
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// ErrReported is the error of a command that has already printed its errors.
var ErrReported = errors.New("failed")

// Run runs the program and returns its exit status.
func (p *Program) Run(args []string, stdout, stderr io.Writer) int {
	ctx, stop := interruptible(stderr, p.Name)
	defer stop()

	if len(args) == 0 {
		p.overview(stderr)
		return Misuse
	}
	e := &Env{Program: p.Name, Stdout: stdout, Stderr: stderr, redact: p.Redact}
	if file, ok := stdout.(*os.File); ok && matrixio.Closed(file) {
		e.Stdout = closed{}
	}
	name, rest := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help", "help":
		if name != "help" || len(rest) == 0 || rest[0] == "help" {
			return e.print(p.overview)
		}
		for _, t := range append(p.Topics, p.completion()) {
			if t.Name == rest[0] {
				return e.print(t.write)
			}
		}
		name, rest = rest[0], append(rest[1:len(rest):len(rest)], "-help")
	case "-version", "--version":
		name = "version"
	case "completion":
		return p.complete(e, rest)
	case "man":
		return e.print(p.man)
	}
	for _, c := range p.Commands {
		if c.Name == name {
			return p.execute(ctx, c, rest, e)
		}
	}
	what, known := "command", p.names()
	if args[0] == "help" {
		what = "command or topic"
		for _, t := range p.Topics {
			known = append(known, t.Name)
		}
	}
	e.Say("unknown %s %q; valid names are %s%s", what, name, strings.Join(known, ", "), meant(name, known))
	return Misuse
}

func (p *Program) names() []string {
	var names []string
	for _, c := range p.Commands {
		names = append(names, c.Name)
	}
	return names
}

// closed discards output. It replaces standard output if standard output is closed. Go then opens
// the null device for reading and writing. Some programs open the null device in this way to
// discard output, so writing a report isn't an error.
type closed struct{}

func (closed) Write(b []byte) (int, error) { return len(b), nil }

// errClosed is the error for a result that would be lost.
var errClosed = errors.New("standard output is closed; use -o FILE, a pipe or >/dev/null")

// print writes a text to standard output in a single write. It returns Failed if the write fails,
// such as on a full disk.
func (e *Env) print(write func(io.Writer)) int {
	var b strings.Builder
	write(&b)
	if _, err := io.WriteString(e.Stdout, b.String()); err != nil {
		fmt.Fprintf(e.Stderr, "%s: %v\n", e.Program, err)
		return Failed
	}
	return Done
}

// execute parses a command's flags, runs the command and turns its error into an exit status.
func (p *Program) execute(ctx context.Context, c *Command, args []string, e *Env) int {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1)) // restores the memory limit after the command
	f, work := c.flags()
	f.Program = p.Name
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return e.print(func(w io.Writer) { p.writeHelp(c, w, f) })
	}
	if err == nil {
		err = f.checkFiles(ctx, e)
	}
	if err == nil {
		e.Quiet = f.Quiet
		err = f.around(ctx, e, work)
	}
	for _, end := range f.ends {
		err = errors.Join(err, end())
	}
	who := p.Name + " " + f.Name()
	var usage UsageError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &usage):
		e.tell("%s: %s\nRun '%[1]s -help' for usage.\n", who, flagtext.Plain(err))
		return Misuse
	case ctx.Err() != nil:
		return statusOf(ctx, e.Stderr, who)
	case !errors.Is(err, ErrReported):
		e.tell("%s: %s\n", who, flagtext.Plain(err))
		if failed := (*run.PanicError)(nil); errors.As(err, &failed) {
			e.tell("\n%s", failed.Stack)
		}
	}
	return Failed
}

// meant returns a suggestion for a mistyped word, or "" if no known word is similar.
func meant(word string, known []string) string {
	if best := run.Nearest(word, known); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}
