package jobs_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

var updateDigests = flag.Bool("update-digests", false, "write testdata/digests.txt")

type digested struct{ what, job, results string }

// TestDigests checks that the results of jobs of every kind, on every instruction set, are
// unchanged, because a store may mix results from several program versions. If a change of results
// is intended, it needs a new [job.Version].
func TestDigests(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the digests are those of amd64: elsewhere the compiler may fuse multiply-adds")
	}
	if testing.Short() {
		t.Skip("slow with the race detector")
	}
	// The cache sizes determine which terms are dense, and so the order of sums.
	caches := cpuid.CPU.Cache
	t.Cleanup(func() { cpuid.CPU.Cache = caches })
	cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2 = 32<<10, 1<<20

	const file = "testdata/digests.txt"
	text, err := os.ReadFile(file)
	if err != nil && !*updateDigests {
		t.Fatal(err)
	}
	known := map[string]string{} // digests of results, indexed by job
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		known[fields[len(fields)-2]] = fields[len(fields)-1]
	}
	if sets := asm.Available(); *updateDigests && !slices.Contains(sets, asm.AVX512) {
		t.Fatalf("digests of %v, expected avx512 among them to write %s", sets, file)
	}
	var lines strings.Builder
	for _, isa := range asm.Available() {
		for _, d := range digests(t, isa) {
			fmt.Fprintln(&lines, isa, d.what, d.job, d.results)
			switch was := known[d.job]; {
			case was == d.results:
			case was != "":
				t.Errorf("%s, %s: the results of job %.12s are others than they were, and a store may hold both: raise Version in "+
					"job/job.go, and write their digests by go test ./jobs -run Digests -update-digests", isa, d.what, d.job)
			case !*updateDigests:
				t.Errorf("%s, %s: %s doesn't have job %.12s, whose description is new: write its digest by "+
					"go test ./jobs -run Digests -update-digests", isa, d.what, file, d.job)
			}
		}
	}
	if *updateDigests && !t.Failed() {
		musttest.NoError(t, os.WriteFile(file, []byte(lines.String()), 0o644))
	}
}

const source = "synthetic:docs=600,terms=400,length=30,classes=3,seed=5"

func digests(t *testing.T, isa asm.ISA) (all []digested) {
	model := filepath.Join(t.TempDir(), "model")
	done := map[string]bool{}
	for _, c := range []struct{ kind, out, flags string }{
		{"gram", "K.npy", "-kernel diffusion:t=0.5 -block-rows 128 -block-columns 256"},
		{"gram", "K.npy", "-kernel rbf:gamma=0.5 -block-rows 128 -block-columns 256"},
		{"train", "m.model", "-kernel diffusion:t=0.5 -c 10"},
		{"train", "m.model", "-kernel linear -scheme one-vs-rest"},
		{"search", "s.json", "-kernel diffusion:t=0.1|0.5 -c 1,10 -folds 3"},
		{"predict", "p.txt", "-documents 200 -model " + model},
		{"neighbours", "n.tsv", "-k 5 -block 256"},
		{"duplicates", "d.tsv", "-within 0.4 -block 256"},
	} {
		k := musttest.Get(job.FindKind(jobs.Kinds, c.kind))(t)
		j, gathered, err := jobtest.RunISA(t, isa, k, source, c.out, strings.Fields(c.flags)...)
		if err != nil {
			t.Fatalf("%s %s: %v", c.kind, c.flags, err)
		}
		if c.kind == "train" && !done[c.kind] {
			musttest.NoError(t, os.WriteFile(model, gathered, 0o600))
		}
		done[c.kind] = true
		what, _, _ := strings.Cut(c.kind+" "+c.flags, " -model")
		all = append(all, digested{what, j.Digest, digestOf(t, j)})
	}
	done["landmarks"] = true
	for _, loss := range []string{"square", "logistic"} {
		passed := passes(t, isa, "-landmarks", "20", "-tasks", "2", "-loss", loss)
		for i, j := range passed[:min(3, len(passed))] { // later passes depend on the first three
			all = append(all, digested{fmt.Sprintf("landmarks -loss %s, pass %d", loss, i+1), j.Digest, digestOf(t, j)})
		}
	}
	for _, k := range jobs.Kinds {
		if !done[k.Name] {
			t.Errorf("no job of kind %s", k.Name)
		}
	}
	return all
}

func digestOf(t *testing.T, j *job.Job) string {
	h := sha256.New()
	for task := range j.NumTasks {
		b := musttest.Get(j.Result(t.Context(), task, nil))(t)
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
		h.Write(b)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// passes trains a landmark model, and returns the finished jobs.
func passes(t *testing.T, isa asm.ISA, flags ...string) (all []*job.Job) {
	ctx := t.Context()
	k := musttest.Get(job.FindKind(jobs.Kinds, "landmarks"))(t)
	f := flag.NewFlagSet("", flag.ContinueOnError)
	p := k.DeclareFlags(f)
	musttest.NoError(t, f.Parse(flags))
	c := musttest.Get(corpus.Read(ctx, source, corpus.Options{}))(t)
	h := &job.Host{Store: store.New(&storetest.MemoryBucket{}), Workers: 2}
	digest := musttest.Get(shards.Write(ctx, h.Store, c))(t)
	hand := &work.Dispatcher{
		RunTasks: func(ctx context.Context, j *job.Job, tasks []int) error {
			all = append(all, j)
			return work.RunLocal(ctx, jobs.Kinds, j, tasks, t.Errorf)
		},
		Logf: t.Errorf, OnStart: func(*job.Job, int, int) {},
	}
	musttest.NoError(t, p.(job.Driver).Drive(ctx, &job.DriveArgs{
		PlanArgs: job.PlanArgs{Host: h, Source: source, Corpus: c, CorpusDigest: digest}, ISA: string(isa),
		Output: &job.Output{Path: filepath.Join(t.TempDir(), "model")}, RunJob: hand.Run,
	}))
	return all
}
