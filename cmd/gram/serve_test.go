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

// The program serves until ^C or SIGTERM, which are its ordinary end: it exits with 0 even while a client
// keeps a request half sent. SIGHUP reads the model that has taken the place of its own.
func TestServeEnds(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals")
	}
	folder := t.TempDir()
	write := func(name string, data []byte) {
		t.Helper()
		musttest.Do(t, os.WriteFile(filepath.Join(folder, name), data, 0o600))
	}
	var models [2][]byte // of the second, what purrs is a dog
	for i, pets := range []string{"cat\tmeow purr\ndog\tbark bone\n", "dog\tmeow purr\ncat\tbark bone\n"} {
		write("pets.tsv", []byte(pets))
		var said strings.Builder
		train := "train -q -kernel linear -c 1 -min-df 1 " + folder + "/pets.tsv " + folder + "/pets.model"
		if code := run(strings.Fields(train), io.Discard, &said); code != 0 {
			t.Fatal(said.String())
		}
		var err error
		if models[i], err = os.ReadFile(filepath.Join(folder, "pets.model")); err != nil {
			t.Fatal(err)
		}
	}
	answers := []string{`"labels":["cat"]`, `"labels":["dog"]`}
	for _, end := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		write("pets.model", models[0])
		c := exec.Command("gram", "serve", "-addr", "localhost:0", "pets.model")
		c.Dir = folder
		stderr, err := c.StderrPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stderr)
		lines.Scan()
		_, address, ok := strings.Cut(lines.Text(), "gram: serving pets.model on ")
		if !ok {
			t.Fatalf("it says %q", lines.Text())
		}
		for i, signal := range []os.Signal{nil, syscall.SIGHUP} {
			if signal != nil {
				write("new.model", models[1])
				musttest.Do(t, os.Rename(filepath.Join(folder, "new.model"), filepath.Join(folder, "pets.model")))
				musttest.Do(t, c.Process.Signal(signal))
				if lines.Scan(); !strings.Contains(lines.Text(), "read pets.model again") {
					t.Fatalf("it says %q", lines.Text())
				}
			}
			r := musttest.Get(http.Post(address+"/predict", "text/plain", strings.NewReader("purr")))(t)
			body, err := io.ReadAll(r.Body)
			if err != nil || r.StatusCode != 200 || !strings.Contains(string(body), answers[i]) {
				t.Errorf("%s %s, %v, expected %s", r.Status, body, err, answers[i])
			}
			r.Body.Close()
		}
		half, writer := io.Pipe()
		waits := make(chan error, 1)
		go func() {
			r, err := http.Post(address+"/predict", "text/plain", half)
			if err == nil {
				r.Body.Close()
			}
			waits <- err
		}()
		if _, err := writer.Write([]byte("me")); err != nil { // the request is under way
			t.Fatal(err)
		}
		musttest.Do(t, c.Process.Signal(end))
		if err := c.Wait(); err != nil {
			t.Errorf("%v: %v", end, err)
		}
		writer.Close()
		<-waits
	}
}
