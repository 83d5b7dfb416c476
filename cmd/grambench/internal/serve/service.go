package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/sparse"
)

// What all requests may take together. Each computes on one processor, and as many at a time as there are
// workers; the others wait, which costs little more than their bodies.
const (
	mostWaiting     = 512       // requests whose body is there
	mostConnections = 4096      // a goroutine and some KiB each
	mostHeld        = 256 << 20 // bytes of bodies
)

// bodyTimes is how many times its bytes a body takes at most: while it is read it grows by copies, then its texts are
// taken out of it.
const bodyTimes = 4

// buckets are bounds of seconds: a text takes half a millisecond.
var buckets = metrics.ExponentialBuckets(0.0005, 2, 15)

// service is what the handlers share.
type service struct {
	current atomic.Pointer[loaded]
	body    int64         // most bytes of a request
	timeout time.Duration // until it is there, and until it is answered
	local   bool          // it serves this machine alone
	errors  *log.Logger   // of what clients are told nothing about
	origins *http.CrossOriginProtection

	slots                      chan struct{} // one per request that computes
	reasons                    chan struct{} // one per request that explains, fewer: others go on meanwhile
	waiting, connections, held atomic.Int64
	most                       atomic.Int64 // bytes of bodies, mostHeld or what -m leaves for them
	set                        *metrics.Set
}

func newService(workers int, body int64, timeout time.Duration) *service {
	s := &service{body: body, timeout: timeout, errors: log.Default(), slots: make(chan struct{}, workers),
		reasons: make(chan struct{}, max(workers/2, 1)), set: metrics.NewSet(), origins: http.NewCrossOriginProtection()}
	s.most.Store(mostHeld)
	for name, of := range map[string]func() int64{
		"gram_connections": s.connections.Load, "gram_requests_waiting": s.waiting.Load, "gram_body_bytes": s.held.Load,
		"gram_requests_computing":           func() int64 { return int64(len(s.slots)) },
		"gram_model_read_timestamp_seconds": func() int64 { return s.current.Load().read.Unix() },
	} {
		s.set.NewGauge(name, func() float64 { return float64(of()) })
	}
	for _, result := range []string{"done", "failed"} {
		s.set.NewCounter(reloadsName(result))
	}
	return s
}

// use has the requests to come answered by what was loaded. Those under way end with what they began with.
func (s *service) use(l *loaded) {
	s.current.Store(l)
	debug.FreeOSMemory() // the old model's, so that the next one has room
}

func reloadsName(result string) string { return fmt.Sprintf("gram_reloads_total{result=%q}", result) }

func (s *service) reloads(result string) { s.set.GetOrCreateCounter(reloadsName(result)).Inc() }

// count counts connections, and ends those that are too many.
func (s *service) count(c net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if s.connections.Add(1) > mostConnections {
			_ = c.Close()
		}
	case http.StateClosed, http.StateHijacked:
		s.connections.Add(-1)
	}
}

// failure is an error with its status.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func failed(status int, format string, args ...any) *failure {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// reply is an answer.
type reply struct {
	kind    string // of content
	body    []byte
	refused error // that the body shows
}

func jsonReply(v any) (*reply, error) {
	body, err := json.Marshal(v)
	return &reply{kind: "application/json", body: append(body, '\n')}, err
}

// route is what a path takes.
type route struct {
	methods []string
	handle  func(s *service, w http.ResponseWriter, r *http.Request) (*reply, error)
}

var (
	gets  = []string{http.MethodGet, http.MethodHead}
	posts = []string{http.MethodPost}
)

var routes = map[string]route{
	"/":           {append(gets, posts...), (*service).page},
	"/healthz":    {gets, (*service).health},
	"/metrics":    {gets, (*service).metrics},
	"/predict":    {posts, computing(predict, false)},
	"/explain":    {posts, computing(explain, true)},
	"/neighbours": {posts, computing(neighbours, false)},
}

var paths = slices.Sorted(maps.Keys(routes))

// ServeHTTP answers a request and counts it.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began, path := time.Now(), r.URL.Path
	out, err := s.answer(w, r)
	status := http.StatusOK
	if err != nil {
		out, _ = jsonReply(map[string]string{"error": failureOf(err).text})
		out.refused = err
	}
	if _, known := routes[path]; !known {
		path = "other"
	}
	if err := out.refused; err != nil {
		switch status = failureOf(err).status; status {
		case http.StatusServiceUnavailable:
			w.Header().Set("Retry-After", "1")
		case http.StatusInternalServerError:
			s.errors.Printf("%s: %v", path, err)
			if failed := (*engine.PanicError)(nil); errors.As(err, &failed) {
				s.errors.Printf("%s", failed.Stack)
			}
		}
	}
	s.set.GetOrCreateCounter(fmt.Sprintf(`gram_requests_total{path=%q,code="%d"}`, path, status)).Inc()
	seconds := fmt.Sprintf(`gram_request_seconds{path=%q}`, path)
	s.set.GetOrCreatePrometheusHistogramExt(seconds, buckets).UpdateDuration(began)
	h := w.Header()
	h.Set("Content-Type", out.kind)
	h.Set("Content-Length", strconv.Itoa(len(out.body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(out.body) // a client that has gone is none of ours
}

// answer finds who answers a request. A page of another site that the user's browser shows gets nothing: by
// its origin or, where its name was made to lead to this machine, by that name.
func (s *service) answer(w http.ResponseWriter, r *http.Request) (*reply, error) {
	at, known := routes[r.URL.Path]
	switch {
	case s.local && !isLocal(r.Host):
		return nil, failed(http.StatusForbidden, "host %q, expected localhost: -addr names this machine alone", r.Host)
	case !known:
		return nil, failed(http.StatusNotFound, "path %s, expected one of %s", r.URL.Path, report.Join(paths))
	case !slices.Contains(at.methods, r.Method):
		w.Header().Set("Allow", strings.Join(at.methods, ", "))
		return nil, failed(http.StatusMethodNotAllowed, "method %s not allowed for %s, expected %s", r.Method, r.URL.Path,
			strings.Join(at.methods, " or "))
	}
	if err := s.origins.Check(r); err != nil {
		return nil, failed(http.StatusForbidden, "cross-origin request refused")
	}
	return at.handle(s, w, r)
}

// isLocal says whether a host is this machine by a name that nobody else can give to it.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// failureOf returns the status and text of an error.
func failureOf(err error) *failure {
	var f *failure
	var tooLarge *http.MaxBytesError
	var row *sparse.SyntaxError // of a text that isn't a row of the model's columns
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &tooLarge):
		return failed(http.StatusRequestEntityTooLarge, "a body of more than %d bytes", tooLarge.Limit)
	case errors.As(err, &row):
		return failed(http.StatusBadRequest, "%s: %s, expected %s", row.File, row.Found, row.Expected)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failed(http.StatusRequestTimeout, "the request didn't arrive in time")
	case errors.Is(err, context.DeadlineExceeded):
		return failed(http.StatusServiceUnavailable, "the answer took too long")
	case errors.Is(err, context.Canceled), errors.Is(err, io.ErrUnexpectedEOF):
		return failed(http.StatusBadRequest, "the request broke off")
	}
	return failed(http.StatusInternalServerError, "internal error") // it may say what is no client's business
}

// compute reads a body and calls work with it, when it is its turn. Who doesn't send its body is waited for
// without a slot. Work that explains takes a prediction per term.
func (s *service) compute(w http.ResponseWriter, r *http.Request, explains bool,
	work func(ctx context.Context, body []byte, l *loaded) (*reply, error),
) (*reply, error) {
	if r.ContentLength > s.body {
		return nil, &http.MaxBytesError{Limit: s.body}
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, failed(http.StatusUnsupportedMediaType, "content encoding %s, expected none", e)
	}
	in := &counting{r: http.MaxBytesReader(w, r.Body, s.body), held: &s.held, most: s.most.Load()}
	defer func() { s.held.Add(-in.n) }()
	body, err := io.ReadAll(in)
	if err != nil {
		return nil, unread(err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	if s.waiting.Add(1) > mostWaiting {
		s.waiting.Add(-1)
		return nil, errBusy
	}
	turns := []chan struct{}{s.slots}
	if explains {
		turns = []chan struct{}{s.reasons, s.slots}
	}
	for _, turn := range turns {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			s.waiting.Add(-1)
			return nil, ctx.Err()
		}
	}
	s.waiting.Add(-1)
	return work(ctx, body, s.current.Load())
}

// unread is the failure of a body that can't be read: the client's, whatever it is.
func unread(err error) error {
	if f := failureOf(err); f.status != http.StatusInternalServerError {
		return f
	}
	return failed(http.StatusBadRequest, "the body can't be read: %v", err)
}

var errBusy = failed(http.StatusServiceUnavailable, "too many requests at a time")

// counting counts what bodies take, and ends the request with which they take too much.
type counting struct {
	r    io.Reader
	n    int64
	held *atomic.Int64
	most int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.held.Add(int64(n)) > c.most {
		return n, errBusy
	}
	return n, err
}

// health says what is served.
func (s *service) health(http.ResponseWriter, *http.Request) (*reply, error) {
	l := s.current.Load()
	return jsonReply(map[string]any{"status": "ok", "model": l.name, "kind": l.kind(), "read": l.read.UTC()})
}

// metrics writes the counts, and those of Go and of the process.
func (s *service) metrics(http.ResponseWriter, *http.Request) (*reply, error) {
	var b strings.Builder
	s.set.WritePrometheus(&b)
	metrics.WriteProcessMetrics(&b)
	return &reply{kind: "text/plain; version=0.0.4; charset=utf-8", body: []byte(b.String())}, nil
}
