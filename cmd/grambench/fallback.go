package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/gramengine/gram/cuda"
)

// do runs a command's work. Where -backend auto took the GPU, and that fails or has too little memory, the processor starts over, with a warning that says why, if the
// command is one that can and what it reads can be read again; otherwise the failure is an error. So it is with -backend cuda.
func (f *flags) do(ctx context.Context, e *env, work func(context.Context, *env) error) error {
	err := work(ctx, e)
	if !f.lostGPU(ctx, err) {
		return err
	}
	if !f.fallsBack(ctx, err) {
		return fmt.Errorf("%w; -backend cpu does without the GPU", err)
	}
	warn(e.stderr, fmt.Sprintf("the GPU failed, the processor starts over: %v", err))
	_ = f.closeGPU() // as far as it still can be; it isn't used any more
	f.backend, f.gpu.why = "cpu", "the GPU failed"
	debug.FreeOSMemory() // the second try takes the memory of the first
	return work(ctx, e)
}

// lostGPU reports whether an error is a failure of the GPU where -backend auto took it.
func (f *flags) lostGPU(ctx context.Context, err error) bool {
	failure := (*cuda.Failure)(nil)
	return errors.As(err, &failure) && ctx.Err() == nil && f.backend != string(cudaBackend)
}

// fallsBack reports whether the processor starts over after an error: a command then prints nothing of what it has.
func (f *flags) fallsBack(ctx context.Context, err error) bool {
	return f.lostGPU(ctx, err) && f.startsOver && readAgain(f.in) && readAgain(f.sets)
}

// readAgain reports whether a source gives the same once more: a pipe doesn't, but what isn't a file at all does, such as synthetic:…
func readAgain(source string) bool {
	info, err := os.Stat(source)
	return err != nil || info.Mode().IsRegular() || info.IsDir()
}
