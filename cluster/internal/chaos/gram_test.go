package chaos

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/gram"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

type gramJob struct {
	documents *corpus.Corpus
	flags     []string
	want      []byte // expected output of gather
}

func newGramJob(t *testing.T, documents int, flags ...string) *gramJob {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for range documents {
		fmt.Fprintf(&text, "1 %d:1 %d:%d\n", 1+rng.IntN(9), 10+rng.IntN(30), 1+rng.IntN(4))
	}
	opt := corpus.Options{Form: corpus.Form{Format: corpus.FormatSVMLight}}
	c, err := corpus.ReadFrom(t.Context(), strings.NewReader(text.String()), "test", opt)
	if err != nil {
		t.Fatal(err)
	}
	g := &gramJob{documents: c, flags: flags}
	s := store.New(&storetest.Memory{})
	musttest.Do(t, g.work(t, s, g.plan(t, s)))
	if g.want, err = g.gather(t, s); err != nil {
		t.Fatal(err)
	}
	return g
}

func host(s *store.Store) *job.Host { return &job.Host{Store: s, Workers: 1} }

// planned is a job, or the error of planning it.
type planned struct {
	job *job.Job
	err error
}

// plan stores documents and description, as gramcluster plan does.
func (g *gramJob) plan(t *testing.T, s *store.Store) planned {
	h := host(s)
	digest, err := shards.Write(t.Context(), s, g.documents)
	if err != nil {
		return planned{nil, err}
	}
	f := flag.NewFlagSet("plan", flag.ContinueOnError)
	p := gram.Kind.Declare(f)
	musttest.Do(t, f.Parse(g.flags))
	spec, tasks, err := p.Plan(t.Context(), &job.Planning{Host: h, Corpus: g.documents, Digest: digest})
	if err != nil {
		return planned{nil, err}
	}
	d := job.Description{Version: job.Version, Kind: "gram", Corpus: digest, ISA: "generic", Tasks: tasks}
	musttest.Do(t, d.SetSpec(spec))
	j, err := h.Save(t.Context(), d)
	return planned{j, err}
}

// work lets two workers do all tasks alternately, one from the first, the other from the last.
func (g *gramJob) work(t *testing.T, s *store.Store, p planned) error {
	if p.err != nil {
		return p.err
	}
	var said bytes.Buffer
	var failed error
	a, b := work.NewRunner(host(s), []job.Kind{gram.Kind}, &said), work.NewRunner(host(s), []job.Kind{gram.Kind}, &said)
	for task := range p.job.Tasks {
		err := errors.Join(a.Do(t.Context(), job.Line{Job: p.job.Digest, Task: task}),
			b.Do(t.Context(), job.Line{Job: p.job.Digest, Task: p.job.Tasks - 1 - task}))
		if err != nil {
			return err
		}
	}
	for lines := json.NewDecoder(&said); lines.More(); {
		var r work.Report
		musttest.Do(t, lines.Decode(&r))
		if r.State == work.Failed {
			failed = errors.New(r.Why)
			continue
		}
		// An acknowledged result exists: reading it may fail, but not with Missing.
		if _, err := p.job.Result(t.Context(), r.Task, nil); job.Missing(err) {
			if _, err := p.job.Result(t.Context(), r.Task, nil); job.Missing(err) { // a torn read may be the cause
				t.Errorf("task %d is %s and missing: %v", r.Task, r.State, err)
			}
		}
	}
	return failed
}

// gather returns the output of gramcluster gather.
func (g *gramJob) gather(t *testing.T, s *store.Store) ([]byte, error) {
	h := host(s)
	j, err := work.Find(t.Context(), h, "")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(t.TempDir(), "K.npy")
	out := &job.Output{Path: path, Progress: func(int64, int64) {}, Say: func(string, ...any) {}}
	if err := work.Gather(t.Context(), []job.Kind{gram.Kind}, j, out); err != nil {
		if _, err := os.Stat(path); err == nil {
			t.Error("gather has failed and left a file behind")
		}
		return nil, err
	}
	return os.ReadFile(path)
}

// TestNthOperation lets the n-th store operation fail, for n up to 200, with one of all faults. A
// second try succeeds, and the gathered output is correct.
func TestNthOperation(t *testing.T) {
	g := newGramJob(t, 11*128, "-block-rows", "128", "-block-columns", "256")
	faults := []storetest.Fault{
		storetest.Before, storetest.After, storetest.Torn, storetest.Again, storetest.Turned, storetest.Stale,
	}
	failed := 0
	for n, step := 1, 1; n <= 200; n += step {
		if step = 1; testing.Short() {
			step = 20
		} else if n > 40 { // later operations are similar
			step = 3
		}
		fault := faults[(n+n/6)%len(faults)] // so that each fault meets each kind of operation
		count := 0
		s := store.New(&storetest.Faulty{Bucket: &storetest.Memory{}, Decide: func(op, key string) storetest.Fault {
			if count++; count != n {
				return storetest.None
			}
			return fault
		}})
		done := func(what string, do func() error) {
			err := do()
			if err == nil {
				return
			}
			failed++
			if err := do(); err != nil {
				t.Fatalf("n=%d, fault %d: %s fails twice: %v", n, fault, what, err)
			}
		}
		var p planned
		done("plan", func() error { p = g.plan(t, s); return p.err })
		done("work", func() error { return g.work(t, s, p) })
		done("gather", func() error {
			got, err := g.gather(t, s)
			if err == nil && !bytes.Equal(got, g.want) {
				t.Errorf("n=%d, fault %d: gathered other bytes", n, fault)
			}
			return err
		})
		if count < n {
			t.Errorf("only %d operations, expected 200 at least", count)
		}
	}
	t.Logf("%d steps failed once", failed)
	if failed == 0 {
		t.Error("no fault had an effect")
	}
}

// TestFlippedBytes changes every byte of a small store once, and truncates every object at every
// length. Reading the object then fails; planning and working again repair it.
func TestFlippedBytes(t *testing.T) {
	g := newGramJob(t, 5, "-block-rows", "128", "-block-columns", "256")
	whole := &storetest.Memory{}
	musttest.Do(t, g.work(t, store.New(whole), g.plan(t, store.New(whole))))
	keys, bytesInAll, rng := whole.Keys(), 0, rand.New(rand.NewPCG(3, 4))
	if len(keys) != 4 {
		t.Fatalf("objects %v, expected the beginning and a shard of the corpus, a job and a result", keys)
	}
	for _, key := range keys {
		name, _ := strings.CutSuffix(key, ".a0")
		for at := range whole.Get(key) {
			bytesInAll++
			for _, cut := range []bool{false, true} {
				m := &storetest.Memory{}
				for _, k := range keys {
					m.Set(k, whole.Get(k))
				}
				b := whole.Get(key)
				if cut {
					b = b[:at]
				} else {
					b[at] ^= 1 << rng.IntN(8)
				}
				m.Set(key, b)
				s := store.New(m)
				_, err := s.Get(t.Context(), name, nil)
				if damaged := (*store.DamagedError)(nil); !errors.As(err, &damaged) || damaged.Key != key {
					t.Fatalf("%s, byte %d: %v, expected a DamagedError that names it", key, at, err)
				}
				if at%4 != 0 {
					continue
				}
				if _, err := g.gather(t, s); err == nil && !strings.HasPrefix(key, shards.Prefix) {
					t.Fatalf("%s, byte %d: gather says nothing", key, at)
				}
				if err := g.work(t, s, g.plan(t, s)); err != nil {
					t.Fatalf("%s, byte %d: %v", key, at, err)
				}
				if got, err := g.gather(t, s); err != nil || !bytes.Equal(got, g.want) {
					t.Fatalf("%s, byte %d: gathered other bytes, error %v", key, at, err)
				}
				if len(m.Get(name+".a1")) != len(whole.Get(key)) {
					t.Fatalf("%s, byte %d: it isn't mended", key, at)
				}
			}
		}
	}
	t.Logf("%d bytes in %d objects", bytesInAll, len(keys))
}
