package jobs_test

import (
	"bytes"
	"flag"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/jobs/gram"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// A computer whose cache sizes differ from the planning computer's computes the same bits. A job
// planned with other cache sizes has another digest and other bits.
func TestCaches(t *testing.T) {
	if asm.BestKernels().ISA == asm.Generic {
		t.Skip("its panels are small: none of these caches matter")
	}
	caches := cpuid.CPU.Cache
	t.Cleanup(func() {
		cpuid.CPU.Cache = caches
		asm.SetCaches(asm.Caches{})
	})
	cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2 = 32<<10, 1<<20
	c, err := corpus.Read(t.Context(), "synthetic:docs=2000,terms=20000,length=600,classes=3,seed=5", corpus.Options{})
	musttest.NoError(t, err)
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	planner := gram.Kind.DeclareFlags(flags)
	musttest.NoError(t, flags.Parse([]string{"-kernel", "diffusion:t=0.5", "-block-rows", "128", "-block-columns", "256"}))
	spec, tasks, err := planner.Plan(t.Context(), &job.PlanArgs{Corpus: c})
	musttest.NoError(t, err)
	// result plans the job with the cache sizes plans, runs a task with the cache sizes works, and
	// returns the job's digest and the result.
	result := func(plans, works [2]int) (string, []byte) {
		cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2 = plans[0], plans[1]
		h := &job.Host{Store: store.New(&storetest.MemoryBucket{}), Workers: 1}
		digest := musttest.Get(shards.Write(t.Context(), h.Store, c))(t)
		d := job.Description{Version: job.Version, Kind: "gram", CorpusDigest: digest, ISA: string(asm.BestKernels().ISA),
			NumTasks: tasks}
		musttest.NoError(t, d.SetSpec(spec))
		j := musttest.Get(h.Save(t.Context(), d))(t)
		asm.SetCaches(asm.Caches{}) // as in a new process
		cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2 = works[0], works[1]
		var reports bytes.Buffer
		r := work.NewRunner(h, jobs.Kinds, &reports)
		if err := r.Run(t.Context(), job.TaskLine{Job: j.Digest, Task: 5}); err != nil || r.NumFailed() > 0 {
			t.Fatalf("%v, %s", err, &reports)
		}
		b := musttest.Get(j.Result(t.Context(), 5, nil))(t)
		return j.Digest, b
	}
	one, other := [2]int{32 << 10, 1 << 20}, [2]int{32 << 10, 512 << 10} // cache sizes of Zen 4 and Zen 3
	job1, want := result(one, one)
	job2, got := result(one, other)
	if job1 != job2 || !bytes.Equal(want, got) {
		t.Errorf("on another machine: jobs %.12s and %.12s, same bits %v", job1, job2, bytes.Equal(want, got))
	}
	if job3, got := result(other, other); job3 == job1 || bytes.Equal(want, got) {
		t.Errorf("planned on the other machine: job %.12s, the same bits %v: the test shows nothing", job3,
			bytes.Equal(want, got))
	}
}
