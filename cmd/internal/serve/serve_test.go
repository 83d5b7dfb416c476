package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

var (
	texts  = []string{"red green blue", "red green", "blue red", "salt pepper sugar", "salt sugar", "pepper salt"}
	labels = []string{"colour", "colour", "colour", "spice", "spice", "spice"}
)

// save trains a model of the texts and writes it, and the texts, to a folder.
func save(t testing.TB, o gram.TrainOptions) (model, source string) {
	t.Helper()
	return saveOf(t, labels, o)
}

// saveOf does so with other labels.
func saveOf(t testing.TB, labels []string, o gram.TrainOptions) (model, source string) {
	t.Helper()
	folder := t.TempDir()
	model, source = filepath.Join(folder, "a.model"), filepath.Join(folder, "a.tsv")
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "%s\t%s\n", labels[i], text)
	}
	c := gram.Must(gram.Texts(t.Context(), texts, labels, gram.ReadOptions{MinDF: 1}))
	musttest.Do(t, gram.Must(gram.Train(t.Context(), c, o)).Save(model))
	musttest.Do(t, os.WriteFile(source, []byte(b.String()), 0o600))
	return model, source
}

// start makes a service of a small model.
func start(t testing.TB, o gram.TrainOptions) *service {
	t.Helper()
	model, source := save(t, o)
	r := &run{model: model, of: source}
	l := musttest.Get(r.load(t.Context()))(t)
	s := newService(2, 1<<10, time.Minute)
	s.use(l)
	return s
}

// ask sends a request to a handler.
func ask(h http.Handler, method, path, kind, body string) *http.Response {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t testing.TB, r *http.Response) string {
	t.Helper()
	b := musttest.Get(io.ReadAll(r.Body))(t)
	return string(b)
}

const asJSON = "application/json"

// Answers are those of package gram.
func TestAnswers(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "logistic"})
	m := s.current.Load().model
	var got struct {
		Predictions []prediction `json:"predictions"`
	}
	r := ask(s, "POST", "/predict", asJSON, `{"texts": ["red blue", "salt of the earth", ""]}`)
	if err := json.Unmarshal([]byte(bodyOf(t, r)), &got); err != nil || r.StatusCode != 200 || len(got.Predictions) != 3 {
		t.Fatal(r.Status, got, err)
	}
	p := gram.Must(m.PredictTexts(t.Context(), []string{"red blue", "salt of the earth", ""}))
	for i, g := range got.Predictions {
		most := max(p.Probabilities[i][0], p.Probabilities[i][1])
		if g.Labels[0] != p.Label(i) || *g.Probability != most || *g.Margin != p.Margins[i] || g.Second != p.Seconds[i] ||
			g.Known != p.Known[i] || g.Words != p.Words[i] {
			t.Errorf("text %d: %+v, expected %v", i, g, p)
		}
	}
	plain := bodyOf(t, ask(s, "POST", "/predict", "text/plain; charset=UTF-8", "red blue"))
	if quoted := bodyOf(t, ask(s, "POST", "/predict", asJSON, `{"text": "red blue"}`)); plain != quoted {
		t.Errorf("plain text gets %s, JSON %s", plain, quoted)
	}
	want, _ := json.Marshal(gram.Must(m.ExplainText(t.Context(), "red salt", 1)))
	if why := bodyOf(t, ask(s, "POST", "/explain", asJSON, `{"text": "red salt", "n": 1}`)); why != string(want)+"\n" {
		t.Errorf("explained by %s, expected %s", why, want)
	}
	near := bodyOf(t, ask(s, "POST", "/neighbours", asJSON, `{"text": "sugar salt", "n": 1}`))
	if near != `{"neighbours":[[{"document":"5","labels":["spice"],"c":0}]]}`+"\n" {
		t.Errorf("neighbours are %s", near)
	}
	if up := bodyOf(t, ask(s, "GET", "/healthz", "", "")); !strings.Contains(up, `"status":"ok"`) {
		t.Errorf("health: %s", up)
	}
	counts := bodyOf(t, ask(s, "GET", "/metrics", "", ""))
	for _, want := range []string{
		`gram_requests_total{path="/predict",code="200"} 3`, `gram_texts_total{path="/predict"} 5`,
		`gram_request_seconds_count{path="/explain"} 1`, `gram_requests_computing 0`, "process_resident_memory_bytes",
	} {
		if !strings.Contains(counts, want) {
			t.Errorf("metrics lack %s:\n%.3000s", want, counts)
		}
	}
}

// The page shows what came with the form as text, fetches nothing and runs no script.
func TestPage(t *testing.T) {
	s := start(t, gram.TrainOptions{Kernel: "diffusion:t=1", C: 1})
	r := ask(s, "POST", "/", formType, "text=%3Cscript%3Ered%3C/script%3E%20green")
	text := bodyOf(t, r)
	for _, want := range []string{
		"&lt;script&gt;red&lt;/script&gt; green</textarea>", "<h2>colour</h2>", "<td>green</td>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	bad := regexp.MustCompile(`https?://|(src|href)=|url\(|@import|ZgotmplZ|<script`)
	if found := bad.FindString(text + bodyOf(t, ask(s, "GET", "/", "", ""))); found != "" {
		t.Errorf("the page has %q", found)
	}
	_, sheet, _ := strings.Cut(text, "<style>")
	sheet, _, _ = strings.Cut(sheet, "</style>")
	digest := sha256.Sum256([]byte(sheet))
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'; "
	if p := r.Header.Get("Content-Security-Policy"); !strings.HasPrefix(p, want) {
		t.Errorf("policy %q, expected %q first", p, want)
	}
}

// What fails here has its status, on the page as well, and is told to the log alone; the page says what it leaves out.
func TestInternalErrors(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	s.body = 1 << 20
	if half := bodyOf(t, ask(s, "POST", "/", formType, "text=red+oak")); strings.Contains(half, "less than half") {
		t.Errorf("a word of two is less than half:\n%s", half)
	}
	long := bodyOf(t, ask(s, "POST", "/", formType, "text="+strings.Repeat("red+", 20_000)))
	if !strings.Contains(long, "A text of more than 64 KiB is shown cut and isn&#39;t explained.") {
		t.Errorf("nothing of a long text's terms:\n%.3000s", long)
	}
	var said strings.Builder
	s.errors = log.New(&said, "", 0)
	broken := *s.current.Load()
	broken.model = broken.model.With(gram.Options{MemoryBytes: 1})
	s.use(&broken)
	for _, path := range []string{"/", "/predict"} {
		kind := map[string]string{"/": formType}[path]
		r := ask(s, "POST", path, kind, "text=red")
		if text := bodyOf(t, r); r.StatusCode != 500 || !strings.Contains(text, "internal error") ||
			strings.Contains(text, "memory") || strings.Contains(text, "<form") != (path == "/") {
			t.Errorf("%s: %s\n%s", path, r.Status, text)
		}
		counts := bodyOf(t, ask(s, "GET", "/metrics", "", ""))
		if want := fmt.Sprintf(`{path=%q,code="500"} 1`, path); !strings.Contains(counts, want) ||
			!strings.Contains(said.String(), path+": ") || !strings.Contains(said.String(), "memory") {
			t.Errorf("%s: no count %s, or a log of %q", path, want, said.String())
		}
	}
}

// A bad request gets the status that says why, and an error in JSON.
func TestBadRequests(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	for _, q := range []struct {
		method, path, kind, body string
		status                   int
	}{
		{"GET", "/nothing", "", "", 404}, {"GET", "/predict", "", "", 405}, {"DELETE", "/", "", "", 405},
		{"POST", "/metrics", "", "", 405}, {"POST", "/predict", "application/xml", "<a/>", 415},
		{"POST", "/predict", "application/x-www-form-urlencoded", "text=a", 415},
		{"POST", "/predict", "text/plain; charset=latin1", "a", 415}, {"POST", "/predict", ";;", "a", 415},
		{"POST", "/predict", asJSON, "", 400}, {"POST", "/predict", asJSON, "{", 400},
		{"POST", "/predict", asJSON, "{}", 400}, {"POST", "/predict", asJSON, `{"text": "a", "other": 1}`, 400},
		{"POST", "/predict", asJSON, `{"text": 1}`, 400}, {"POST", "/predict", asJSON, `{"texts": []}`, 400},
		{"POST", "/predict", asJSON, `{"text": "a", "texts": ["b"]}`, 400}, {"POST", "/predict", asJSON, "\xff\xfe", 415},
		{"POST", "/predict", "text/plain", "r\xe9sum\xe9", 415},
		{"POST", "/predict", asJSON, `{"text": "r` + "\xe9" + `"}`, 415},
		{"POST", "/predict", asJSON, strings.Repeat("[", 1000), 400},
		{"POST", "/explain", asJSON, `{"texts": ["a", "b"]}`, 400},
		{"POST", "/explain", asJSON, `{"text": "a", "n": 0}`, 400},
		{"POST", "/explain", asJSON, `{"text": "a", "n": 1e9}`, 400},
		{"POST", "/predict", "text/plain", strings.Repeat("a ", 1<<10), 413},
		{"POST", "/", asJSON, `{"text": "a"}`, 415}, {"POST", "/", "", "text=a", 415}, {"POST", "/", "image/png", "", 415},
		{"POST", "/", "multipart/form-data; boundary=a", "", 415},
	} {
		r := ask(s, q.method, q.path, q.kind, q.body)
		var got struct{ Error string }
		err := json.Unmarshal([]byte(bodyOf(t, r)), &got)
		if r.StatusCode != q.status || err != nil || got.Error == "" || strings.Contains(got.Error, "\n") {
			t.Errorf("%s %s %s %.20q: %s, %q, %v, expected %d", q.method, q.path, q.kind, q.body, r.Status, got.Error, err,
				q.status)
		}
		if r.StatusCode == 405 && r.Header.Get("Allow") == "" {
			t.Errorf("%s %s: no Allow", q.method, q.path)
		}
	}
	s.body = 1 << 20
	if r := ask(s, "POST", "/explain", "", strings.Repeat("a ", 40000)); r.StatusCode != 413 {
		t.Errorf("a long explanation: %s", r.Status)
	}
	s.current.Load().index = nil
	if r := ask(s, "POST", "/neighbours", "", "a"); r.StatusCode != 404 {
		t.Errorf("neighbours without texts: %s", r.Status)
	}
	r := httptest.NewRequest("POST", "/predict", strings.NewReader("a"))
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, r); w.Code != 403 {
		t.Errorf("another site's page gets %d", w.Code)
	}
	for host, local := range map[string]bool{
		"localhost:80": true, "LOCALHOST": true, "localhost": true, "127.0.0.1:80": true, "[::1]:80": true, "[::1]": true,
		"evil.example:80": false, "localhost.evil.example": false, "10.0.0.1": false, "": false,
	} {
		if isLocal(host) != local {
			t.Errorf("host %q is local: %v", host, !local)
		}
	}
	s.local = true // and example.com is httptest's
	if r := ask(s, "GET", "/healthz", "", ""); r.StatusCode != 403 {
		t.Errorf("a request to %s", r.Status)
	}
}

// JSON is read as by JSON services: keys are exact, a number is a number however it is written, null is no text. Errors
// name JSON's types.
func TestJSONForms(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	for body, want := range map[string]string{
		`{"text": "red", "n": 1.0}`: "", `{"text": "red", "n": 1e0}`: "", "\ufeff" + `{"text": "red", "n": 1}`: "",
		` {"texts" : ["red"],"n":1 }` + "\n": "",
		`{"text": "red", "n": 1.5}`:          `"n" is 1.5, expected a whole number from 1 to 1000`,
		`{"text": "red", "n": "1"}`:          `"n" is a string, expected a whole number from 1 to 1000`,
		`{"text": "red", "n": null}`:         `"n" is null, expected a whole number from 1 to 1000`,
		`{"texts": ["red", null]}`:           `null at 1 of "texts"`,
		`{"texts": ["red", 1]}`:              `"texts" with a value of type number`,
		`{"texts": "red"}`:                   `"texts" that is a string`,
		`{"texts": null}`:                    `"texts" that is null`,
		`{"text": ["red"]}`:                  `"text" that is an array`,
		`{"text": null}`:                     `"text" that is null`,
		`{"TEXT": "red"}`:                    `the key "TEXT"`,
		`[1]`:                                `found an array`,
		`null`:                               `found null`,
		`true`:                               `found a boolean`,
		`{"text": "red"`:                     `no JSON: unexpected end of JSON input at byte 14`,
		`{'text': "red"}`:                    `no JSON: invalid character '\'' looking for beginning of object key`,
		`{"text": "red"} {}`:                 `no JSON: invalid character '{' after top-level value at byte 17`,
	} {
		r := ask(s, "POST", "/explain", asJSON, body)
		var got struct {
			Error string
			Terms []any
		}
		err := json.Unmarshal([]byte(bodyOf(t, r)), &got)
		switch {
		case err != nil || strings.Contains(got.Error, "Go ") || strings.Contains(got.Error, "map["):
			t.Errorf("%s: %v, error %q", body, err, got.Error)
		case want == "" && (r.StatusCode != 200 || len(got.Terms) != 1):
			t.Errorf("%s: %s, %+v, expected one term", body, r.Status, got)
		case want != "" && (r.StatusCode != 400 || !strings.Contains(got.Error, want)):
			t.Errorf("%s: %s, error %q, expected %q", body, r.Status, got.Error, want)
		}
	}
}

// A request is told to come again if too much memory is held or its turn doesn't come.
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
	s.memory.limit.Store((bodyTimes + workTimes) * int64(len(many))) // the body, but not the answer
	if r := ask(s, "POST", "/predict", asJSON, many); r.StatusCode != 503 {
		t.Errorf("no room for the answer: %s", r.Status)
	}
	s.memory.limit.Store(limit)
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	const answers = 200 * time.Millisecond // in which whoever has a turn answers
	s.timeout = answers
	refused("/predict", "all compute")
	refused("/explain", "all compute")
	for range cap(s.slots) {
		<-s.slots
	}
	s.timeout = time.Minute
	for range cap(s.reasons) {
		s.reasons <- struct{}{} // explanations leave room for predictions
	}
	s.timeout = answers
	refused("/explain", "all explain")
	s.timeout = time.Minute
	r := ask(s, "POST", "/predict", "", "red")
	if r.StatusCode != 200 || s.waiting.Load() != 0 || s.memory.used.Load() != 0 || len(s.slots) != 0 {
		t.Errorf("afterwards: %s, %d wait, %d bytes", r.Status, s.waiting.Load(), s.memory.used.Load())
	}
}

// Requests get what the model leaves of -m, and a -max-body beyond that is refused at the start.
func TestRequestsStayWithinMemory(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	r := &run{body: 1 << 20}
	r.limits.Memory = 200 << 20
	s.body = 1 << 20
	if err := r.bound(s); err != nil || s.memory.limit.Load() < 32<<20 ||
		s.memory.limit.Load() > (200<<20-backend.RuntimeBytes)/4*3 {
		t.Errorf("%d bytes of requests, %v", s.memory.limit.Load(), err)
	}
	s.body, r.body = 900<<20, 900<<20
	if err := r.bound(s); err == nil || !strings.Contains(err.Error(), "-max-body 900M needs") {
		t.Errorf("-max-body 900M within 200M: %v", err)
	}
}

// An answer counts until its client has read it.
func TestAnswersCountUntilTheyAreWritten(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	r := httptest.NewRequest("POST", "/predict", strings.NewReader(`{"texts": [`+strings.Repeat(`"red",`, 99)+`"red"]}`))
	r.Header.Set("Content-Type", asJSON)
	w := &slowWriter{ResponseRecorder: httptest.NewRecorder(), writes: func() {
		if used := s.memory.used.Load(); used < freePart {
			t.Errorf("%d bytes are counted while the answer is written, expected %d or more", used, freePart)
		}
	}}
	if s.ServeHTTP(w, r); w.Code != 200 || w.Body.Len() == 0 || s.memory.used.Load() != 0 {
		t.Errorf("%d, %s, %d bytes afterwards", w.Code, w.Body, s.memory.used.Load())
	}
}

type slowWriter struct {
	*httptest.ResponseRecorder
	writes func()
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.writes()
	return w.ResponseRecorder.Write(p)
}

// An output keeps what is written to it, in parts that it counts, and fails beyond the limit.
func TestOutput(t *testing.T) {
	m := &memory{}
	m.limit.Store(300 << 10)
	o := &output{held: share{of: m}}
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
		if used := m.used.Load(); used < int64(o.size)-freePart || used > 2*int64(o.size)+maxPart {
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

// A body that can't be read is its client's fault.
func TestMalformedBodies(t *testing.T) {
	addr := listen(t, start(t, gram.TrainOptions{Type: "linear"}))
	for path, kind := range map[string]string{"/predict": "text/plain", "/": formType} {
		for _, body := range []string{"zz\r\n", "5\r\nabcdefgh", "\r\n\r\n", "-1\r\n", "fffffffffffffffff\r\n"} {
			c := musttest.Get(net.Dial("tcp", addr))(t)
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n"+
				"Connection: close\r\n\r\n%s", path, kind, body)
			musttest.Do(t, c.(*net.TCPConn).CloseWrite())
			if got := string(musttest.Get(io.ReadAll(c))(t)); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
				t.Errorf("%s, %q: %.100q", path, body, got)
			}
			musttest.Do(t, c.Close())
		}
	}
}

// listen has a service listen, and returns its address.
func listen(t testing.TB, s *service) string {
	t.Helper()
	s.errors = log.New(io.Discard, "", 0)
	return listenBy(t, s.server())
}

func listenBy(t testing.TB, server *http.Server) string {
	t.Helper()
	l := musttest.Get(net.Listen("tcp", "localhost:0"))(t)
	go server.Serve(l)
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

// Clients that send half a header, half a body or nothing, or don't read, hold nobody up.
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

// Beyond the bound, a new connection ends the longest idle one, with a line in the log; if none is idle, itself.
func TestConnectionsAreBounded(t *testing.T) {
	s := newService(1, 1, time.Second)
	var said strings.Builder
	s.errors = log.New(&said, "", 0)
	s.memory.limit.Store(2 * 3 * connectionBytes) // half has room for three
	var all []net.Conn
	isOpen := func(c net.Conn) bool { return c.SetDeadline(time.Now().Add(time.Hour)) == nil }
	dial := func() net.Conn {
		ours, theirs := net.Pipe()
		t.Cleanup(func() { _, _ = theirs.Close(), ours.Close() })
		s.connection(ours, http.StateNew)
		all = append(all, ours)
		return ours
	}
	first, second, third := dial(), dial(), dial()
	s.connection(first, http.StateActive)
	s.connection(second, http.StateActive)
	s.connection(first, http.StateIdle) // and third, longer
	for i, longest := range []net.Conn{third, first} {
		if before := said.Len(); isOpen(longest) {
			c := dial()
			if isOpen(longest) || !isOpen(second) || !isOpen(c) || (said.Len() > before) != (i == 0) {
				t.Errorf("connection %d: the longest idle is open: %v, the active one %v, the new one %v; log %q", i,
					isOpen(longest), isOpen(second), isOpen(c), said.String())
			}
			s.connection(longest, http.StateClosed)
			s.connection(c, http.StateActive)
		} else {
			t.Errorf("connection %d was closed before", i)
		}
	}
	if refused := dial(); isOpen(refused) || !strings.Contains(said.String(),
		"4 connections are open, expected at most 3") {
		t.Errorf("a new one beside active ones is open: %v; log %q", isOpen(refused), said.String())
	}
	for _, c := range all {
		if isOpen(c) || c == all[5] {
			s.connection(c, http.StateClosed)
		}
	}
	if n, used := s.open.count(), s.memory.used.Load(); n != 0 || used != 0 {
		t.Errorf("%d connections, %d bytes after their end", n, used)
	}
}

// A body that doesn't arrive in time is given up, and the connection with it.
func TestSlowBodyEnds(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	s.timeout = time.Second
	s.errors = log.New(io.Discard, "", 0)
	server := s.server()
	server.ReadHeaderTimeout = time.Minute // a busy machine doesn't end the request before its body is waited for
	c := musttest.Get(net.Dial("tcp", listenBy(t, server)))(t)
	defer c.Close()
	if _, err := io.WriteString(c, "POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nred"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c) // to its end
	if err != nil || !bytes.HasPrefix(all, []byte("HTTP/1.1 408 ")) {
		t.Errorf("%q, %v", all, err)
	}
}

// running runs the command until cancel is called: the lines that it says, and how it ended.
func running(t *testing.T, r *run) (lines *bufio.Scanner, cancel func(), ended chan error) {
	said, stderr := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	r.body, r.timeout, ended = 1<<20, time.Minute, make(chan error, 1)
	go func() { ended <- r.run(ctx, &cli.Env{Program: "gram", Stdout: io.Discard, Stderr: stderr}) }()
	return bufio.NewScanner(said), cancel, ended
}

// The command reads a model file that was replaced, or when it gets SIGHUP, while requests are under way, and none is
// lost; it keeps the old model if the new one can't be read, says so once, and ends with its context.
func TestReload(t *testing.T) {
	model, _ := save(t, gram.TrainOptions{Kernel: "linear", C: 1})
	swapped, _ := saveOf(t, slices.Concat(labels[3:], labels[:3]), gram.TrainOptions{Kernel: "linear", C: 1})
	files := [2][]byte{gram.Must(os.ReadFile(model)), gram.Must(os.ReadFile(swapped))}
	answers := [2]string{"spice", "colour"}
	lines, cancel, ended := running(t, &run{model: model, addr: "localhost:0"})
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
	predict := func(want ...string) { // one of these
		r, err := client.Post(address+"/predict", "text/plain", strings.NewReader("salt"))
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Body.Close()
		var got struct{ Predictions []prediction }
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
		if err != nil {
			t.Fatal(err)
		}
	}
	predict(answers[0])
	current := 0
	for range 2 { // its classes change places each time
		current = 1 - current
		other := filepath.Join(t.TempDir(), "other")
		musttest.Do(t, errors.Join(os.WriteFile(other, files[current], 0o600), os.Rename(other, model)))
		before := answered.Load()
		next("read " + model + " again, linear")
		predict(answers[current])
		for answered.Load() < before+8 {
			predict(answers[current])
		}
	}
	for _, bad := range []string{"", string(files[0][:len(files[0])/2]), "svm_type c_svc\n"} {
		musttest.Do(t, os.WriteFile(model, []byte(bad), 0o600))
		next("still serving what was read at ")
		predict(answers[current])
	}
	musttest.Do(t, os.Remove(model))
	next("no such file or directory; still serving what was read at ")
	for range 2 {
		hangUp()
		next("still serving what was read at ")
	}
	musttest.Do(t, os.WriteFile(model, files[current], 0o600))
	next("read " + model + " again, linear")
	close(stop)
	clients.Wait()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := client.Get(address + "/healthz"); err == nil {
		t.Error("it answers after its end")
	}
}

// An address beyond this machine is served with a warning.
func TestServesOthersWithAWarning(t *testing.T) {
	model, _ := save(t, gram.TrainOptions{Kernel: "linear", C: 1})
	lines, cancel, ended := running(t, &run{model: model, addr: "0.0.0.0:0"})
	if lines.Scan(); !strings.Contains(lines.Text(), "whoever reaches this machine can use the model") {
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

// Whatever the body is, it is refused with a status of the client's, or has texts within bounds.
func FuzzDecode(f *testing.F) {
	for _, kind := range []string{"", "text/plain", asJSON, "application/json; charset=utf-8", "a/b", ";"} {
		for _, body := range []string{
			"", "{}", `{"text": "a"}`, `{"texts": ["a", "b"], "n": 3}`, `{"TEXT": "a"}`, "[1", "\xff",
		} {
			f.Add(kind, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		q, err := decode(kind, body, nil)
		if err != nil {
			if s := failureOf(err).status; s != 400 && s != 415 {
				t.Errorf("%v: status %d", err, s)
			}
			return
		}
		if q.Len() < 1 || q.Len() > mostTexts || q.n < 1 || q.n > mostNamed {
			t.Errorf("%d texts, n %d", q.Len(), q.n)
		}
	})
}
