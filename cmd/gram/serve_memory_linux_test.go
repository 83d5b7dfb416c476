package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

var siege = flag.Bool("siege", false,
	"TestServeStaysWithinMemory in full: 300M, 600 clients that don't read, 4,096 idle")

// words writes labelled texts of random words to a file, and returns a short text of such words.
func words(t *testing.T, file string, documents, length int) string {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	text := func(length int) string {
		var b strings.Builder
		for range length {
			fmt.Fprintf(&b, "w%s ", strings.Map(func(d rune) rune { return d - '0' + 'a' }, fmt.Sprint(r.IntN(9000))))
		}
		return b.String()
	}
	musttest.Get(matrixio.WriteFile(file, func(w io.Writer) error {
		for i := range documents {
			if _, err := fmt.Fprintf(w, "class%d\t%s\n", i%2, text(length)); err != nil {
				return err
			}
		}
		return nil
	}))(t)
	return text(10)
}

// The service stays within -m for any requests and slow readers. Clients get status 503 if their
// answers don't fit. Idle connections don't block new clients.
func TestServeStaysWithinMemory(t *testing.T) {
	memory, documents, deaf, eager, idle, texts, n := 100<<20, 1000, 50, 4, 200, 300, 500
	if *siege {
		memory, documents, deaf, eager, idle, texts, n = 300<<20, 5000, 600, 24, 4096, 1000, 1000
	}
	folder := t.TempDir()
	source, model := filepath.Join(folder, "a.tsv"), filepath.Join(folder, "a.model")
	text := words(t, source, documents, 100)
	runs(t, "train", "-q", "-type", "linear", "-c", "1", source, model)
	c := exec.Command("gram", "serve", "-addr", "127.0.0.1:0", "-m", fmt.Sprint(memory>>20, "M"), "-workers", "2",
		"-timeout", "3m", "-of", source, model)
	stderr := musttest.Get(c.StderrPipe())(t)
	musttest.NoError(t, c.Start())
	defer func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	}()
	lines := bufio.NewScanner(stderr)
	lines.Scan()
	_, address, ok := strings.Cut(lines.Text(), " on http://")
	if !ok {
		t.Fatalf("it says %q", lines.Text())
	}
	go func() {
		for lines.Scan() {
			t.Log(lines.Text())
		}
	}()
	peak := func() int64 { return backend.ProcBytes(fmt.Sprintf("/proc/%d/status", c.Process.Pid), "VmHWM:") }
	t.Logf("%s before", report.FormatBytes(peak()))

	// These clients send a form with a million quotes, or request large answers, and don't read.
	quotes := "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n" +
		"Content-Length: 1000005\r\n\r\ntext=" + strings.Repeat(`"`, 1_000_000)
	many, _ := json.Marshal(map[string]any{"texts": slices.Repeat([]string{text}, texts), "n": n})
	much := fmt.Sprintf("POST /neighbours HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(many), many)
	var sent sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	dial := func() net.Conn {
		c := musttest.Get(net.Dial("tcp", address))(t)
		mu.Lock()
		defer mu.Unlock()
		open = append(open, c)
		return c
	}
	hangUp := func() {
		for _, c := range open {
			_ = c.Close()
		}
		open = nil
	}
	defer hangUp()
	quick := func(while string) {
		t.Helper()
		began := time.Now()
		r := musttest.Get((&http.Client{Transport: &http.Transport{}}).Get("http://" + address + "/healthz"))(t)
		r.Body.Close()
		took := time.Since(began)
		if t.Logf("%s at most; a new client waited %v %s", report.FormatBytes(peak()), took, while); r.StatusCode != 200 ||
			*siege && took > time.Second { // without -siege the computer may be busy
			t.Errorf("a new client %s: %s after %v", while, r.Status, took)
		}
	}
	statuses, atOnce := make(chan string, deaf), make(chan struct{}, 6)
	for i := range deaf {
		sent.Go(func() {
			atOnce <- struct{}{}
			c := dial()
			musttest.NoError(t, c.(*net.TCPConn).SetReadBuffer(4096))
			_, _ = io.WriteString(c, []string{quotes, much}[max(i%25-23, 0)])
			status := make([]byte, len("HTTP/1.1 200"))
			_, _ = io.ReadFull(c, status)
			<-atOnce
			statuses <- string(status)
		})
	}
	sent.Wait()
	close(statuses)
	counts := map[string]int{}
	for s := range statuses {
		counts[s]++
	}
	t.Logf("to clients that don't read: %v", counts)
	quick("while others don't read")
	hangUp()
	// These are ordinary clients that request large answers.
	var served, busy atomic.Int64
	for range eager {
		sent.Go(func() {
			r, err := http.Post("http://"+address+"/neighbours", "application/json", strings.NewReader(string(many)))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			size, err := io.Copy(io.Discard, r.Body)
			switch {
			case r.StatusCode == 200 && err == nil && size > int64(texts*n*10):
				served.Add(1)
			case r.StatusCode == 503:
				busy.Add(1)
			default:
				t.Errorf("%s, %d bytes, %v", r.Status, size, err)
			}
		})
	}
	sent.Wait()
	if t.Logf("%d answered, %d refused", served.Load(), busy.Load()); served.Load() == 0 {
		t.Error("none of the largest answers was served")
	}

	// These connections stay open after one answer each. There are more than the limit.
	for range idle {
		c := dial()
		if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err == nil {
			_, _ = io.ReadAtLeast(c, make([]byte, 1000), 1)
		}
	}
	quick("while others idle")
	if p := peak(); !(p <= int64(memory)) {
		t.Errorf("resident memory reached %s, expected at most %s", report.FormatBytes(p), report.FormatBytes(int64(memory)))
	}
}
