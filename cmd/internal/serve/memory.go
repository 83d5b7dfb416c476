package serve

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
)

// memory counts bytes of connections and requests. Requests above the limit get status 503.
type memory struct{ used, limit atomic.Int64 }

// share is the memory held by one request.
type share struct {
	of *memory
	n  int64
}

var errBusy = failed(http.StatusServiceUnavailable, "too many concurrent requests")

// take adds n bytes to the share. It fails with errBusy if the total would exceed the limit.
func (h *share) take(n int64) error {
	if h.of.used.Add(n) > h.of.limit.Load() {
		h.of.used.Add(-n)
		return errBusy
	}
	h.n += n
	return nil
}

func (h *share) free() {
	h.of.used.Add(-h.n)
	h.n = 0
}

// The first freePart bytes of an output count as memory of the connection, so that errors and
// /healthz can be answered when no memory is left. Further parts have up to maxPart bytes.
const freePart, maxPart = 4 << 10, 64 << 10

// output is a response in memory. Its memory is counted until the response has been sent.
type output struct {
	kind    string // content type
	refused error  // error that the response reports
	parts   [][]byte
	size    int
	held    share
}

// Write implements [io.Writer]. After a call exceeds the memory limit, all later calls fail.
func (o *output) Write(p []byte) (n int, err error) {
	if o.refused != nil {
		return 0, o.refused
	}
	for n < len(p) {
		last := len(o.parts) - 1
		if last < 0 || len(o.parts[last]) == cap(o.parts[last]) {
			size := freePart
			if last >= 0 {
				size = min(o.size+n, maxPart)
				if o.refused = o.held.take(int64(size)); o.refused != nil {
					return n, o.refused
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

// add writes v as JSON, between before and after.
func (o *output) add(before string, v any, after string) error {
	b, err := json.Marshal(v)
	if err == nil {
		_, err = o.Write([]byte(before))
	}
	if err == nil {
		_, err = o.Write(append(b, after...))
	}
	return err
}

// json writes v as a JSON line.
func (o *output) json(v any) error { return o.add("", v, "\n") }

// reset discards the output and frees its memory.
func (o *output) reset() {
	o.parts, o.size, o.refused = nil, 0, nil
	o.held.free()
}

// fail replaces the output with an error in JSON.
func (o *output) fail(err error) {
	o.reset()
	text, _ := json.Marshal(map[string]string{"error": failureOf(err).text})
	o.kind, o.refused, o.parts, o.size = "application/json", err, [][]byte{append(text, '\n')}, len(text)+1
}
