package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gramengine/gram/internal/matrixio"
)

// Grace is the time that a command has to end by itself after ^C. It is a variable for tests.
var Grace = 800 * time.Millisecond

// interruption is the cause of a context that was cancelled by a signal.
type interruption struct{ signal syscall.Signal }

func (i interruption) Error() string { return i.signal.String() }

// interruptible returns a context that the first signal cancels. A second ^C kills the program.
// Commands watch the context, except during steps such as sorting or a sync to a slow disk.
// Therefore, after the grace period the program removes incomplete files and exits.
func interruptible(stderr io.Writer, program string) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // under nohup the program continues when the terminal closes
		signals = append(signals, syscall.SIGHUP)
	}
	received, done := make(chan os.Signal, 1), make(chan struct{})
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
		case <-time.After(Grace):
			matrixio.AbortAll()
			os.Exit(statusOf(ctx, stderr, program))
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(done)
		cancel(context.Canceled)
	}
}

// statusOf prints that a program was interrupted, and returns the exit status.
func statusOf(ctx context.Context, stderr io.Writer, who string) int {
	fmt.Fprintf(stderr, "%s: interrupted; incomplete output files were removed\n", who)
	if by, ok := context.Cause(ctx).(interruption); ok {
		return Signalled + int(by.signal)
	}
	return Failed
}
