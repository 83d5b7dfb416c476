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

// GracePeriod is the time that a command has to end by itself after ^C. It is a variable for tests.
var GracePeriod = 800 * time.Millisecond

// signalError is the cause of a context that was cancelled by a signal.
type signalError struct{ signal syscall.Signal }

func (i signalError) Error() string { return i.signal.String() }

// signalContext returns a context that the first signal cancels. A second ^C kills the program.
// Commands watch the context, except during steps such as sorting or a sync to a slow disk.
// Therefore, after the grace period the program removes incomplete files and exits.
func signalContext(stderr io.Writer, program string) (ctx context.Context, stop func()) {
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
			cancel(signalError{number})
		}
		select {
		case <-done:
		case <-time.After(GracePeriod):
			matrixio.AbortAll()
			os.Exit(reportInterrupt(ctx, stderr, program))
		}
	}()
	return ctx, func() {
		signal.Stop(received)
		close(done)
		cancel(context.Canceled)
	}
}

func reportInterrupt(ctx context.Context, stderr io.Writer, who string) int {
	fmt.Fprintf(stderr, "%s: interrupted; incomplete output files were removed\n", who)
	if by, ok := context.Cause(ctx).(signalError); ok {
		return ExitSignalBase + int(by.signal)
	}
	return ExitFailure
}
