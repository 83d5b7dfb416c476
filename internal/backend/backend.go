// Package backend declares the flags that select CPU or GPU ([Compute]) and limit the memory
// ([Limits]). It also restarts a command on the CPU if the GPU fails.
package backend

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cuda"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/sparse"
)

// CUDA denotes the GPU in lists of instruction sets.
const CUDA asm.ISA = "cuda"

// AutoSeconds is the minimum estimated CPU time in seconds for which -backend auto chooses the GPU.
// Opening a device takes about 0.5 s, and 2 s more if the driver has to compile the kernels.
var AutoSeconds = 0.5 // variable, so that tests can change it

// autoRate is the estimated CPU rate on text, in document pairs per second and worker.
const autoRate = 2e8

// Compute holds the flags for the back end.
type Compute struct {
	Limits
	ISA       string // "" for the fastest
	Backend   string // auto, cpu or cuda
	GPUMemory cli.ByteSize
	GPUTensor bool

	// If -backend auto chose the GPU and the GPU fails, the command restarts on the CPU. StartsOver
	// allows this: the command must print nothing and complete no file before its work is done. All
	// sources in Reread must be readable twice.
	StartsOver bool
	Reread     []*string

	gpu gpu
}

const topic = "computing"

// Topic is the help topic on back ends and memory.
var Topic = cli.Topic{Name: topic, Summary: "processor, GPU and memory", Text: `
A command computes on the CPU, with the fastest instruction set that it supports, or on an NVIDIA
GPU if the program was built for it (make cuda). By default long computations use the GPU; reports
name the back end and the reason. If a GPU that was chosen by default fails, the command restarts
on the CPU, unless it has already printed a part of its result.

-m limits the memory of the whole command; the default is three quarters of the memory that the
computer, the container and ulimit leave. Larger matrices are computed in parts if possible;
otherwise the command fails before it computes anything, and reports how much memory it needs.`,
	Declare: func(f *cli.Flags) { (&Compute{}).Declare(f) }}

// gpu is the device of a command, opened on first use.
type gpu struct {
	tried  bool
	device *cuda.Device
	err    error          // reason why there is no device
	why    string         // reason for the choice of -backend auto
	loaded []cuda.Columns // documents on the device; closed by the engine that uses them or with the device
}

// Declare declares all flags of the group, and handles failures of the GPU.
func (c *Compute) Declare(f *cli.Flags) {
	c.DeclareWorkers(f)
	c.DeclareBackend(f)
}

// DeclareBackend is like Declare, but without -workers.
func (c *Compute) DeclareBackend(f *cli.Flags) {
	c.DeclareMemory(f)
	f.StringVar(&c.ISA, "isa", "", "use instruction set `ISA`: generic, avx2 or avx512 (default: the fastest that "+
		"the CPU supports)")
	f.Choose(&c.Backend, "backend", "auto", "compute on `BACKEND` cpu, cuda (an NVIDIA GPU) or auto (the GPU, if "+
		"available, for long computations)",
		[]string{"auto", "cpu", "cuda"}, "gpu")
	f.Var(
		&c.GPUMemory,
		"gpu-mem",
		"GPU memory limit `SIZE`, such as 8G (default: 90% of the free memory)",
	)
	f.BoolVar(
		&c.GPUTensor,
		"gpu-tensor",
		false,
		"use the GPU's tensor cores for the most frequent terms if that is faster "+
			"(on images, rarely on text)",
	)
	f.Check(c.check)
	f.Around(c.run)
	f.AtEnd(c.close)
}

// check checks that the back end and the instruction set are available.
func (c *Compute) check() error {
	if c.Backend == "gpu" {
		c.Backend = string(CUDA)
	}
	if c.OnGPU() {
		if _, err := c.open(); err != nil {
			return fmt.Errorf("-backend cuda: %w", err)
		}
	}
	if c.ISA == "" {
		return nil
	}
	known := []asm.ISA{asm.Generic, asm.AVX2, asm.AVX512}
	if !slices.Contains(known, asm.ISA(c.ISA)) {
		return cli.Usagef("unknown instruction set -isa %q; valid names are %s", c.ISA, report.Join(known))
	}
	_, err := asm.For(asm.ISA(c.ISA))
	return err
}

// run does a command's work. If -backend auto chose the GPU, and the GPU fails or has too little
// memory, the work restarts on the CPU with a warning, if possible.
func (c *Compute) run(ctx context.Context, e *cli.Env, work cli.Work) error {
	err := c.Refusal(work(ctx, e))
	if !c.lostGPU(ctx, err) {
		return err
	}
	if !c.FallsBack(ctx, err) {
		return fmt.Errorf("%w; use -backend cpu to compute without the GPU", err)
	}
	e.Warn("restarting on the CPU, because the GPU failed: %v", err)
	_ = c.close() // an error is ignored, because the device isn't used again
	c.Backend, c.gpu.why = "cpu", "the GPU failed"
	debug.FreeOSMemory() // frees the memory of the first attempt
	return c.Refusal(work(ctx, e))
}

// lostGPU reports whether an error is a failure of a GPU that -backend auto chose.
func (c *Compute) lostGPU(ctx context.Context, err error) bool {
	failure := (*cuda.Failure)(nil)
	return errors.As(err, &failure) && ctx.Err() == nil && !c.OnGPU()
}

// FallsBack reports whether the command restarts on the CPU after an error. If so, the command must
// not print a partial result.
func (c *Compute) FallsBack(ctx context.Context, err error) bool {
	once := func(source *string) bool { return !Rereadable(*source) }
	return c.lostGPU(ctx, err) && c.StartsOver && !slices.ContainsFunc(c.Reread, once)
}

// Rereadable reports whether a source can be read twice. Files, folders and synthetic:… can be read
// twice, pipes can't.
func Rereadable(source string) bool {
	info, err := os.Stat(source)
	return source != "-" && (err != nil || info.Mode().IsRegular() || info.IsDir())
}

// open returns the device, or an error with the reason why there is none.
func (c *Compute) open() (*cuda.Device, error) {
	g := &c.gpu
	if !g.tried {
		g.tried = true
		g.device, g.err = cuda.Open(cuda.Options{MemoryBytes: int64(c.GPUMemory), Tensor: c.GPUTensor})
	}
	return g.device, g.err
}

// close closes the device and the documents that are still on it.
func (c *Compute) close() error {
	g := &c.gpu
	if g.device == nil {
		return nil
	}
	var err error
	for _, columns := range g.loaded {
		err = errors.Join(err, columns.Close()) // Close is idempotent
	}
	err = errors.Join(err, g.device.Close())
	c.gpu = gpu{why: g.why}
	return err
}

// Load copies documents to the device, see [engine.Options].
func (c *Compute) Load(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
	d, err := c.open()
	if err != nil {
		return nil, err
	}
	columns, err := d.Load(ctx, x)
	if err != nil {
		return nil, err
	}
	c.gpu.loaded = append(c.gpu.loaded, columns)
	return columns, nil
}

// Device returns the device's name, or an error with the reason why there is none.
func (c *Compute) Device() (name string, err error) {
	d, err := c.open()
	if err != nil {
		return "", err
	}
	return d.Info().Name, nil
}

// OnGPU reports whether -backend cuda is set.
func (c *Compute) OnGPU() bool { return c.Backend == string(CUDA) }

// Chooses reports whether the back end depends on the size of the computation. This is the case if
// -backend is auto, no instruction set is set, and the program was built for GPUs.
func (c *Compute) Chooses() bool { return c.Backend == "auto" && c.ISA == "" && cuda.Built }

// Job returns the back end for the Gram matrix of a number of documents: an instruction set, "" for
// the fastest, or [CUDA].
func (c *Compute) Job(documents int) asm.ISA {
	return c.Pairs(float64(documents) * float64(documents) / 2)
}

// Pairs is like Job, for a number of document pairs. [Compute.Why] returns the reason for the
// choice.
func (c *Compute) Pairs(pairs float64) asm.ISA {
	if c.OnGPU() {
		return CUDA
	}
	if !c.Chooses() {
		return asm.ISA(c.ISA)
	}
	seconds := pairs / (autoRate * float64(c.NumWorkers()))
	if seconds < AutoSeconds {
		c.gpu.why = fmt.Sprintf("less than %g s on the CPU", AutoSeconds)
		return asm.ISA(c.ISA)
	}
	if _, err := c.open(); err != nil {
		c.gpu.why = err.Error()
		return asm.ISA(c.ISA)
	}
	c.gpu.why = fmt.Sprintf("about %.2g s on the CPU", seconds)
	return CUDA
}

// Why returns the reason for the choice of -backend auto, or "" if there was no choice.
func (c *Compute) Why() string { return c.gpu.why }

// WithWhy returns the name of a back end with the reason from [Compute.Why].
func WithWhy(backend, why string) string {
	if why == "" {
		return backend
	}
	return backend + " (auto: " + why + ")"
}

// All returns all back ends that the flags allow: the GPU, if there is one, then the available
// instruction sets.
func (c *Compute) All() []asm.ISA {
	if c.OnGPU() { // check has opened the device
		return []asm.ISA{CUDA}
	}
	if c.ISA != "" {
		return []asm.ISA{asm.ISA(c.ISA)}
	}
	all := asm.Available()
	if c.Backend == "auto" {
		if _, err := c.open(); err == nil {
			all = append([]asm.ISA{CUDA}, all...)
		}
	}
	return all
}

// Options returns engine options for a back end: an instruction set, "" for the fastest, or [CUDA].
func (c *Compute) Options(backend asm.ISA, p *cli.Progress) engine.Options {
	opt := engine.Options{ISA: string(backend), Workers: c.Workers, MemoryBytes: int64(c.Memory)}
	if p != nil {
		opt.Progress = func(s engine.Progress) { p.Engine(s.Done, s.Total) }
	}
	if backend == CUDA {
		opt.ISA, opt.Device = c.ISA, c.Load
	}
	return opt
}

// Engine makes an engine for the documents x and a back end.
func (c *Compute) Engine(x *sparse.Embedded, backend asm.ISA, p *cli.Progress) (*engine.Engine, error) {
	return engine.New(x, c.Options(backend, p))
}

// Recomputed formats the number of pairs that were recomputed exactly; "" for the GPU, which
// doesn't count them.
func Recomputed(isa string, n int64) string {
	if isa == string(CUDA) {
		return ""
	}
	return report.Count(n)
}
