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
	"github.com/gramengine/gram/sparse"
)

//go:embed kernels/gram.ptx
var ptx string

// kernels holds the functions of kernels/gram.cu, as loaded by the driver.
type kernels struct {
	module         cu.Module
	tailAdd, panel [pairings]cu.Function
	panelTensor    cu.Function
	applyProgram   cu.Function
	closePairs     cu.Function
	reduce         reduceKernels
	panelTerms     int // maximum number of terms per panel, as limited by shared memory
}

// pairingKernels holds the names of the tail kernel and the panel kernel for each pairing.
var pairingKernels = [pairings][2]string{
	sparse.Cosine:        {"tailAdd", "panelDot"},
	sparse.ChiSquare:     {"tailAddChiSquare", "panelChiSquare"},
	sparse.JensenShannon: {"tailAddJensenShannon", "panelJensenShannon"},
}

const pairings = sparse.JensenShannon + 1

const lineBytes = 4 * panelWidth

// load returns the kernels. The first call loads the module, and the driver compiles its PTX.
func (d *Device) load() (*kernels, error) {
	if d.kernels != nil {
		return d.kernels, nil
	}
	log := &cu.JITErrorLogBuffer{Buffer: make([]byte, 8192)}
	module, err := cu.LoadDataEx(d.module, log)
	if err != nil {
		words, _, _ := bytes.Cut(log.Buffer, []byte{0})
		return nil, &DeviceError{fmt.Errorf("cuModuleLoadDataEx: %w: %s", err, bytes.TrimSpace(words))}
	}
	k := &kernels{module: module, panelTerms: d.info.SharedBytes/lineBytes - 1}
	for name, f := range k.functions() {
		if *f, err = module.Function(name); err != nil {
			return nil, errors.Join(driverError("cuModuleGetFunction of "+name, err), k.close())
		}
	}
	for _, f := range k.panel {
		if err := driver.AllowShared(f, (1+k.panelTerms)*lineBytes); err != nil {
			return nil, errors.Join(&DeviceError{err}, k.close())
		}
	}
	d.kernels = k
	return k, nil
}

// functions maps kernel names to fields of k. A module must contain all kernels of the map.
func (k *kernels) functions() map[string]*cu.Function {
	all := map[string]*cu.Function{"panelTensor": &k.panelTensor, "applyProgram": &k.applyProgram,
		"closePairs": &k.closePairs,
		"least":      &k.reduce.min, "multiplyRows": &k.reduce.multiply, "digest": &k.reduce.digest}
	for p, names := range pairingKernels {
		all[names[0]], all[names[1]] = &k.tailAdd[p], &k.panel[p]
	}
	return all
}

func (k *kernels) close() error { return driverError("cuModuleUnload", k.module.Unload()) }

// launch starts a kernel. All parameters are 8 bytes long, because gorgonia.org/cu copies 8 bytes
// per parameter.
func (d *Device) launch(
	name string, f cu.Function, gridX, gridY, threads, shared int, stream cu.Stream, parameters ...uint64,
) error {
	if d.interpret != nil {
		if done, err := d.interpret(name, [2]int{gridX, gridY}, threads, shared, parameters); done || err != nil {
			return err
		}
	}
	pointers := make([]unsafe.Pointer, len(parameters))
	for i := range parameters {
		pointers[i] = unsafe.Pointer(&parameters[i])
	}
	return d.timer.measure(name, stream, func() error {
		return driverError("cuLaunchKernel of "+name, f.Launch(gridX, gridY, 1, threads, 1, 1, shared, stream, pointers))
	})
}
