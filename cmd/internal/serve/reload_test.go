package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// running starts the command. It returns its output, a function to cancel it, and its result.
func running(t *testing.T, r *serveFlags) (lines *bufio.Scanner, cancel func(), ended chan error) {
	said, stderr := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r.maxBody, r.timeout, ended = 1<<20, time.Minute, make(chan error, 1)
	go func() { ended <- r.run(ctx, &cli.Env{ProgramName: "gram", Stdout: io.Discard, Stderr: stderr}) }()
	return bufio.NewScanner(said), cancel, ended
}

// The command reloads a replaced model file, also on SIGHUP, without losing requests. If the new
// file can't be read, it keeps the old model and reports the error once.
func TestReload(t *testing.T) {
	model, _ := save(t, gram.TrainOptions{Kernel: "linear", C: 1})
	swapped, _ := saveOf(t, slices.Concat(labels[3:], labels[:3]), gram.TrainOptions{Kernel: "linear", C: 1})
	files := [2][]byte{gram.Must(os.ReadFile(model)), gram.Must(os.ReadFile(swapped))}
	answers := [2]string{"spice", "colour"}
	lines, cancel, ended := running(t, &serveFlags{model: model, addr: "localhost:0"})
	next := func(want string) string {
		t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Fatalf("it says %q, expected %q", lines.Text(), want)
		}
		return lines.Text()
	}
	line := next("serving " + model + " on http://127.0.0.1:")
	address := line[strings.Index(line, "http:"):]

	var answered atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}
	predict := func(want ...string) { // want lists the acceptable labels
		r, err := client.Post(address+"/predict", "text/plain", strings.NewReader("salt"))
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Body.Close()
		var got struct{ Predictions []predictionObject }
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.StatusCode != 200 || len(got.Predictions) != 1 ||
			!slices.Contains(want, got.Predictions[0].Labels[0]) {
			t.Errorf("%s: %+v, %v, expected %v", r.Status, got, err, want)
		}
		answered.Add(1)
	}
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					predict(answers[:]...)
				}
			}
		})
	}
	hangUp := func() {
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Signal(syscall.SIGHUP)
		}
		musttest.NoError(t, err)
	}
	predict(answers[0])
	current := 0
	for range 2 { // the classes swap each time
		current = 1 - current
		other := filepath.Join(t.TempDir(), "other")
		musttest.NoError(t, errors.Join(os.WriteFile(other, files[current], 0o600), os.Rename(other, model)))
		before := answered.Load()
		next("read " + model + " again, linear")
		predict(answers[current])
		for answered.Load() < before+8 {
			predict(answers[current])
		}
	}
	for _, bad := range []string{"", string(files[0][:len(files[0])/2]), "svm_type c_svc\n"} {
		musttest.NoError(t, os.WriteFile(model, []byte(bad), 0o600))
		next("still serving the model loaded at ")
		predict(answers[current])
	}
	musttest.NoError(t, os.Remove(model))
	next("no such file or directory; still serving the model loaded at ")
	for range 2 {
		hangUp()
		next("still serving the model loaded at ")
	}
	musttest.NoError(t, os.WriteFile(model, files[current], 0o600))
	next("read " + model + " again, linear")
	close(stop)
	clients.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	musttest.WantError(client.Get(address+"/healthz"))(t, "a request after the end")
}

// An address that isn't loopback causes a warning.
func TestServesOthersWithAWarning(t *testing.T) {
	model, _ := save(t, gram.TrainOptions{Kernel: "linear", C: 1})
	lines, cancel, ended := running(t, &serveFlags{model: model, addr: "0.0.0.0:0"})
	if lines.Scan(); !strings.Contains(lines.Text(), "the model is accessible from the network") {
		t.Errorf("it says %q", lines.Text())
	}
	if lines.Scan(); !strings.Contains(lines.Text(), "serving "+model) {
		t.Errorf("it says %q", lines.Text())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
