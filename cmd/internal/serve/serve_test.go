package serve

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/musttest"
)

var (
	texts  = []string{"red green blue", "red green", "blue red", "salt pepper sugar", "salt sugar", "pepper salt"}
	labels = []string{"colour", "colour", "colour", "spice", "spice", "spice"}
)

// save trains a model on the default texts, and writes the model and the texts to a folder.
func save(t testing.TB, o gram.TrainOptions) (model, source string) {
	t.Helper()
	return saveOf(t, labels, o)
}

// saveOf is save with the labels of the caller.
func saveOf(t testing.TB, labels []string, o gram.TrainOptions) (model, source string) {
	t.Helper()
	folder := t.TempDir()
	model, source = filepath.Join(folder, "a.model"), filepath.Join(folder, "a.tsv")
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "%s\t%s\n", labels[i], text)
	}
	c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{MinDF: 1}))
	musttest.NoError(t, gram.Must(gram.Train(t.Context(), c, o)).Save(model))
	musttest.NoError(t, os.WriteFile(source, []byte(b.String()), 0o600))
	return model, source
}

// start returns a service for a small model.
func start(t testing.TB, o gram.TrainOptions) *service {
	t.Helper()
	model, source := save(t, o)
	r := &serveFlags{model: model, textsSource: source}
	l := musttest.Get(r.load(t.Context()))(t)
	s := newService(2, 1<<10, time.Minute)
	s.setModel(l)
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

// Answers are the same as the results of package gram.
func TestAnswers(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "logistic"})
	m := s.current.Load().model
	var got struct {
		Predictions []predictionObject `json:"predictions"`
	}
	r := ask(s, "POST", "/predict", asJSON, `{"texts": ["red blue", "salt of the earth", ""]}`)
	if err := json.Unmarshal([]byte(bodyOf(t, r)), &got); err != nil || r.StatusCode != 200 || len(got.Predictions) != 3 {
		t.Fatal(r.Status, got, err)
	}
	p := gram.Must(m.PredictTexts(t.Context(), []string{"red blue", "salt of the earth", ""}))
	for i, g := range got.Predictions {
		most := max(p.Probabilities[i][0], p.Probabilities[i][1])
		if g.Labels[0] != p.Label(i) || *g.Probability != most || *g.Margin != p.Margins[i] ||
			g.SecondClass != p.SecondClasses[i] ||
			g.NumKnownWords != p.KnownWordCounts[i] || g.NumWords != p.WordCounts[i] {
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

// The page escapes the submitted text, loads nothing and runs no script.
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

// Internal errors get status 500, also on the page. Details are only in the log.
func TestInternalErrors(t *testing.T) {
	s := start(t, gram.TrainOptions{Type: "linear"})
	s.maxBody = 1 << 20
	if half := bodyOf(t, ask(s, "POST", "/", formType, "text=red+oak")); strings.Contains(half, "less than half") {
		t.Errorf("a word of two is less than half:\n%s", half)
	}
	long := bodyOf(t, ask(s, "POST", "/", formType, "text="+strings.Repeat("red+", 20_000)))
	if !strings.Contains(long, "The text has more than 64 KiB, so it is truncated and not explained.") {
		t.Errorf("nothing of a long text's terms:\n%.3000s", long)
	}
	var said strings.Builder
	s.errorLog = log.New(&said, "", 0)
	broken := *s.current.Load()
	broken.model = broken.model.WithOptions(gram.Options{MemoryBytes: 1})
	s.setModel(&broken)
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

type slowWriter struct {
	*httptest.ResponseRecorder
	writes func()
}

func (w *slowWriter) Write(p []byte) (int, error) {
	w.writes()
	return w.ResponseRecorder.Write(p)
}

func listenBy(t testing.TB, server *http.Server) string {
	t.Helper()
	l := musttest.Get(net.Listen("tcp", "localhost:0"))(t)
	go server.Serve(l)
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}
