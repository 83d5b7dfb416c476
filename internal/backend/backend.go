// Package backend declares the flags that select CPU or GPU ([ComputeFlags]) and limit the memory
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

// GPUThresholdSeconds is the minimum estimated CPU time in seconds for which -backend auto chooses
// the GPU. Opening a device takes about 0.5 s, or 2.5 s if the driver has to compile the kernels.
var GPUThresholdSeconds = 0.5 // not a constant, so that tests can change it

// cpuPairRate is the estimated CPU rate on text, in document pairs per second and worker.
const cpuPairRate = 2e8

// ComputeFlags holds the flags for the back end.
type ComputeFlags struct {
	Limits
	ISA            string // instruction set; "" for the fastest
	Backend        string // auto, cpu or cuda
	GPUMemory      cli.ByteSize
	UseTensorCores bool

	// Restartable allows a restart on the CPU if -backend auto chose the GPU and the GPU fails. The
	// command must then print nothing and complete no file before its work is done. It doesn't
	// restart if a source in RereadSources can't be read twice.
	Restartable   bool
	RereadSources []*string

	gpu gpu
}

const topicName = "computing"

// Topic is the help topic on back ends and memory.
var Topic = cli.Topic{Name: topicName, Summary: "processor, GPU and memory", Text: `
A command computes on the CPU, with the fastest instruction set that it supports, or on an NVIDIA
GPU if the program was built for it (make cuda). By default long computations use the GPU; reports
name the back end and the reason. If a GPU that was chosen by default fails, the command restarts
on the CPU, unless it has already printed a part of its result.

-m limits the memory of the whole command; the default is three quarters of the memory that the
computer, the container and ulimit leave. Larger matrices are computed in parts if possible;
otherwise the command fails before it computes anything, and reports how much memory it needs.`,
	Declare: func(f *cli.Flags) { (&ComputeFlags{}).Declare(f) }}

// gpu is the device of a command, opened on first use.
type gpu struct {
	opened  bool
	device  *cuda.Device
	err     error          // reason why there is no device
	reason  string         // reason for the choice of -backend auto
	columns []cuda.Columns // documents on the device; closed by their engine or by close
}

// Declare declares the flags for the back end. If the GPU fails and FallsBack returns true, the
// command restarts on the CPU.
func (c *ComputeFlags) Declare(f *cli.Flags) {
	c.DeclareWorkers(f)
	c.DeclareBackend(f)
}

// DeclareBackend is like Declare, but without -workers.
func (c *ComputeFlags) DeclareBackend(f *cli.Flags) {
	c.DeclareMemory(f)
	f.StringVar(&c.ISA, "isa", "", "use instruction set `ISA`: generic, avx2 or avx512 (default: the fastest that "+
		"the CPU supports)")
	f.ChoiceVar(&c.Backend, "backend", "auto", "compute on `BACKEND`: cpu, cuda (an NVIDIA GPU) or auto (the GPU, if "+
		"available, for long computations)",
		[]string{"auto", "cpu", "cuda"}, "gpu")
	f.Var(
		&c.GPUMemory,
		"gpu-mem",
		"GPU memory limit `SIZE`, such as 8G (default: 90% of the free memory)",
	)
	f.BoolVar(
		&c.UseTensorCores,
		"gpu-tensor",
		false,
		"use the GPU's tensor cores for the most frequent terms if that is faster "+
			"(on images, rarely on text)",
	)
	f.AddCheck(c.check)
	f.WrapWork(c.run)
	f.Cleanup(c.close)
}

func (c *ComputeFlags) check() error {
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
	_, err := asm.KernelsFor(asm.ISA(c.ISA))
	return err
}

// run does a command's work. If -backend auto chose the GPU and the GPU fails, run restarts the
// work on the CPU with a warning if FallsBack allows this.
func (c *ComputeFlags) run(ctx context.Context, e *cli.Env, work cli.RunFunc) error {
	err := c.ExplainMemoryError(work(ctx, e))
	if !c.isGPUFailure(ctx, err) {
		return err
	}
	if !c.FallsBack(ctx, err) {
		return fmt.Errorf("%w; use -backend cpu to compute without the GPU", err)
	}
	e.Warnf("restarting on the CPU, because the GPU failed: %v", err)
	_ = c.close() // the error is ignored, because the device isn't used again
	c.Backend, c.gpu.reason = "cpu", "the GPU failed"
	debug.FreeOSMemory() // frees the memory of the first attempt
	return c.ExplainMemoryError(work(ctx, e))
}

// isGPUFailure reports whether an error is a failure of a GPU that -backend auto chose.
func (c *ComputeFlags) isGPUFailure(ctx context.Context, err error) bool {
	failure := (*cuda.DeviceError)(nil)
	return errors.As(err, &failure) && ctx.Err() == nil && !c.OnGPU()
}

// FallsBack reports whether the command restarts on the CPU after an error. If so, the command must
// not print a partial result.
func (c *ComputeFlags) FallsBack(ctx context.Context, err error) bool {
	once := func(source *string) bool { return !IsRereadable(*source) }
	return c.isGPUFailure(ctx, err) && c.Restartable && !slices.ContainsFunc(c.RereadSources, once)
}

// IsRereadable reports whether a source can be read twice. Files, folders and synthetic:… can be
// read twice, pipes can't.
func IsRereadable(source string) bool {
	info, err := os.Stat(source)
	return source != "-" && (err != nil || info.Mode().IsRegular() || info.IsDir())
}

func (c *ComputeFlags) open() (*cuda.Device, error) {
	g := &c.gpu
	if !g.opened {
		g.opened = true
		g.device, g.err = cuda.Open(cuda.Options{MemoryBytes: int64(c.GPUMemory), Tensor: c.UseTensorCores})
	}
	return g.device, g.err
}

// close closes the device and the documents that are still on it.
func (c *ComputeFlags) close() error {
	g := &c.gpu
	if g.device == nil {
		return nil
	}
	var err error
	for _, columns := range g.columns {
		err = errors.Join(err, columns.Close()) // Close is idempotent
	}
	err = errors.Join(err, g.device.Close())
	c.gpu = gpu{reason: g.reason}
	return err
}

// LoadDocuments copies the documents x to the device; see [engine.Options].
func (c *ComputeFlags) LoadDocuments(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
	d, err := c.open()
	if err != nil {
		return nil, err
	}
	columns, err := d.Load(ctx, x)
	if err != nil {
		return nil, err
	}
	c.gpu.columns = append(c.gpu.columns, columns)
	return columns, nil
}

// DeviceName returns the device's name, or the reason why there is no device as an error.
func (c *ComputeFlags) DeviceName() (name string, err error) {
	d, err := c.open()
	if err != nil {
		return "", err
	}
	return d.Info().Name, nil
}

// OnGPU reports whether -backend cuda is set.
func (c *ComputeFlags) OnGPU() bool { return c.Backend == string(CUDA) }

// DependsOnSize reports whether the back end depends on the size of the computation. This is the
// case if -backend is auto, no instruction set is set, and the program was built for GPUs.
func (c *ComputeFlags) DependsOnSize() bool { return c.Backend == "auto" && c.ISA == "" && cuda.Built }

// BackendFor returns the back end for a Gram matrix of the given number of documents: an
// instruction set, "" for the fastest, or [CUDA].
func (c *ComputeFlags) BackendFor(documents int) asm.ISA {
	return c.BackendForPairs(float64(documents) * float64(documents) / 2)
}

// BackendForPairs is like BackendFor, for a number of document pairs. [ComputeFlags.Reason] returns
// the reason for the choice.
func (c *ComputeFlags) BackendForPairs(pairs float64) asm.ISA {
	if c.OnGPU() {
		return CUDA
	}
	if !c.DependsOnSize() {
		return asm.ISA(c.ISA)
	}
	seconds := pairs / (cpuPairRate * float64(c.NumWorkers()))
	if seconds < GPUThresholdSeconds {
		c.gpu.reason = fmt.Sprintf("less than %g s on the CPU", GPUThresholdSeconds)
		return asm.ISA(c.ISA)
	}
	if _, err := c.open(); err != nil {
		c.gpu.reason = err.Error()
		return asm.ISA(c.ISA)
	}
	c.gpu.reason = fmt.Sprintf("about %.2g s on the CPU", seconds)
	return CUDA
}

// Reason returns the reason for the choice of -backend auto, or "" if there was no choice.
func (c *ComputeFlags) Reason() string { return c.gpu.reason }

// WithReason returns backend, followed by why in parentheses if why isn't empty.
func WithReason(backend, why string) string {
	if why == "" {
		return backend
	}
	return backend + " (auto: " + why + ")"
}

// Backends returns all back ends that the flags allow: the GPU, if there is one, then the available
// instruction sets.
func (c *ComputeFlags) Backends() []asm.ISA {
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

// EngineOptions returns engine options for a back end: an instruction set, "" for the fastest, or
// [CUDA].
func (c *ComputeFlags) EngineOptions(backend asm.ISA, p *cli.Progress) engine.Options {
	opt := engine.Options{ISA: string(backend), Workers: c.Workers, MemoryBytes: int64(c.Memory)}
	if p != nil {
		opt.Progress = func(s engine.Progress) { p.UpdateFromEngine(s.Done, s.Total) }
	}
	if backend == CUDA {
		opt.ISA, opt.Device = c.ISA, c.LoadDocuments
	}
	return opt
}

// NewEngine makes an engine that computes on documents x with the given back end.
func (c *ComputeFlags) NewEngine(x *sparse.Embedded, backend asm.ISA, p *cli.Progress) (*engine.Engine, error) {
	return engine.New(x, c.EngineOptions(backend, p))
}

// FormatRecomputed formats n, the number of pairs that were recomputed exactly. It returns "" for
// the GPU, which doesn't count these pairs.
func FormatRecomputed(isa string, n int64) string {
	if isa == string(CUDA) {
		return ""
	}
	return report.FormatCount(n)
}
