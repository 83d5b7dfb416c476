package learners

import (
	"context"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// prepareModel prepares a model for predictions. held is the memory in use in bytes, excluding the
// engine.
func (r *predict) prepareModel(
	ctx context.Context, p *cli.Progress, m learn.Model, documents *pendingCount, held int64,
) (learn.Predictor, error) {
	if r.OnGPU() && m.About().Kernel == model.Precomputed {
		return nil, cli.Usagef("-backend cuda does not support precomputed kernels; use -backend cpu")
	}
	o := learn.Options{
		ISA: r.ISA, Workers: r.Workers, MemoryBytes: r.Budget(), HeldBytes: held,
		Progress: func(_ string, done, total int64, _ ...string) { p.Update(done, total) },
	}
	// a linear SVM uses the GPU only if -backend is cuda
	if own, _ := learn.KernelMachineOf(m); r.OnGPU() || own == nil || !svm.HasWeights(own) {
		o.Device = func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
			return r.device(ctx, x, documents)
		}
	}
	return learn.NewPredictor(ctx, m, o)
}

// setComputation sets the fields that describe the computation: instruction set or GPU, workers,
// and dot products.
func (r *predictReport) setComputation(run *predict, p learn.Predictor) {
	r.ISA, r.Workers = run.ISA, run.NumWorkers()
	own, computing := p.(learn.EnginePredictor)
	if r.usesWeights = computing && own.Weights() != nil; !computing || r.usesWeights {
		if r.ISA == "" {
			r.ISA = string(asm.BestKernels().ISA)
		}
		return
	}
	r.ISA = string(asm.Generic) // default for a model that needs no engine
	if e := own.Engine(); e != nil {
		r.ISA, r.Workers, r.BackendReason = e.Info().Backend, e.Info().Workers, run.Reason()
		r.DotProducts = e.Stats().Pairs
	}
}

// predictionBytes returns the memory for predictions in bytes, excluding documents and engine.
func predictionBytes(a *learn.About) int64 { return backend.RuntimeBytes + a.Bytes }
