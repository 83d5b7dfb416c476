package machines

import (
	"context"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// NewProblem prepares documents for training. If once is set, each task trains with one kernel, as
// in `gram train`. Otherwise, a task trains with several kernels that share dot products, as in
// `gram grid`. If there is no memory limit, NewProblem uses three quarters of the free memory, like
// gram.
func NewProblem(
	ctx context.Context, h *job.Host, c *corpus.Corpus, e sparse.Embedding, isa string, once bool, tasks ...svm.PlannedRun,
) (*svm.Problem, error) {
	memory := h.MemoryLimit
	if free := run.AvailableMemory(); memory == 0 && free.Source != "" {
		memory = max(free.FreeBytes/4*3, 1)
	}
	held := job.ProgramBytes + shards.CorpusBytes(c) // memory in use during the job, in bytes
	return svm.NewProblem(ctx, c, e, svm.Options{
		ISA: isa, Workers: h.Workers, MemoryBytes: memory, HeldBytes: held, SingleUse: once, PlannedRuns: tasks,
	})
}
