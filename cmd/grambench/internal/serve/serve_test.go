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
	r := ask(s, "POST", "/", "application/x-www-form-urlencoded", "text=%3Cscript%3Ered%3C/script%3E%20green")
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
	const form = "application/x-www-form-urlencoded"
	if half := bodyOf(t, ask(s, "POST", "/", form, "text=red+oak")); strings.Contains(half, "less than half") {
		t.Errorf("a word of two is less than half:\n%s", half)
	}
	long := bodyOf(t, ask(s, "POST", "/", form, "text="+strings.Repeat("red+", 20_000)))
	if !strings.Contains(long, "Texts of more than 64 KiB aren&#39;t explained.") {
		t.Errorf("nothing of a long text's terms:\n%.3000s", long)
	}
	var said strings.Builder
	s.errors = log.New(&said, "", 0)
	broken := *s.current.Load()
	broken.model = broken.model.With(gram.Options{MemoryBytes: 1})
	s.use(&broken)
	for _, path := range []string{"/", "/predict"} {
		kind := map[string]string{"/": form}[path]
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
		{"POST", "/predict", asJSON, `{"text": 1}`, 400}, {"POST", "/predict", asJSON, `{"text": null}`, 400},
		{"POST", "/predict", asJSON, `{"texts": []}`, 400}, {"POST", "/predict", asJSON, `{"text": "a"} {}`, 400},
		{"POST", "/predict", asJSON, `{"text": "a", "texts": ["b"]}`, 400}, {"POST", "/predict", asJSON, "\xff\xfe", 415},
		{"POST", "/predict", "text/plain", "r\xe9sum\xe9", 415},
		{"POST", "/predict", asJSON, `{"text": "r` + "\xe9" + `"}`, 415},
		{"POST", "/predict", asJSON, strings.Repeat("[", 1000), 400},
		{"POST", "/explain", asJSON, `{"texts": ["a", "b"]}`, 400},
		{"POST", "/explain", asJSON, `{"text": "a", "n": 0}`, 400},
		{"POST", "/explain", asJSON, `{"text": "a", "n": 1e9}`, 400},
		{"POST", "/predict", "text/plain", strings.Repeat("a ", 1<<10), 413},
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

// Who comes when too many wait, when bodies take too much, or whose turn doesn't come, is told to come again.
func TestOverload(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	refused := func(path, what string) {
		t.Helper()
		if r := ask(s, "POST", path, "", "red"); r.StatusCode != 503 || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %s", what, r.Status)
		}
	}
	s.waiting.Store(mostWaiting)
	refused("/predict", "too many wait")
	s.waiting.Store(0)
	s.held.Store(mostHeld)
	refused("/predict", "too much is held")
	s.held.Store(0)
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
	if r.StatusCode != 200 || s.waiting.Load() != 0 || s.held.Load() != 0 || len(s.slots) != 0 {
		t.Errorf("afterwards: %s, %d wait, %d bytes", r.Status, s.waiting.Load(), s.held.Load())
	}
}

// Bodies get what the model leaves of -m, and a -max-body beyond that is refused at the start.
func TestBodiesStayWithinMemory(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	r := &run{body: 1 << 20}
	r.limits.Memory = 100 << 20
	if err := r.bound(s); err != nil || s.most.Load() < 1<<20 ||
		s.most.Load() > (100<<20-backend.RuntimeBytes)/bodyTimes {
		t.Errorf("%d bytes of bodies, %v", s.most.Load(), err)
	}
	s.body, r.body = 900<<20, 900<<20
	if err := r.bound(s); err == nil || !strings.Contains(err.Error(), "-max-body 900M needs") {
		t.Errorf("-max-body 900M within 100M: %v", err)
	}
	s.most.Store(10)
	s.body = 1 << 20
	if r := ask(s, "POST", "/predict", "", "red red red red"); r.StatusCode != 503 {
		t.Errorf("a body of more than is left: %s", r.Status)
	}
}

// A body that can't be read is its client's fault.
func TestMalformedBodies(t *testing.T) {
	addr := listen(t, start(t, gram.TrainOptions{Type: "linear"}))
	for _, path := range []string{"/predict", "/"} {
		for _, body := range []string{"zz\r\n", "5\r\nabcdefgh", "\r\n\r\n", "-1\r\n", "fffffffffffffffff\r\n"} {
			c := musttest.Get(net.Dial("tcp", addr))(t)
			fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n%s",
				path, body)
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

// Connections beyond the bound are closed, and those that end make room.
func TestConnectionsAreBounded(t *testing.T) {
	s := newService(1, 1, time.Second)
	s.connections.Store(mostConnections - 1)
	for i, open := range []bool{true, false} {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		s.count(ours, http.StateNew)
		if err := ours.SetDeadline(time.Now()); (err == nil) != open {
			t.Errorf("connection %d: %v, expected open %v", i, err, open)
		}
	}
	s.count(nil, http.StateClosed)
	s.count(nil, http.StateClosed)
	if n := s.connections.Load(); n != mostConnections-1 {
		t.Errorf("%d connections", n)
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
	go func() { ended <- r.run(ctx, &cli.Env{Program: "grambench", Stdout: io.Discard, Stderr: stderr}) }()
	return bufio.NewScanner(said), cancel, ended
}

// The command reads its model again on SIGHUP while requests are under way, and none is lost; it keeps the old
// model where the new one is none, and ends with its context.
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
	for range 5 { // its classes change places each time
		current = 1 - current
		other := filepath.Join(t.TempDir(), "other")
		musttest.Do(t, errors.Join(os.WriteFile(other, files[current], 0o600), os.Rename(other, model)))
		before := answered.Load()
		hangUp()
		next("read " + model + " again, linear")
		predict(answers[current])
		for answered.Load() < before+8 {
			predict(answers[current])
		}
	}
	for _, bad := range []string{"", string(files[0][:len(files[0])/2]), "svm_type c_svc\n"} {
		musttest.Do(t, os.WriteFile(model, []byte(bad), 0o600))
		hangUp()
		next("still serving what was read at ")
		predict(answers[current])
	}
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
		q, err := decode(kind, body)
		if err != nil {
			if s := failureOf(err).status; s != 400 && s != 415 {
				t.Errorf("%v: status %d", err, s)
			}
			return
		}
		if len(q.Texts) < 1 || len(q.Texts) > mostTexts || *q.N < 1 || *q.N > mostNamed {
			t.Errorf("%d texts, n %d", len(q.Texts), *q.N)
		}
	})
}
