package serve

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
)

// memory counts the bytes that connections and requests hold. A request that would exceed the limit gets status 503.
type memory struct{ used, limit atomic.Int64 }

// share is the part of the memory that a request holds.
type share struct {
	of *memory
	n  int64
}

var errBusy = failed(http.StatusServiceUnavailable, "too many requests at a time")

// take adds n bytes to the share, or fails with errBusy.
func (h *share) take(n int64) error {
	if h.of.used.Add(n) > h.of.limit.Load() {
		h.of.used.Add(-n)
		return errBusy
	}
	h.n += n
	return nil
}

// free gives the share back.
func (h *share) free() {
	h.of.used.Add(-h.n)
	h.n = 0
}

// The first buffer of an output is counted with its connection, so that errors and /healthz are answered when the
// memory is used up. Later ones are as large as all before them, up to maxPart.
const freePart, maxPart = 4 << 10, 64 << 10

// output is an answer. It holds its memory until the client has read it.
type output struct {
	kind    string // content type
	refused error  // that the answer shows
	parts   [][]byte
	size    int
	held    share
}

// Write implements [io.Writer]. It fails, as all later calls do, if the answer takes too much memory.
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

// add writes v as JSON between two texts.
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

// json writes an answer in JSON.
func (o *output) json(v any) error { return o.add("", v, "\n") }

// reset drops what was written.
func (o *output) reset() {
	o.parts, o.size, o.refused = nil, 0, nil
	o.held.free()
}

// fail replaces the answer by an error.
func (o *output) fail(err error) {
	o.reset()
	text, _ := json.Marshal(map[string]string{"error": failureOf(err).text})
	o.kind, o.refused, o.parts, o.size = "application/json", err, [][]byte{append(text, '\n')}, len(text)+1
}
