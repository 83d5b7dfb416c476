package serve

import (
	"bytes"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/musttest"
)

// A request gets status 503 and Retry-After if memory is used up or it waits too long for a slot.
func TestOverload(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	refused := func(path, what string) {
		t.Helper()
		if r := ask(s, "POST", path, "", "red"); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %s", what, r.Status)
		}
	}
	limit := s.memory.limit.Load()
	s.memory.used.Store(limit)
	refused("/predict", "too much is held")
	if r := ask(s, "GET", "/healthz", "", ""); r.StatusCode != 200 {
		t.Errorf("health when too much is held: %s", r.Status)
	}
	s.memory.used.Store(0)
	many := `{"texts": [` + strings.Repeat(`"red",`, 99) + `"red"]}`
	s.memory.limit.Store((bodyFactor + workFactor) * int64(len(many))) // enough for the body, but not for the answer
	if r := ask(s, "POST", "/predict", asJSON, many); r.StatusCode != 503 {
		t.Errorf("no room for the answer: %s", r.Status)
	}
	s.memory.limit.Store(limit)
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	const answers = 200 * time.Millisecond // enough time for a request that has a slot
	s.timeout = answers
	refused("/predict", "all compute")
	refused("/explain", "all compute")
	for range cap(s.slots) {
		<-s.slots
	}
	s.timeout = time.Minute
	for range cap(s.explanationSlots) {
		s.explanationSlots <- struct{}{} // explanations leave slots for predictions
	}
	s.timeout = answers
	refused("/explain", "all explain")
	s.timeout = time.Minute
	r := ask(s, "POST", "/predict", "", "red")
	if r.StatusCode != 200 || s.numWaiting.Load() != 0 || s.memory.used.Load() != 0 || len(s.slots) != 0 {
		t.Errorf("afterwards: %s, %d wait, %d bytes", r.Status, s.numWaiting.Load(), s.memory.used.Load())
	}
}

// Requests may use what the model leaves of -m. A -max-body that needs more fails at the start.
func TestRequestsStayWithinMemory(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	r := &serveFlags{maxBody: 1 << 20}
	r.limits.Memory = 200 << 20
	s.maxBody = 1 << 20
	if err := r.setMemoryLimit(s); err != nil || s.memory.limit.Load() < 32<<20 ||
		s.memory.limit.Load() > (200<<20-backend.RuntimeBytes)/4*3 {
		t.Errorf("%d bytes of requests, %v", s.memory.limit.Load(), err)
	}
	s.maxBody, r.maxBody = 900<<20, 900<<20
	musttest.WantError(r.setMemoryLimit(s))(t, "-max-body 900M within 200M", "-max-body 900M needs")
}

// An answer's memory is counted until the client has read it.
func TestAnswersCountUntilTheyAreWritten(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	r := httptest.NewRequest("POST", "/predict", strings.NewReader(`{"texts": [`+strings.Repeat(`"red",`, 99)+`"red"]}`))
	r.Header.Set("Content-Type", asJSON)
	w := &slowWriter{ResponseRecorder: httptest.NewRecorder(), writes: func() {
		if used := s.memory.used.Load(); used < uncountedBytes {
			t.Errorf("%d bytes are counted while the answer is written, expected %d or more", used, uncountedBytes)
		}
	}}
	if s.ServeHTTP(w, r); w.Code != 200 || w.Body.Len() == 0 || s.memory.used.Load() != 0 {
		t.Errorf("%d, %s, %d bytes afterwards", w.Code, w.Body, s.memory.used.Load())
	}
}

// An output stores what is written in parts, counts their memory, and fails beyond the limit.
func TestOutput(t *testing.T) {
	m := &memoryCounter{}
	m.limit.Store(300 << 10)
	o := &response{held: memoryShare{counter: m}}
	var want []byte
	for n := 1; ; n = 3*n + 1 {
		p := bytes.Repeat([]byte{byte(n)}, n)
		if _, err := o.Write(p); err != nil {
			break
		}
		want = append(want, p...)
		if got := bytes.Join(o.parts, nil); !bytes.Equal(got, want) || o.size != len(want) {
			t.Fatalf("%d bytes, expected %d", len(got), len(want))
		}
		if used := m.used.Load(); used < int64(o.size)-uncountedBytes || used > 2*int64(o.size)+maxPartBytes {
			t.Errorf("%d bytes are counted for %d", used, o.size)
		}
	}
	if _, err := o.Write([]byte("a")); !errors.Is(err, errBusy) || len(want) < 80<<10 {
		t.Errorf("after %d bytes: %v", len(want), err)
	}
	if o.reset(); m.used.Load() != 0 {
		t.Errorf("%d bytes after reset", m.used.Load())
	}
}

// listen starts the service and returns its address.
func listen(t testing.TB, s *service) string {
	t.Helper()
	s.errorLog = log.New(io.Discard, "", 0)
	return listenBy(t, s.server())
}

// Slow clients, which send partial requests or don't read, don't block others.
func TestSlowClients(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	addr := listen(t, s)
	var read sync.WaitGroup
	for i := range 200 {
		c := musttest.Get(net.Dial("tcp", addr))(t)
		defer c.Close()
		half := []string{
			"", "POST /predict HTT", "POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nred",
			"POST /predict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nred",
			strings.Repeat("GET / HTTP/1.1\r\nHost: a\r\n\r\n", 100),
		}[i%5]
		read.Go(func() { _, _ = c.Write([]byte(half)) })
	}
	read.Wait()
	r := musttest.Get(http.Post("http://"+addr+"/predict", "text/plain", strings.NewReader("salt")))(t)
	if got := bodyOf(t, r); r.StatusCode != 200 || !strings.Contains(got, "spice") {
		t.Errorf("%s: %s", r.Status, got)
	}
}

// Beyond the limit, the connection that is idle longest is closed, or the new one if none is idle.
func TestConnectionsAreBounded(t *testing.T) {
	s := newService(1, 1, time.Second)
	var said strings.Builder
	s.errorLog = log.New(&said, "", 0)
	s.memory.limit.Store(2 * 3 * connectionBytes) // connections may use half of it, enough for three
	var all []net.Conn
	isOpen := func(c net.Conn) bool { return c.SetDeadline(time.Now().Add(time.Hour)) == nil }
	dial := func() net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _, _ = theirs.Close(), ours.Close() })
		s.trackConnection(ours, http.StateNew)
		all = append(all, ours)
		return ours
	}
	first, second, third := dial(), dial(), dial()
	s.trackConnection(first, http.StateActive)
	s.trackConnection(second, http.StateActive)
	s.trackConnection(first, http.StateIdle) // third is idle longest
	for i, longest := range []net.Conn{third, first} {
		if before := said.Len(); isOpen(longest) {
			c := dial()
			if isOpen(longest) || !isOpen(second) || !isOpen(c) || (said.Len() > before) != (i == 0) {
				t.Errorf("connection %d: the longest idle is open: %v, the active one %v, the new one %v; log %q", i,
					isOpen(longest), isOpen(second), isOpen(c), said.String())
			}
			s.trackConnection(longest, http.StateClosed)
			s.trackConnection(c, http.StateActive)
		} else {
			t.Errorf("connection %d was closed before", i)
		}
	}
	if refused := dial(); isOpen(refused) || !strings.Contains(said.String(),
		"4 connections are open, but at most 3 are allowed; closed 1") {
		t.Errorf("a new connection besides active ones is open: %v; log %q", isOpen(refused), said.String())
	}
	for _, c := range all {
		if isOpen(c) || c == all[5] {
			s.trackConnection(c, http.StateClosed)
		}
	}
	if n, used := s.conns.count(), s.memory.used.Load(); n != 0 || used != 0 {
		t.Errorf("%d connections, %d bytes after their end", n, used)
	}
}

// A request whose body doesn't arrive in time gets status 408, and its connection is closed.
func TestSlowBodyEnds(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	s.timeout = time.Second
	s.errorLog = log.New(io.Discard, "", 0)
	server := s.server()
	server.ReadHeaderTimeout = time.Minute // long, so that the header doesn't time out on a busy computer
	c := musttest.Get(net.Dial("tcp", listenBy(t, server)))(t)
	defer c.Close()
	musttest.Get(io.WriteString(c, "POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nred"))(t)
	all, err := io.ReadAll(c) // until the connection is closed
	if err != nil || !bytes.HasPrefix(all, []byte("HTTP/1.1 408 ")) {
		t.Errorf("%q, %v", all, err)
	}
}
