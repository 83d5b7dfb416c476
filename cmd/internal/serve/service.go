package serve

import (
	"context"
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

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/report"
)

const (
	maxConnections  = 4096
	connectionBytes = 32 << 10 // memory for buffers, stacks, and a response of up to freePart bytes
	unboundedBytes  = 1 << 30  // default memory limit for connections and requests
)

// Memory in bytes per byte of a request body: bodyTimes to read and parse the body, and workTimes
// more to answer the request.
const bodyTimes, workTimes = 5, 27

// buckets holds the bounds of latency histograms in seconds. Predicting a text takes about 0.5 ms.
var buckets = metrics.ExponentialBuckets(0.0005, 2, 15)

// service is the state that all handlers share.
type service struct {
	current atomic.Pointer[loaded]
	body    int64         // maximum size of a request body in bytes
	timeout time.Duration // time limit for reading a request, and for answering it
	local   bool          // true if the server listens on a loopback address
	errors  *log.Logger   // log for errors whose details clients don't see
	origins *http.CrossOriginProtection

	slots   chan struct{} // semaphore for requests that compute, with one slot per worker
	reasons chan struct{} // semaphore for explanations, with fewer slots so that predictions still get slots
	waiting atomic.Int64  // number of requests that wait for a slot
	memory  memory
	open    connections
	set     *metrics.Set
}

func newService(workers int, body int64, timeout time.Duration) *service {
	s := &service{body: body, timeout: timeout, errors: log.Default(), slots: make(chan struct{}, workers),
		reasons: make(chan struct{}, max(workers/2, 1)), set: metrics.NewSet(), origins: http.NewCrossOriginProtection()}
	s.memory.limit.Store(unboundedBytes)
	for name, of := range map[string]func() int64{
		"gram_connections": s.open.count, "gram_requests_waiting": s.waiting.Load, "gram_memory_bytes": s.memory.used.Load,
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

// use sets l as the model for new requests. Pending requests finish with the old model.
func (s *service) use(l *loaded) {
	s.current.Store(l)
	debug.FreeOSMemory() // returns the old model's memory to the operating system
}

func reloadsName(result string) string { return fmt.Sprintf("gram_reloads_total{result=%q}", result) }

func (s *service) reloads(result string) { s.set.GetOrCreateCounter(reloadsName(result)).Inc() }

// failure is an error with its HTTP status.
type failure struct {
	status int
	text   string
}

func (f *failure) Error() string { return f.text }

func failed(status int, format string, args ...any) *failure {
	return &failure{status, fmt.Sprintf(format, args...)}
}

// route holds the allowed methods and the handler of a path.
type route struct {
	methods []string
	handle  func(s *service, w http.ResponseWriter, r *http.Request, out *output) error
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

// ServeHTTP implements [http.Handler]. It logs internal errors and updates the metrics.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began, path := time.Now(), r.URL.Path
	out := &output{kind: "application/json", held: share{of: &s.memory}}
	defer out.reset() // after the response has been sent
	status := http.StatusOK
	if err := s.answer(w, r, out); err != nil {
		out.fail(err)
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
	h.Set("Content-Length", strconv.Itoa(out.size))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	for _, part := range out.parts {
		if _, err := w.Write(part); err != nil {
			return // the client has disconnected
		}
	}
}

// answer calls the handler for the path. It refuses cross-origin requests. On a loopback address it
// also refuses requests for other host names, to prevent DNS rebinding.
func (s *service) answer(w http.ResponseWriter, r *http.Request, out *output) error {
	at, known := routes[r.URL.Path]
	switch {
	case s.local && !isLocal(r.Host):
		return failed(http.StatusForbidden, "host %q is not allowed, because -addr restricts the server to localhost", r.Host)
	case !known:
		return failed(http.StatusNotFound, "unknown path %s; valid paths are %s", r.URL.Path, report.Join(paths))
	case !slices.Contains(at.methods, r.Method):
		w.Header().Set("Allow", strings.Join(at.methods, ", "))
		return failed(http.StatusMethodNotAllowed, "method %s is not allowed for %s; use %s", r.Method, r.URL.Path,
			strings.Join(at.methods, " or "))
	}
	if err := s.origins.Check(r); err != nil {
		return failed(http.StatusForbidden, "cross-origin request refused")
	}
	return at.handle(s, w, r, out)
}

// isLocal reports whether host is localhost or a loopback address.
func isLocal(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// failureOf returns the HTTP status and text for an error.
func failureOf(err error) *failure {
	var f *failure
	var tooLarge *http.MaxBytesError
	var row *corpus.SyntaxError // a row that doesn't match the model's columns
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &tooLarge):
		return failed(http.StatusRequestEntityTooLarge, "the body exceeds the limit of %d bytes", tooLarge.Limit)
	case errors.As(err, &row):
		return failed(http.StatusBadRequest, "%s: found %s, expected %s", row.File, row.Found, row.Expected)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return failed(http.StatusRequestTimeout, "the request was not received in time")
	case errors.Is(err, context.DeadlineExceeded):
		return failed(http.StatusServiceUnavailable, "the answer took too long")
	case errors.Is(err, context.Canceled), errors.Is(err, io.ErrUnexpectedEOF):
		return failed(http.StatusBadRequest, "the request was aborted by the client")
	}
	return failed(http.StatusInternalServerError, "internal error") // details could be confidential
}

// compute reads the body, waits for a slot, and calls work. Explanations also wait for a slot in
// s.reasons.
func (s *service) compute(w http.ResponseWriter, r *http.Request, explains bool,
	work func(ctx context.Context, body []byte, l *loaded) error,
) error {
	if r.ContentLength > s.body {
		return &http.MaxBytesError{Limit: s.body}
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return failed(http.StatusUnsupportedMediaType, "content encoding %s is not supported", e)
	}
	in := &bodyReader{http.MaxBytesReader(w, r.Body, s.body), share{of: &s.memory}}
	defer in.held.free()
	body, err := io.ReadAll(in)
	if err != nil {
		return unread(err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	turns := []chan struct{}{s.slots}
	if explains {
		turns = []chan struct{}{s.reasons, s.slots}
	}
	for _, turn := range turns {
		s.waiting.Add(1)
		select {
		case turn <- struct{}{}:
			s.waiting.Add(-1)
			defer func() { <-turn }()
		case <-ctx.Done():
			s.waiting.Add(-1)
			return ctx.Err()
		}
	}
	if err := in.held.take(workTimes * int64(len(body))); err != nil {
		return err
	}
	return work(ctx, body, s.current.Load())
}

// unread returns the failure for a body that can't be read. If the cause is unknown, the status is
// 400.
func unread(err error) error {
	if f := failureOf(err); f.status != http.StatusInternalServerError {
		return f
	}
	return failed(http.StatusBadRequest, "cannot read the body: %v", err)
}

// bodyReader reads a body and counts its memory.
type bodyReader struct {
	r    io.Reader
	held share
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if refused := b.held.take(bodyTimes * int64(n)); refused != nil {
		return n, refused
	}
	return n, err
}

// health describes the current model.
func (s *service) health(_ http.ResponseWriter, _ *http.Request, out *output) error {
	l := s.current.Load()
	return out.json(map[string]any{"status": "ok", "model": l.name, "kind": l.kind(), "read": l.read.UTC()})
}

// metrics writes metrics of the service, the Go runtime and the process.
func (s *service) metrics(_ http.ResponseWriter, _ *http.Request, out *output) error {
	out.kind = "text/plain; version=0.0.4; charset=utf-8"
	s.set.WritePrometheus(out)
	metrics.WriteProcessMetrics(out)
	return out.refused
}
