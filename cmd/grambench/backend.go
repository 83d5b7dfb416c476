package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// cudaBackend stands for the GPU where instruction sets are gone through.
const cudaBackend asm.ISA = "cuda"

// autoSeconds is the time on the processor from which on -backend auto takes the GPU: to make a device ready and compile for it takes about as long. It is reckoned
// with autoRate pairs a second and worker, which the processor reaches on text.
var autoSeconds = 0.5 // a variable for the tests

const autoRate = 2e8

// gpu is the device that a command uses, opened when it is first wanted.
type gpu struct {
	tried  bool
	device *cuda.Device
	err    error  // why there is none
	why    string // -backend auto took what it took
	loaded []*gpuColumns
}

// gpuColumns are documents on the device. They are closed by the engine that has them or, at the latest, with the device.
type gpuColumns struct {
	*cuda.Columns
	of     *gpu
	closed bool
}

func (c *gpuColumns) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	c.of.loaded = slices.DeleteFunc(c.of.loaded, func(other *gpuColumns) bool { return other == c })
	return c.Columns.Close()
}

// openGPU returns the device, or why there is none.
func (f *flags) openGPU() (*cuda.Device, error) {
	g := &f.gpu
	if !g.tried {
		g.tried = true
		g.device, g.err = cuda.Open(cuda.Options{MemoryBytes: int64(f.gpuMemory), Tensor: f.gpuTensor})
	}
	return g.device, g.err
}

// closeGPU gives the device back, and whatever documents are still on it.
func (f *flags) closeGPU() error {
	g := &f.gpu
	if g.device == nil {
		return nil
	}
	var err error
	for _, c := range slices.Clone(g.loaded) {
		err = errors.Join(err, c.Close())
	}
	err = errors.Join(err, g.device.Close())
	f.gpu = gpu{why: g.why}
	return err
}

// loadGPU copies documents to the device, for an engine.
func (f *flags) loadGPU(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
	d, err := f.openGPU()
	if err != nil {
		return nil, err
	}
	c, err := d.Load(ctx, x)
	if err != nil {
		return nil, err
	}
	g := &gpuColumns{Columns: c, of: &f.gpu}
	f.gpu.loaded = append(f.gpu.loaded, g)
	return g, nil
}

// checkBackend holds that a back end that is asked for is there.
func (f *flags) checkBackend() error {
	if f.set.Lookup("backend") == nil {
		return nil
	}
	switch f.backend {
	case "auto", "cpu":
	case "cuda", "gpu":
		f.backend = string(cudaBackend)
		if _, err := f.openGPU(); err != nil {
			return fmt.Errorf("-backend cuda: %w", err)
		}
	default:
		return usagef("-backend %q, expected auto, cpu or cuda", f.backend)
	}
	return f.checkISA()
}

// choosesBackend says whether what is computed on depends on the job: -backend auto decides, in a program that has more than one.
func (f *flags) choosesBackend() bool { return f.backend == "auto" && f.isa == "" && cuda.Built }

// jobBackend returns what one job computes on, the matrix of documents: an instruction set, "" for the best, or cudaBackend.
func (f *flags) jobBackend(documents int) string {
	return f.pairsBackend(float64(documents) * float64(documents) / 2)
}

// pairsBackend is jobBackend for a job of so many pairs. Where -backend auto decides, f.gpu.why says why.
func (f *flags) pairsBackend(pairs float64) string {
	if f.backend == string(cudaBackend) {
		return f.backend
	}
	if !f.choosesBackend() {
		return f.isa
	}
	seconds := pairs / (autoRate * float64(f.numWorkers()))
	if seconds < autoSeconds {
		f.gpu.why = fmt.Sprintf("less than %g s for the processor", autoSeconds)
		return f.isa
	}
	if _, err := f.openGPU(); err != nil {
		f.gpu.why = err.Error()
		return f.isa
	}
	f.gpu.why = fmt.Sprintf("about %.2g s for the processor", seconds)
	return string(cudaBackend)
}

// withWhy names a back end, and why -backend auto took it, where that was left open and this program has more than one.
func withWhy(backend, why string) string {
	if why == "" {
		return backend
	}
	return backend + " (auto: " + why + ")"
}

// backends returns what to go through: the instruction sets that were asked for or can run here and, where there is one, the GPU, before them.
func (f *flags) backends() []asm.ISA {
	gpu := false
	if f.backend == "auto" && f.isa == "" || f.backend == string(cudaBackend) {
		_, err := f.openGPU()
		gpu = err == nil
	}
	switch {
	case f.backend == string(cudaBackend): // there is one, or the command would have ended
		return []asm.ISA{cudaBackend}
	case gpu:
		return append([]asm.ISA{cudaBackend}, f.isas()...)
	}
	return f.isas()
}

// options returns an engine's options for a back end: an instruction set or cudaBackend.
func (f *flags) options(backend string) engine.Options {
	if backend == string(cudaBackend) {
		return engine.Options{ISA: f.isa, MemoryBytes: int64(f.memory), Device: f.loadGPU}
	}
	return engine.Options{ISA: backend, MemoryBytes: int64(f.memory)}
}

// recomputed writes how many pairs went through the exact form; the GPU doesn't count them.
func recomputed(isa string, n int64) string {
	if isa == string(cudaBackend) {
		return ""
	}
	return formatCount(n)
}
