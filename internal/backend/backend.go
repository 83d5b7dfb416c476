// Package backend is where a command computes: on the processor or on a GPU, within which memory, and
// what happens when the GPU fails. Its flag groups are [Limits] and [Compute].
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

// CUDA stands for the GPU where instruction sets are gone through.
const CUDA asm.ISA = "cuda"

// AutoSeconds is the time on the processor from which on -backend auto takes the GPU: to make a
// device ready takes about as long, and the first time, when its driver compiles the kernels, 2 s more.
// It is reckoned with autoRate pairs a second and worker, which the processor reaches on text.
var AutoSeconds = 0.5 // a variable for tests

const autoRate = 2e8

// Compute are the flags that say how to compute.
type Compute struct {
	Limits
	ISA       string // "" for the best
	Backend   string // auto, cpu or cuda
	GPUMemory cli.ByteSize
	GPUTensor bool

	// Where -backend auto took the GPU and that fails, the processor does the command's work once
	// more, if StartsOver says that nothing is printed, and no file complete, before all is done,
	// and if what Reread lists can be read again.
	StartsOver bool
	Reread     []*string

	gpu gpu
}

const topic = "computing"

// Topic is what help says of computing.
var Topic = cli.Topic{Name: topic, Summary: "processor, GPU and memory", Text: `
A command computes on the processor, with the best instruction set that it has, or on an NVIDIA GPU
where the program is built for one (make cuda). By default it uses the GPU for long computations;
reports say which it used and why. If a GPU that was chosen by default fails, the command
starts over on the processor, as long as nothing has been printed.

-m bounds the memory of the whole command; by default that is three quarters of what the machine,
the container and ulimit leave. What doesn't fit is computed in pieces where that is possible;
otherwise the command fails before the work, and says how much memory it needs.`,
	Declare: func(f *cli.Flags) { (&Compute{}).Declare(f) }}

// gpu is the device that a command uses, opened when it is first wanted.
type gpu struct {
	tried  bool
	device *cuda.Device
	err    error          // why there is none
	why    string         // -backend auto took what it took
	loaded []cuda.Columns // closed by the engine that has them or, at the latest, with the device
}

// Declare declares all flags of the group, and has a failure of the GPU handled.
func (c *Compute) Declare(f *cli.Flags) {
	c.DeclareWorkers(f)
	c.DeclareBackend(f)
}

// DeclareBackend is Declare without -workers.
func (c *Compute) DeclareBackend(f *cli.Flags) {
	c.DeclareMemory(f)
	f.StringVar(&c.ISA, "isa", "", "use the instruction set `ISA`: generic, avx2 or avx512; one that this processor "+
		"lacks is an error (default: the best)")
	f.Choose(&c.Backend, "backend", "auto", "compute on `BACKEND`: cpu, cuda (an NVIDIA GPU; an error where there is "+
		"none), or auto, the GPU for long computations, where there is one",
		[]string{"auto", "cpu", "cuda"}, "gpu")
	f.Var(
		&c.GPUMemory,
		"gpu-mem",
		"take at most `SIZE` of the GPU's memory, such as 8G (default: 90 % of what is free)",
	)
	f.BoolVar(
		&c.GPUTensor,
		"gpu-tensor",
		false,
		"have the GPU's tensor cores take the products of the most frequent terms where that "+
			"is faster: on images, hardly ever on text",
	)
	f.Check(c.check)
	f.Around(c.run)
	f.AtEnd(c.close)
}

// check checks that what is asked for is there.
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
		return cli.Usagef("-isa %q, expected one of %s", c.ISA, report.Join(known))
	}
	_, err := asm.For(asm.ISA(c.ISA))
	return err
}

// run does a command's work. Where -backend auto took the GPU, and that fails or has too little
// memory, the processor starts over, with a warning that says why, if it can; otherwise the failure
// is an error, as it is with -backend cuda.
func (c *Compute) run(ctx context.Context, e *cli.Env, work cli.Work) error {
	err := c.Refusal(work(ctx, e))
	if !c.lostGPU(ctx, err) {
		return err
	}
	if !c.FallsBack(ctx, err) {
		return fmt.Errorf("%w; -backend cpu does without the GPU", err)
	}
	e.Warn("the GPU failed, the processor starts over: %v", err)
	_ = c.close() // as far as it still can be; it isn't used any more
	c.Backend, c.gpu.why = "cpu", "the GPU failed"
	debug.FreeOSMemory() // the second try takes the memory of the first
	return c.Refusal(work(ctx, e))
}

// lostGPU reports whether an error is a failure of the GPU where -backend auto took it.
func (c *Compute) lostGPU(ctx context.Context, err error) bool {
	failure := (*cuda.Failure)(nil)
	return errors.As(err, &failure) && ctx.Err() == nil && !c.OnGPU()
}

// FallsBack reports whether the processor starts over after an error: a command then prints nothing
// of what it has.
func (c *Compute) FallsBack(ctx context.Context, err error) bool {
	once := func(source *string) bool { return !Rereadable(*source) }
	return c.lostGPU(ctx, err) && c.StartsOver && !slices.ContainsFunc(c.Reread, once)
}

// Rereadable reports whether a source gives the same once more: a pipe doesn't, but what isn't a
// file at all does, such as synthetic:….
func Rereadable(source string) bool {
	info, err := os.Stat(source)
	return source != "-" && (err != nil || info.Mode().IsRegular() || info.IsDir())
}

// open returns the device, or why there is none.
func (c *Compute) open() (*cuda.Device, error) {
	g := &c.gpu
	if !g.tried {
		g.tried = true
		g.device, g.err = cuda.Open(cuda.Options{MemoryBytes: int64(c.GPUMemory), Tensor: c.GPUTensor})
	}
	return g.device, g.err
}

// close gives the device back, and whatever documents are still on it.
func (c *Compute) close() error {
	g := &c.gpu
	if g.device == nil {
		return nil
	}
	var err error
	for _, columns := range g.loaded {
		err = errors.Join(err, columns.Close()) // a second time does nothing
	}
	err = errors.Join(err, g.device.Close())
	c.gpu = gpu{why: g.why}
	return err
}

// Load copies documents to the device, for an engine.
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

// Device returns the device's name, or why there is none.
func (c *Compute) Device() (name string, err error) {
	d, err := c.open()
	if err != nil {
		return "", err
	}
	return d.Info().Name, nil
}

// OnGPU reports whether -backend cuda was asked for.
func (c *Compute) OnGPU() bool { return c.Backend == string(CUDA) }

// Chooses reports whether what is computed on depends on the job: -backend auto decides, in a
// program that has more than one.
func (c *Compute) Chooses() bool { return c.Backend == "auto" && c.ISA == "" && cuda.Built }

// Job returns what the matrix of so many documents is computed on: an instruction set, "" for the
// best, or [CUDA].
func (c *Compute) Job(documents int) asm.ISA {
	return c.Pairs(float64(documents) * float64(documents) / 2)
}

// Pairs is Job for so many pairs. Where -backend auto decides, [Compute.Why] says why.
func (c *Compute) Pairs(pairs float64) asm.ISA {
	if c.OnGPU() {
		return CUDA
	}
	if !c.Chooses() {
		return asm.ISA(c.ISA)
	}
	seconds := pairs / (autoRate * float64(c.NumWorkers()))
	if seconds < AutoSeconds {
		c.gpu.why = fmt.Sprintf("less than %g s for the processor", AutoSeconds)
		return asm.ISA(c.ISA)
	}
	if _, err := c.open(); err != nil {
		c.gpu.why = err.Error()
		return asm.ISA(c.ISA)
	}
	c.gpu.why = fmt.Sprintf("about %.2g s for the processor", seconds)
	return CUDA
}

// Why says why -backend auto took what it took; it is empty where nothing was left open.
func (c *Compute) Why() string { return c.gpu.why }

// WithWhy names a back end, and why -backend auto took it, where that was left open.
func WithWhy(backend, why string) string {
	if why == "" {
		return backend
	}
	return backend + " (auto: " + why + ")"
}

// All returns what to go through: the instruction sets that were asked for or can run here and,
// where there is one, the GPU, before them.
func (c *Compute) All() []asm.ISA {
	if c.OnGPU() { // there is one, or the command would have ended
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

// Options returns an engine's options for a back end: an instruction set, "" for the best, or
// [CUDA].
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

// Engine makes an engine on x for a back end.
func (c *Compute) Engine(x *sparse.Embedded, backend asm.ISA, p *cli.Progress) (*engine.Engine, error) {
	return engine.New(x, c.Options(backend, p))
}

// Recomputed writes how many pairs went through the exact form; the GPU doesn't count them.
func Recomputed(isa string, n int64) string {
	if isa == string(CUDA) {
		return ""
	}
	return report.Count(n)
}
