//go:build unix

package serve

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/musttest"
)

// The service can be stopped while it waits for a model, for example from a pipe.
func TestEndsWhileAModelIsRead(t *testing.T) {
	model, _ := save(t, gram.TrainOptions{Kernel: "linear", C: 1})
	lines, cancel, ended := running(t, &serveFlags{model: model, addr: "localhost:0"})
	if lines.Scan(); !strings.Contains(lines.Text(), "serving "+model) {
		t.Fatalf("it says %q", lines.Text())
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	musttest.NoError(t, syscall.Mkfifo(pipe, 0o600))
	musttest.NoError(t, os.Rename(pipe, model))
	musttest.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	writer := musttest.Get(os.OpenFile(model, os.O_WRONLY, 0))(t) // returns when the service opens the pipe
	defer writer.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
