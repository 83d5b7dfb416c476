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
// Rows are documents that stream past panels of columns, as in package asm, in these kernels:
//
//   - tailAdd adds up the rare terms of one row by posting lists, into integers in shared memory,
//     so that any warp may add at any time and the bits don't depend on it;
//   - panelDot scatters the frequent terms of a panel of 128 columns into shared memory, a chunk of
//     terms at a time, and streams rows past it, a warp a row and four columns a lane;
//   - panelTensor, where [Options] asks for it and enough terms are in a quarter of the documents,
//     takes these: whole numbers of 32 bits in units of a scale of the document, in four digits,
//     whose products tensor cores add up without a rounding (kernels/tensor.h has the bound,
//     denseShare the counting). They stand apart, dense, 4 bytes each, and are no part of the
//     panels;
//   - finish turns sums into c, recomputes those below 0.1 in float64, and runs the kernel's
//     program (engine/device) on each value. So all kernels of the family are computed on the
//     device, but for those with biased thresholds and what is made of them, and smoothed layers
//     below others: of these engine maps the device's c.
//
// panelChiSquare, panelJensenShannon and their tails are the same for histograms. Sums are taken in
// an order that depends on the terms alone: (i, j) and (j, i) have the same bits, whatever rows and
// columns a request asks for. A matrix comes out in two tiles that are computed and copied in turn,
// or, with [Columns.Keep], stays on the device.
//
// # What a solver does there
//
// With [Columns.Resident] rows stay where they are computed, and a problem's scores stand beside
// them ([ProblemScores]; the solver knows it as solver.DeviceScores). What a round of the search
// takes of n documents, with a working set of w, of which f are new and m move:
//
//   - bringing m rows up to date with the scores reads 4nm bytes, for nm multiply-adds, and rows
//     that went to the machine would be 4nf bytes on the bus: for n = 100,000 and w = m = 256, 2f =
//     w, that is 102 MB and 51 MB. This is nearly all of the round, so rows stay and addRows adds
//     them up, each score in one thread in the order of the rows;
//   - choosing a working set reads 12n bytes some three to five times, which on the host would be
//     8n bytes on the bus besides: extremes finds the ends block by block, beyondCount and
//     beyondList list the candidates in order, and no more than these come back;
//   - the inner problem takes up to 16w steps, each of which depends on the one before and reads
//     two rows of w values, 2 KiB: little work, and two reductions over a block with all their
//     barriers for each step. It stays on the processor, in whose cache its w×w matrix is; pick
//     brings the new part of it, 4wf bytes, 131 kB.
//
// Each operation is that of package asm, rounded as there, and reductions are in a fixed order: the
// machines are those of the processor with the same rows, to the bit.
//
// # What the compiler makes of it
//
// ptxas 12.9 for compute capability 8.0, 9.0 and 10.0, from the PTX in git: no kernel spills a
// register.
//
//	kernel                  registers  shared memory of a block
//	panelDot               92, 86, 86  512 bytes a term, as many as fit (454 in 227 KiB)
//	panelChiSquare         82, 80, 80  the same
//	panelJensenShannon     82, 80, 80  the same
//	tailAdd, all three  44-47, 40, 40  32 KiB
//	panelTensor         242, 240, 238  48 KiB
//	finish                 56, 48, 48  12 KiB
//	addRows                32, 40, 40  none
//	extremes               28, 28, 28  8 KiB
//	beyondCount            24, 24, 24  1 KiB
//	beyondList             32, 32, 32  2 KiB
//	pick                   24, 20, 20  none
//
// In panelDot's inner loop a value costs 1 load of 8 bytes that all lanes share, 1 load of 16 bytes
// a lane from shared memory, and 4 fused multiply-adds: shared memory, 128 bytes a cycle and
// multiprocessor, is what bounds it, 4 of 5 cycles of the load unit.
//
// In panelTensor's loop a block takes 640 products of matrices for 32 terms, 1,280 cycles of an
// A100's tensor cores and 1,024 of an H100's by mma.sync; meanwhile it moves 88 KiB from and to
// shared memory, 704 cycles, and 24 KiB from the second-level cache, 19 or 24 bytes a cycle, which
// on an H100 is about what that gives.
//
// No figure of a run stands here: none of this has been measured on a GPU yet; cuda/LEASE.md says
// how to do that, and what is predicted.
package cuda
