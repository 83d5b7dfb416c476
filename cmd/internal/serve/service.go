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
	connectionBytes = 32 << 10 // memory for buffers, stacks, and a response of up to uncountedBytes bytes
	unboundedBytes  = 1 << 30  // default memory limit for connections and requests
)

// bodyFactor is the memory for reading and parsing a request body, in multiples of the body's size.
// workFactor is the additional memory for answering the request, in the same unit.
const bodyFactor, workFactor = 5, 27

// latencyBuckets holds the bounds of latency histograms in seconds. Predicting a text takes about
// 0.5 ms.
var latencyBuckets = metrics.ExponentialBuckets(0.0005, 2, 15)

// service is the state that all handlers share.
type service struct {
	current    atomic.Pointer[loadedModel]
	maxBody    int64         // maximum size of a request body in bytes
	timeout    time.Duration // time limit for reading a request, and for answering it
	onLoopback bool          // true if the server listens on a loopback address
	errorLog   *log.Logger   // log for errors whose details clients don't see
	origins    *http.CrossOriginProtection

	slots            chan struct{} // semaphore for requests that compute, with one slot per worker
	explanationSlots chan struct{} // semaphore for explanations, with fewer slots so that predictions still get slots
	numWaiting       atomic.Int64  // number of requests that wait for a slot
	memory           memoryCounter
	conns            connections
	metricSet        *metrics.Set
}

func newService(workers int, body int64, timeout time.Duration) *service {
	s := &service{maxBody: body, timeout: timeout, errorLog: log.Default(), slots: make(chan struct{}, workers),
		explanationSlots: make(chan struct{}, max(workers/2, 1)), metricSet: metrics.NewSet(),
		origins: http.NewCrossOriginProtection()}
	s.memory.limit.Store(unboundedBytes)
	for name, of := range map[string]func() int64{
		"gram_connections": s.conns.count, "gram_requests_waiting": s.numWaiting.Load,
		"gram_memory_bytes":                 s.memory.used.Load,
		"gram_requests_computing":           func() int64 { return int64(len(s.slots)) },
		"gram_model_read_timestamp_seconds": func() int64 { return s.current.Load().readTime.Unix() },
	} {
		s.metricSet.NewGauge(name, func() float64 { return float64(of()) })
	}
	for _, result := range []string{"done", "failed"} {
		s.metricSet.NewCounter(reloadMetric(result))
	}
	return s
}

// setModel sets l as the model for new requests. Pending requests finish with the old model.
func (s *service) setModel(l *loadedModel) {
	s.current.Store(l)
	debug.FreeOSMemory() // returns the old model's memory to the operating system
}

func reloadMetric(result string) string { return fmt.Sprintf("gram_reloads_total{result=%q}", result) }

func (s *service) countReload(result string) {
	s.metricSet.GetOrCreateCounter(reloadMetric(result)).Inc()
}

type statusError struct {
	status int
	text   string
}

func (f *statusError) Error() string { return f.text }

func newStatusError(status int, format string, args ...any) *statusError {
	return &statusError{status, fmt.Sprintf(format, args...)}
}

type route struct {
	methods []string
	handle  func(s *service, w http.ResponseWriter, r *http.Request, out *response) error
}

var (
	getMethods  = []string{http.MethodGet, http.MethodHead}
	postMethods = []string{http.MethodPost}
)

var routes = map[string]route{
	"/":           {append(getMethods, postMethods...), (*service).page},
	"/healthz":    {getMethods, (*service).health},
	"/metrics":    {getMethods, (*service).metrics},
	"/predict":    {postMethods, computeHandler(predict, false)},
	"/explain":    {postMethods, computeHandler(explain, true)},
	"/neighbours": {postMethods, computeHandler(neighbours, false)},
}

var paths = slices.Sorted(maps.Keys(routes))

// ServeHTTP implements [http.Handler]. It logs internal errors and updates the metrics.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began, path := time.Now(), r.URL.Path
	out := &response{contentType: "application/json", held: memoryShare{counter: &s.memory}}
	defer out.reset() // frees the memory after the response has been sent
	status := http.StatusOK
	if err := s.answer(w, r, out); err != nil {
		out.fail(err)
	}
	if _, known := routes[path]; !known {
		path = "other"
	}
	if err := out.err; err != nil {
		switch status = statusErrorOf(err).status; status {
		case http.StatusServiceUnavailable:
			w.Header().Set("Retry-After", "1")
		case http.StatusInternalServerError:
			s.errorLog.Printf("%s: %v", path, err)
			if failed := (*engine.PanicError)(nil); errors.As(err, &failed) {
				s.errorLog.Printf("%s", failed.Stack)
			}
		}
	}
	s.metricSet.GetOrCreateCounter(fmt.Sprintf(`gram_requests_total{path=%q,code="%d"}`, path, status)).Inc()
	seconds := fmt.Sprintf(`gram_request_seconds{path=%q}`, path)
	s.metricSet.GetOrCreatePrometheusHistogramExt(seconds, latencyBuckets).UpdateDuration(began)
	h := w.Header()
	h.Set("Content-Type", out.contentType)
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
func (s *service) answer(w http.ResponseWriter, r *http.Request, out *response) error {
	at, known := routes[r.URL.Path]
	switch {
	case s.onLoopback && !isLocal(r.Host):
		return newStatusError(http.StatusForbidden,
			"host %q is not allowed, because -addr restricts the server to localhost", r.Host)
	case !known:
		return newStatusError(http.StatusNotFound, "unknown path %s; valid paths are %s", r.URL.Path, report.Join(paths))
	case !slices.Contains(at.methods, r.Method):
		w.Header().Set("Allow", strings.Join(at.methods, ", "))
		return newStatusError(http.StatusMethodNotAllowed, "method %s is not allowed for %s; use %s", r.Method, r.URL.Path,
			strings.Join(at.methods, " or "))
	}
	if err := s.origins.Check(r); err != nil {
		return newStatusError(http.StatusForbidden, "cross-origin request refused")
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

func statusErrorOf(err error) *statusError {
	var f *statusError
	var tooLarge *http.MaxBytesError
	var row *corpus.SyntaxError // error for a row that doesn't match the model's columns
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &tooLarge):
		return newStatusError(http.StatusRequestEntityTooLarge, "the body exceeds the limit of %d bytes", tooLarge.Limit)
	case errors.As(err, &row):
		return newStatusError(http.StatusBadRequest, "%s: found %s, expected %s", row.File, row.Found, row.Expected)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newStatusError(http.StatusRequestTimeout, "the request was not received in time")
	case errors.Is(err, context.DeadlineExceeded):
		return newStatusError(http.StatusServiceUnavailable, "the answer took too long")
	case errors.Is(err, context.Canceled), errors.Is(err, io.ErrUnexpectedEOF):
		return newStatusError(http.StatusBadRequest, "the request was aborted by the client")
	}
	return newStatusError(http.StatusInternalServerError, "internal error") // details could be confidential
}

// compute reads the body, waits for a slot, and calls work. Explanations also wait for a slot in
// s.explanationSlots.
func (s *service) compute(w http.ResponseWriter, r *http.Request, explains bool,
	work func(ctx context.Context, body []byte, l *loadedModel) error,
) error {
	if r.ContentLength > s.maxBody {
		return &http.MaxBytesError{Limit: s.maxBody}
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return newStatusError(http.StatusUnsupportedMediaType, "content encoding %s is not supported", e)
	}
	in := &bodyReader{http.MaxBytesReader(w, r.Body, s.maxBody), memoryShare{counter: &s.memory}}
	defer in.held.free()
	body, err := io.ReadAll(in)
	if err != nil {
		return bodyReadError(err)
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.timeout)
	defer cancel()
	turns := []chan struct{}{s.slots}
	if explains {
		turns = []chan struct{}{s.explanationSlots, s.slots}
	}
	for _, turn := range turns {
		s.numWaiting.Add(1)
		select {
		case turn <- struct{}{}:
			s.numWaiting.Add(-1)
			defer func() { <-turn }()
		case <-ctx.Done():
			s.numWaiting.Add(-1)
			return ctx.Err()
		}
	}
	if err := in.held.reserve(workFactor * int64(len(body))); err != nil {
		return err
	}
	return work(ctx, body, s.current.Load())
}

// bodyReadError returns the error for a body that can't be read. If the cause is unknown, the
// status is 400.
func bodyReadError(err error) error {
	if f := statusErrorOf(err); f.status != http.StatusInternalServerError {
		return f
	}
	return newStatusError(http.StatusBadRequest, "cannot read the body: %v", err)
}

// bodyReader reads a body and counts its memory.
type bodyReader struct {
	r    io.Reader
	held memoryShare
}

func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if refused := b.held.reserve(bodyFactor * int64(n)); refused != nil {
		return n, refused
	}
	return n, err
}

func (s *service) health(_ http.ResponseWriter, _ *http.Request, out *response) error {
	l := s.current.Load()
	return out.writeJSON(map[string]any{"status": "ok", "model": l.name, "kind": l.description(),
		"read": l.readTime.UTC()})
}

// metrics writes metrics of the service, the Go runtime and the process.
func (s *service) metrics(_ http.ResponseWriter, _ *http.Request, out *response) error {
	out.contentType = "text/plain; version=0.0.4; charset=utf-8"
	s.metricSet.WritePrometheus(out)
	metrics.WriteProcessMetrics(out)
	return out.err
}
