//go:build unix

// Package servers starts servers for tests: a real S3 server and a Spark cluster, as local
// processes. Only tests import it.
//
// Starting a server takes a minute, so tests that need a server are skipped unless GRAM_SERVERS is
// set, as in `make cluster-check`. With GRAM_SERVERS, a test fails if its server doesn't start.
package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// RequireServers skips the test unless GRAM_SERVERS is set.
func RequireServers(t testing.TB) {
	t.Helper()
	if os.Getenv("GRAM_SERVERS") == "" {
		t.Skip("GRAM_SERVERS is not set; run this test with `make cluster-check`, which installs the servers")
	}
}

// sourcePath returns the path of a file next to this source file.
func sourcePath(name string) string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), name)
}

// freePort returns an unused TCP port of 127.0.0.1, below the range of ephemeral ports.
func freePort(t testing.TB) int {
	t.Helper()
	for {
		port := 10000 + rand.IntN(22000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			l.Close()
			return port
		} else if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}

// processLog collects the output of a process. It may be read while the process runs.
type processLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *processLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *processLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start runs cmd in a process group until the test ends. It waits until ready returns true for the
// output so far. The test fails if this takes more than five minutes.
func start(t testing.TB, cmd *exec.Cmd, ready func(log string) bool) {
	t.Helper()
	out := &processLog{}
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancelCause(context.Background())
	go func() { cancel(fmt.Errorf("it exited early: %v", cmd.Wait())) }()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended.Done()
		if t.Failed() {
			t.Logf("%s wrote:\n%s", filepath.Base(cmd.Path), out)
		}
	})
	deadline := time.After(5 * time.Minute) // long enough for a slow, busy computer
	for !ready(out.String()) {
		select {
		case <-ended.Done():
			t.Fatalf("%s: %v", cmd, context.Cause(ended))
		case <-deadline:
			t.Fatalf("%s was not ready within five minutes", cmd)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// acceptsConnections returns a function for start that reports whether a server accepts connections
// at address.
func acceptsConnections(address string) func(string) bool {
	return func(string) bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
}
