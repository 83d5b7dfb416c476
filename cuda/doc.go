// Package cuda is the GPU back end: rows of c = 1 - cosine and of the kernels of package engine, computed by an NVIDIA GPU through gorgonia.org/cu. It is behind the
// build tag cuda, which wants cgo and Linux; without it the package has the same functions, which say so.
//
// A program with the tag is built on any machine with Go and a C compiler, without a CUDA toolkit, and starts on any, without a driver: see internal/driver, which
// finds the driver when a device is first asked for, and [Probe], which says what there is. The kernels are written in CUDA C++ (kernels/*.cu), compiled to PTX by
// clang, which needs no toolkit either, and embedded; the driver compiles them for the device that it finds.
//
// The package depends on sparse and device, never the reverse: engine knows it as a Device that it is given, and the default build has nothing of it.
package cuda
