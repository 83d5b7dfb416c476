package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The program serves until ^C or SIGTERM. It exits with status 0 even during a request.
func TestServeEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	folder := t.TempDir()
	pets := filepath.Join(folder, "pets.tsv")
	musttest.NoError(t, os.WriteFile(pets, []byte("cat\tmeow purr\ndog\tbark bone\n"), 0o600))
	runs(t, "train", "-q", "-kernel", "linear", "-c", "1", "-min-df", "1", pets, filepath.Join(folder, "pets.model"))
	for _, end := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		c := exec.Command("gram", "serve", "-addr", "localhost:0", "pets.model")
		c.Dir = folder
		stderr, err := c.StderrPipe()
		if err == nil {
			err = c.Start()
		}
		musttest.NoError(t, err)
		lines := bufio.NewScanner(stderr)
		lines.Scan()
		_, address, ok := strings.Cut(lines.Text(), "gram: serving pets.model on ")
		if !ok {
			t.Fatalf("it says %q", lines.Text())
		}
		r := musttest.Get(http.Post(address+"/predict", "text/plain", strings.NewReader("purr")))(t)
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != 200 || !strings.Contains(string(body), `"labels":["cat"]`) {
			t.Errorf("%s %s, %v, expected cat", r.Status, body, err)
		}
		r.Body.Close()
		half, writer := io.Pipe()
		waits := make(chan error, 1)
		go func() {
			r, err := http.Post(address+"/predict", "text/plain", half)
			if err == nil {
				r.Body.Close()
			}
			waits <- err
		}()
		musttest.Get(writer.Write([]byte("me")))(t) // the request has begun
		musttest.NoError(t, c.Process.Signal(end))
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %v", end, err)
		}
		writer.Close()
		<-waits
	}
}
