// Package cuda is the GPU back end: rows of c = 1 - cosine and of the kernels of package engine, computed by an NVIDIA GPU through gorgonia.org/cu. It is behind the
// build tag cuda, which wants cgo and Linux; without it the package has the same functions, which say so.
//
// A program with the tag is built on any machine with Go and a C compiler, without a CUDA toolkit, and starts on any, without a driver: see internal/driver, which
// finds the driver when a device is first asked for, and [Probe], which says what there is. The kernels are written in CUDA C++ (kernels/*.cu), compiled to PTX by
// clang, which needs no toolkit either, and embedded; the driver compiles them for the device that it finds.
//
// The package depends on sparse and engine/device, never the reverse: engine knows it as a Device that it is given, and the default build has nothing of it.
//
// # How a tile is computed
//
// Rows are documents that stream past panels of columns, as in package asm, in three kernels:
//
//   - tailAdd adds up the rare terms of one row by posting lists, into integers in shared memory, so that any warp may add at any time and the bits don't depend on it;
//   - panelDot scatters the frequent terms of a panel of 128 columns into shared memory, a chunk of terms at a time, and streams rows past it, a warp a row and four
//     columns a lane;
//   - finish turns sums into c, recomputes those below 0.1 in float64, and runs the kernel's program (engine/device) on each value. So all kernels of the family are
//     computed on the device, but for those with biased thresholds and what is made of them, and smoothed layers below others: of these engine maps the device's c.
//
// panelChiSquare, panelJensenShannon and their tails are the same for histograms. Sums are taken in an order that depends on the terms alone: (i, j) and (j, i) have the same bits,
// whatever rows and columns a request asks for. A matrix comes out in two tiles that are computed and copied in turn, or, with [Columns.Keep], stays on the device.
//
// # What the compiler makes of it
//
// ptxas 12.9 for compute capability 8.0, 9.0 and 10.0, from the PTX in git: no kernel spills a register.
//
//	kernel                  registers  shared memory of a block
//	panelDot               92, 86, 86  512 bytes a term, as many as a device allows (454 terms for 227 KiB)
//	panelChiSquare         82, 80, 80  the same
//	panelJensenShannon     82, 80, 80  the same
//	tailAdd, all three  44-47, 40, 40  32 KiB
//	finish                 56, 48, 48  12 KiB
//
// In panelDot's inner loop a value costs 1 load of 8 bytes that all lanes share, 1 load of 16 bytes a lane from shared memory, and 4 fused multiply-adds: shared memory, 128 bytes a cycle
// and multiprocessor, is what bounds it, 4 of 5 cycles of the load unit. No figure of a run stands here: none of this has been measured on a GPU yet (cuda/check.sh does that).
package cuda
