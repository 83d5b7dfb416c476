// Package cuda is the GPU back end: rows of c = 1 - cosine and of the kernels of package engine,
// computed by an NVIDIA GPU through gorgonia.org/cu. It is behind the build tag cuda, which wants
// cgo and Linux; without it the package has the same functions, which say so.
//
// A program with the tag is built on any machine with Go and a C compiler, without a CUDA toolkit,
// and starts on any, without a driver: see internal/driver, which finds the driver when a device is
// first asked for, and [Probe], which says what there is. The kernels are written in CUDA C++
// (kernels/*.cu), compiled to PTX by clang, which needs no toolkit either, and embedded; the driver
// compiles them for the device that it finds.
//
// The package depends on sparse and engine/device, never the reverse: engine knows it as a
// device.Backend that it is given, and the default build has nothing of it.
//
// # How a tile is computed
//
// Rows are documents that stream past panels of columns, as in package asm. Values are whole numbers
// of units of 2^-31 (kernels/words.h), so that sums of products don't depend on their order: any
// thread may add at any time, (i, j) and (j, i) have the same bits, whatever rows and columns a
// request asks for, and the values of a document need no order. The kernels of a tile are
//
//   - tailAdd, which adds up the rare terms of one row by posting lists, in shared memory. Lists that
//     are long say where every block of 4,096 columns begins;
//   - panelTensor, where [Options] asks for it and it spares panelDot more time than it takes: values
//     of the most frequent terms are written with four digits, whose products tensor cores add up
//     without rounding (kernels/tensor.h has the bound, internal/timemodel the costs). They are kept
//     apart, dense, 4 bytes each, and are no part of the panels;
//   - panelDot, which scatters the frequent terms of a panel of 128 columns into shared memory, a
//     chunk of terms at a time, and streams rows past it, a warp a row and four columns a lane. Sums
//     have 64 bits and are exact. In the end it turns them into c, and into the kernel's values where
//     its program (engine/device) is one table;
//   - applyProgram, which runs other programs on each value: so all kernels of the family are computed
//     on the device, but for those with biased thresholds and what is made of them, and smoothed layers
//     below others: of these engine maps the device's c;
//   - closePairs, which recomputes c below 0.1 in float64, a warp a pair, and runs the program anew.
//
// panelChiSquare, panelJensenShannon and their tails are the same for histograms, whose terms are
// rounded to units of 2^-62. Internal/timemodel divides the terms between head and tail: it counts what
// kernels do, and has the cost of each thing as an H100 had it; those of histograms are counted. Some 2,048 rows
// are computed at a time, in two tiles that take turns, and copied in pieces of their own size, or,
// by kernels/reduce.h, reduced where they are: to the least values of each row, products with
// vectors, or a digest (device.Reducer). Only what is copied is bound by the bus.
//
// Accuracy of the dot product, for unit vectors a and b with m common terms in the tail and h chunks:
// a word errs by 2^-32 of its value, 2^-31 where that is 1, which changes Σ a b by √(len a) 2^-32 and
// as much for b; a product in the tail by 2^-31, or all of them together where more than 1,024 are
// possible; a chunk by 2^-31. So c errs by 2^-31 (min(m, 1024) + h) + 2^-32 (√len a + √len b), 5·10^-7
// at most, beside the rounding of values and of c to float32.
//
// BENCHMARKS.md has what was measured, and LEASE.md how to measure on a GPU.
package cuda
