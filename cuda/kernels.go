//go:build cuda && cgo && linux

package cuda

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/driver"
)

//go:embed kernels/gram.ptx
var ptx string

// kernels are the functions of kernels/gram.cu, compiled for the device by its driver.
type kernels struct {
	module                            cu.Module
	tailAdd, panelDot, finish, mirror cu.Function
	peakMadd, peakShared              cu.Function
	panelTerms                        int // terms whose panel fits into a block's shared memory
}

// lineBytes is what a term of a panel takes in shared memory.
const lineBytes = 4 * panelWidth

// load compiles the kernels, once.
func (d *Device) load() (*kernels, error) {
	if d.kernels != nil {
		return d.kernels, nil
	}
	log := &cu.JITErrorLogBuffer{Buffer: make([]byte, 8192)}
	module, err := cu.LoadDataEx(ptx, log)
	if err != nil {
		words, _, _ := bytes.Cut(log.Buffer, []byte{0})
		return nil, fmt.Errorf("cuda: cuModuleLoadDataEx: %w: %s", err, bytes.TrimSpace(words))
	}
	k := &kernels{module: module, panelTerms: d.info.SharedBytes / lineBytes}
	for name, f := range map[string]*cu.Function{"tailAdd": &k.tailAdd, "panelDot": &k.panelDot, "finish": &k.finish, "mirror": &k.mirror,
		"peakMadd": &k.peakMadd, "peakShared": &k.peakShared} {
		if *f, err = module.Function(name); err != nil {
			return nil, errors.Join(fmt.Errorf("cuda: cuModuleGetFunction of %s: %w", name, err), k.close())
		}
	}
	if err := driver.AllowShared(k.panelDot, k.panelTerms*lineBytes); err != nil {
		return nil, errors.Join(fmt.Errorf("cuda: %w", err), k.close())
	}
	d.kernels = k
	return k, nil
}

func (k *kernels) close() error { return failed("cuModuleUnload", k.module.Unload()) }

// launch starts a kernel. gorgonia.org/cu copies 8 bytes for every parameter, whatever its size, so each has as many.
func launch(name string, f cu.Function, gridX, gridY, threads, shared int, stream cu.Stream, parameters ...uint64) error {
	pointers := make([]unsafe.Pointer, len(parameters))
	for i := range parameters {
		pointers[i] = unsafe.Pointer(&parameters[i])
	}
	if err := f.Launch(gridX, gridY, 1, threads, 1, 1, shared, stream, pointers); err != nil {
		return fmt.Errorf("cuda: cuLaunchKernel of %s: %w", name, err)
	}
	return nil
}
