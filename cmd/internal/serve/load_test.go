package serve

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
)

var soak = flag.Int("soak", 2000, "requests of TestSoak")

// topics returns random texts with a heavy-tailed word distribution. Half of the words are from a
// vocabulary of the text's class.
func topics(classes, each, length int) (texts, labels []string) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range classes * each {
		var b strings.Builder
		for range length {
			word := int(1/(r.Float64()+1e-4)) + r.IntN(20)
			if r.IntN(2) == 0 {
				word += 20000 + 300*(i%classes)
			}
			b.WriteByte('w')
			for ; word > 0; word /= 26 {
				b.WriteByte(byte('a' + word%26))
			}
			b.WriteByte(' ')
		}
		texts, labels = append(texts, b.String()), append(labels, fmt.Sprint("class", i%classes))
	}
	return texts, labels
}

// serving trains a model with the given number of classes and returns a service for it.
func serving(t testing.TB, classes, each, length int, o gram.TrainOptions) (s *service, r *serveFlags, texts []string) {
	t.Helper()
	texts, labels := topics(classes, each, length)
	c := gram.Must(gram.FromTexts(t.Context(), texts, labels, gram.ReadOptions{}))
	r = &serveFlags{model: filepath.Join(t.TempDir(), "a.model"), maxBody: 1 << 20, timeout: 10 * time.Second}
	musttest.NoError(t, gram.Must(gram.Train(t.Context(), c, o)).Save(r.model))
	l := musttest.Get(r.load(t.Context()))(t)
	s = newService(runtime.GOMAXPROCS(0), int64(r.maxBody), r.timeout)
	s.setModel(l)
	a := l.model.About()
	t.Logf("%d classes, %d support vectors, %d terms, %s", len(a.Classes), a.Support, len(a.Vocabulary), a.Kernel)
	return s, r, texts
}

// post sends a request and returns the status, or 0 if there is no answer.
func post(client *http.Client, address, kind, body string) int {
	r, err := client.Post(address, kind, strings.NewReader(body))
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return 0
	}
	return r.StatusCode
}

// held returns the heap and the resident memory of the process after garbage collection.
func held() (heap, resident int64) {
	debug.FreeOSMemory()
	debug.FreeOSMemory() // a pool keeps its contents for one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), backend.ProcBytes("/proc/self/status", "VmRSS:")
}

// The heap doesn't grow with requests, of which a tenth are malformed, nor with reloads of the
// model.
func TestSoak(t *testing.T) {
	s, r, texts := serving(t, 20, 20, 30, gram.TrainOptions{Kernel: "diffusion:t=0.5", C: 10})
	addr := listen(t, s)
	malformed := []struct{ path, kind, body string }{
		{"/predict", asJSON, `{"text": "w`}, {"/predict", asJSON, `{"txt": 1}`}, {"/predict", "a/b", "w"},
		{"/predict", asJSON, strings.Repeat("[", 5000)}, {"/predict", "text/plain", strings.Repeat("w ", 1<<19+1)},
		{"/explain", asJSON, "{}"},
		{"/nothing?" + strings.Repeat("x", 20000), "", ""}, {"/%zz", "", ""}, {"/elsewhere", "", ""},
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	send := func(n int) {
		var next, answered atomic.Int64
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for i := next.Add(1); i <= int64(n); i = next.Add(1) {
					if i%10 == 0 {
						m := malformed[int(i/10)%len(malformed)]
						if status := post(client, "http://"+addr+m.path, m.kind, m.body); status >= 200 && status < 400 {
							t.Errorf("%s: status %d", m.path, status)
						}
					} else if status := post(client, "http://"+addr+"/predict", "", texts[int(i)%len(texts)]); status == 200 {
						answered.Add(1)
					} else {
						t.Errorf("a text: status %d", status)
					}
				}
			})
		}
		all.Wait()
		client.CloseIdleConnections()
		for s.conns.count() > 0 { // open connections hold buffers
			time.Sleep(time.Millisecond)
		}
		if answered.Load() != int64(n-n/10) {
			t.Errorf("%d of %d answered", answered.Load(), n)
		}
	}
	swap := func(n int) {
		for range n {
			l := musttest.Get(r.load(t.Context()))(t)
			s.setModel(l)
		}
	}
	// After connections are closed and pools emptied, heap noise is 10 KB, or 5 bytes per request.
	// A leaked object has at least 16 bytes, a buffer 2 KiB, a model 100 KB.
	for _, q := range []struct {
		what string
		do   func(n int)
		n    int
		most int64 // maximum growth in bytes per call
	}{{"requests", send, max(*soak, 1000), 16}, {"swaps", swap, max(*soak/10000, 10), 4 << 10}} {
		q.do(q.n) // fills pools, and creates counters for paths and errors
		held()
		q.do(q.n)
		heap, resident := held()
		const tries = 3 // a leak shows in each try, noise doesn't
		for try := 1; ; try++ {
			q.do(q.n)
			after, then := held()
			t.Logf("after %d %s: heap %s, resident %s; after %d more %s, %s", q.n, q.what, report.FormatBytes(heap),
				report.FormatBytes(resident), q.n, report.FormatBytes(after), report.FormatBytes(then))
			if after <= heap+q.most*int64(q.n) {
				break
			}
			if try == tries {
				t.Errorf("%d %s: the heap grew from %d to %d bytes, expected %d for each at most", q.n, q.what, heap, after,
					q.most)
				break
			}
			heap, resident = after, then
		}
	}
}
