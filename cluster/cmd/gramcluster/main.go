// Command gramcluster divides work of grambench among machines: it plans tasks, does them and gathers
// their results. What starts it on many machines (Spark, Slurm, Kubernetes, xargs) is up to the user.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/tiles/atomicfile"
)

func main() {
	ctx, stop := interruptible(os.Stderr)
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// The exit status.
const (
	succeeded = 0
	failed    = 1
	misused   = 2
)

// env is what a command reads and writes.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}

// say writes a line to standard error, without credentials of URLs that were given by mistake.
func (e *env) say(format string, args ...any) {
	fmt.Fprintln(e.stderr, store.Redact(fmt.Sprintf(format, args...)))
}

// command is a command: setup declares its flags, and returns what runs it.
type command struct {
	name, args, summary, help string
	setup                     func(f *flag.FlagSet) func(ctx context.Context, e *env) error
}

// usageError is an error of the flags.
type usageError struct{ err error }

func (u usageError) Error() string { return u.err.Error() }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errReported stands for errors that the output has named already.
var errReported = errors.New("reported")

// run is the whole program.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	e := &env{stdin, stdout, stderr}
	if len(args) == 0 {
		writeHelp(stderr)
		return misused
	}
	c, args, err := find(args)
	if err == nil && c == nil {
		return help(e, args)
	}
	if err != nil {
		e.say("gramcluster: %v", err)
		return misused
	}
	f := flag.NewFlagSet(c.name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	do := c.setup(f)
	err = f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		c.write(stdout, f)
		return succeeded
	case err == nil && f.NArg() > 0:
		err = fmt.Errorf("argument %q, expected flags only", f.Arg(0))
	}
	if err != nil {
		e.say("gramcluster %s: %v (gramcluster %s -help lists the flags)", c.name, err, c.name)
		return misused
	}
	err = do(ctx, e)
	switch usage := (usageError{}); {
	case err == nil:
		return succeeded
	case ctx.Err() != nil:
		e.say("gramcluster %s: interrupted; nothing half-written was left behind", c.name)
		return statusOf(ctx)
	case errors.Is(err, errReported):
		return failed
	case errors.As(err, &usage):
		e.say("gramcluster %s: %v (gramcluster %s -help says more)", c.name, err, c.name)
		return misused
	default:
		e.say("gramcluster %s: %v", c.name, err)
		return failed
	}
}

// interruption is the cause of the end of a context that a signal has ended.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return i.signal.String() }

// grace is how long a command may take to end by itself after a signal.
const grace = 800 * time.Millisecond

// interruptible returns a context that the first signal to end ends. Past the grace period the
// program removes what is half written and ends; a second signal kills at once.
func interruptible(stderr io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	received, done := make(chan os.Signal, 1), make(chan struct{})
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the work goes on when the terminal closes
		signals = append(signals, syscall.SIGHUP)
	}
	signal.Notify(received, signals...)
	go func() {
		select {
		case <-done:
			return
		case s := <-received:
			signal.Stop(received)
			number, _ := s.(syscall.Signal)
			cancel(interruption{number})
		}
		select {
		case <-done:
		case <-time.After(grace):
			atomicfile.AbortAll()
			fmt.Fprintln(stderr, "gramcluster: interrupted; nothing half-written was left behind")
			os.Exit(statusOf(ctx))
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(done)
		cancel(context.Canceled)
	}
}

// statusOf is the exit status of a program that a signal has ended.
func statusOf(ctx context.Context) int {
	if by, ok := context.Cause(ctx).(interruption); ok {
		return 128 + int(by.signal)
	}
	return failed
}
