// Package cuda is the GPU back end. It computes rows of c = 1 - cosine, and of the kernels of
// package engine, on an NVIDIA GPU through gorgonia.org/cu. It needs the build tag cuda, cgo and
// Linux. In other builds, Probe, Open and Load return ErrNotBuilt.
//
// A program with the tag cuda is built with Go and a C compiler alone, and starts without a CUDA
// toolkit or driver. Package internal/driver loads the driver when a device is first used. The
// kernels are written in CUDA C++ (kernels/*.cu), compiled to PTX by clang without a toolkit, and
// embedded. The driver compiles the PTX for the device.
//
// Package engine doesn't depend on this package; it uses a GPU through a device.Backend.
//
// # How a tile is computed
//
// As in package asm, rows stream past panels of columns. Values are integers in units of 2^-31
// (kernels/words.h), so sums of products don't depend on the order of addition. Threads may add in
// any order, and the values of (i, j) and (j, i) are bit-identical. The kernels of a tile are
//
//   - tailAdd, which finds common rare terms (the tail) by posting lists, and adds the products of
//     their values in shared memory. Long lists store the index of the first posting of each block
//     of 4,096 columns;
//   - panelTensor, if [Options] allows tensor cores and they save time. Values of the most frequent
//     terms form a dense matrix of four 8-bit digits each. Tensor cores add the products of digits
//     exactly. The error bound is in kernels/tensor.h, and the costs are in internal/timemodel;
//   - panelDot, which scatters the frequent terms of a panel of 128 columns into shared memory, one
//     chunk of terms at a time, and streams rows past it: a warp per row, four columns per lane.
//     The 64-bit sums of a chunk are exact. At the end, panelDot converts the sums to c, and to
//     kernel values if the kernel's program (engine/device) is a single table;
//   - applyProgram, which runs other programs on each value. Kernels without a program, for example
//     with biased thresholds, are computed by package engine on the CPU from c;
//   - closePairs, which recomputes c below 0.1 in float64, one warp per pair, and runs the program.
//
// The χ² and Jensen-Shannon similarities of histograms have separate kernels, which round each
// summand to units of 2^-62. Package internal/timemodel divides the terms between head and tail. It
// multiplies operation counts by costs, which are measured on an H100, or derived for histograms. A
// tile has up to 2,048 rows. The device computes one tile while another is copied to the host in
// pieces. A device.Reducer instead reduces each tile on the device (kernels/reduce.h): to the
// smallest values of each row, products with vectors, or a digest.
//
// Accuracy of the dot product: let unit vectors a and b have p and q values. Let a and b have m
// common terms in the tail, and let the head have h chunks. Encoding a value causes an absolute
// error of at most 2^-32, or 2^-31 near 1. The errors of a change Σ a b by at most √p 2^-32, and
// the errors of b by at most √q 2^-32. Each product in the tail is rounded with an error of 2^-31.
// If a and b both have more than 1,024 values in the tail, only the sum of the tail products is
// rounded. The sum of each chunk is rounded with an error of 2^-31. So the error of c is at most
// 2^-31 (min(m, 1024) + h) + 2^-32 (√p + √q) < 5·10^-7, plus rounding of values and c to float32.
//
// BENCHMARKS.md has the measurements, and LEASE.md describes how to measure on a GPU.
package cuda
