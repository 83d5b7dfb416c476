package serve

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
)

// memoryCounter counts bytes of connections and requests. Requests beyond the limit get status 503.
type memoryCounter struct{ used, limit atomic.Int64 }

// memoryShare is the memory that a request has reserved from a counter.
type memoryShare struct {
	counter *memoryCounter
	n       int64
}

var errBusy = newStatusError(http.StatusServiceUnavailable, "too many concurrent requests")

// reserve adds n bytes to the share. It fails with errBusy if the total would exceed the limit.
func (h *memoryShare) reserve(n int64) error {
	if h.counter.used.Add(n) > h.counter.limit.Load() {
		h.counter.used.Add(-n)
		return errBusy
	}
	h.n += n
	return nil
}

func (h *memoryShare) free() {
	h.counter.used.Add(-h.n)
	h.n = 0
}

// The first uncountedBytes bytes of an output count as memory of the connection, so that errors and
// /healthz can be answered when no memory is left. Further parts of the output have up to
// maxPartBytes bytes.
const uncountedBytes, maxPartBytes = 4 << 10, 64 << 10

// response is a response in memory. Its memory is counted until the response has been sent.
type response struct {
	contentType string
	err         error // error that the response reports
	parts       [][]byte
	size        int
	held        memoryShare
}

// Write implements [io.Writer]. After a call exceeds the memory limit, all later calls fail.
func (o *response) Write(p []byte) (n int, err error) {
	if o.err != nil {
		return 0, o.err
	}
	for n < len(p) {
		last := len(o.parts) - 1
		if last < 0 || len(o.parts[last]) == cap(o.parts[last]) {
			size := uncountedBytes
			if last >= 0 {
				size = min(o.size+n, maxPartBytes)
				if o.err = o.held.reserve(int64(size)); o.err != nil {
					return n, o.err
				}
			}
			last, o.parts = last+1, append(o.parts, make([]byte, 0, size))
		}
		part := o.parts[last]
		now := min(len(p)-n, cap(part)-len(part))
		o.parts[last] = append(part, p[n:n+now]...)
		n += now
	}
	o.size += n
	return n, nil
}

// add writes before, v as JSON, and after.
func (o *response) add(before string, v any, after string) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = o.Write([]byte(before))
	}
	if err == nil {
		_, err = o.Write(append(b, after...))
	}
	return err
}

// writeJSON writes v as a JSON line.
func (o *response) writeJSON(v any) error { return o.add("", v, "\n") }

// reset discards the output and frees its memory.
func (o *response) reset() {
	o.parts, o.size, o.err = nil, 0, nil
	o.held.free()
}

// fail replaces the output with an error in JSON.
func (o *response) fail(err error) {
	o.reset()
	text, _ := json.Marshal(map[string]string{"error": statusErrorOf(err).text})
	o.contentType, o.err, o.parts, o.size = "application/json", err, [][]byte{append(text, '\n')}, len(text)+1
}
