//go:build unix

package serve

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// A model that isn't there yet, in a pipe or on a disk that hangs, doesn't keep the service from ending.
func TestEndsWhileAModelIsRead(t *testing.T) {
	model, _ := save(t, gram.TrainOptions{Kernel: "linear", C: 1})
	said, stderr := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	r := &run{model: model, addr: "localhost:0", body: 1 << 20, timeout: time.Minute}
	go func() { ended <- r.run(ctx, &cli.Env{Program: "grambench", Stdout: io.Discard, Stderr: stderr}) }()
	lines := bufio.NewScanner(said)
	if lines.Scan(); !strings.Contains(lines.Text(), "serving "+model) {
		t.Fatalf("it says %q", lines.Text())
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	musttest.Do(t, syscall.Mkfifo(pipe, 0o600))
	musttest.Do(t, os.Rename(pipe, model))
	musttest.Do(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	writer := musttest.Get(os.OpenFile(model, os.O_WRONLY, 0))(t) // comes when the service reads
	defer writer.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
