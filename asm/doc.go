// Package asm contains the performance-critical kernels on slices. They compute dot products with
// panels and posting lists, c = 1 - cosine, elementwise maps of c, and transpositions. There are
// also float64 maps for layered kernels, and kernels for the SVM solver.
//
// A [Kernels] table holds the kernels for one instruction set. [KernelsFor] and [BestKernels]
// return a table. An engine selects its table when it is created. Every kernel has a generic Go
// version, which is compiled on every platform and is the reference for the assembly. The generator
// in _gen writes the assembly (make generate). All kernels may be called concurrently if
// destinations don't overlap.
//
// # What is checked
//
// A kernel of a table checks its counts, strides and slice lengths. Checks take constant time, or
// constant time per row in AddRows and Prefetch. If a check fails, the kernel panics before any
// memory access, with a message such as "asm: Exp: dst has 4 values, but x has 3".
//
// Indices stored in slices, such as offsets into a panel and entries of posting lists, are not
// checked, because checking them would take as long as the kernel. A wrong index may cause a read
// or write anywhere in memory. The generic functions document the allowed indices. Overlapping
// destinations aren't detected either.
//
// Documents, kernels as mathematical objects and scheduling belong to other packages. This package
// works only on slices of numbers.
//
// # Similarities of histograms
//
// χ² and Jensen-Shannon similarities are sums over common terms, like dot products. They use the
// same panels, and replace the product by another function of the two values ([Pairing]).
//
// On the Go source files, with AVX2 on one core of an AMD Zen 4, multiplying a value by a row of a
// panel takes 2 ns. The χ² terms take 9 ns (one division per register), and the Jensen-Shannon
// terms 34 ns (one division and 16 multiply-adds). The heads (the dense terms) for these
// similarities are therefore smaller: 455 and 150 terms instead of 569.
//
// The Jensen-Shannon term in the form (a+b) ln(a+b) - a ln a - b ln b would need one polynomial
// instead of two polynomials and a division. But this form suffers from cancellation: its error
// grows with the entropy, and the error of c would exceed 10⁻⁶.
//
// # Experiments with dot products
//
// The experiments computed dot products and c for one triangle of the matrix of the Go source files
// (7,711 documents), with AVX2 on one core of an AMD Zen 3. Percentages are the head's speed
// divided by the peak rate of fused multiply-adds, measured in the same run.
//
//   - Panels of R = 32 documents reach 50% with one document at a time and 52% with two. R = 48
//     reaches 53% with two, and R = 64 reaches 58% with one. R = 64 is kept.
//   - Sorting the documents of a block by length, so that consecutive loops have similar counts, is
//     as fast as documents of equal length (58%). Kept.
//   - With 16-bit offsets, and one load for four offsets or four values, a value takes 8.5 loads
//     instead of 10. Loads are the bottleneck, so the head is 8% faster and reaches 60%. Kept.
//   - Segments of at most 48 values instead of 192, summed in groups of 8, are 10% slower, but the
//     error of c stays below 10⁻⁶. Package panel now chooses segments by an error bound.
//   - Prefetching the panel's rows four values ahead makes the head 10% slower, because each
//     prefetch takes a load. Dropped.
//   - A separate buffer for tail sums has a column per panel document. Together with blocks of
//     4,096 documents instead of 512, and prefetching 12 lists ahead, this buffer makes the tail
//     45% faster. Kept. (Blocks of 8,192 are another 6% faster, but take 4 MiB per core.)
//   - Converting sums to c and finding close pairs in one pass instead of two takes 25% less time.
//     Kept.
//   - 16-bit values are too inaccurate. The error of half precision is 2⁻¹², 100 times the error
//     bound of c.
package asm
