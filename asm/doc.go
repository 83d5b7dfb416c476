// Package asm holds the kernels that take the time, on raw slices: panel dot products, the tail's
// posting lists, the finish that turns cosines into c, transpositions, the elementwise maps of c,
// those in float64 that layers of kernels are made of, and what a solver asks of a row.
//
// Every kernel has a generic Go form that is compiled on every platform and is the reference for
// the forms in assembly; an instruction set is a table of kernels ([Kernels]) that is chosen once,
// when an engine is made, by [For] or [Best]. The assembly is written by the generator in _gen
// (make generate). All kernels may be called concurrently as long as destinations don't overlap.
//
// # What is checked
//
// A kernel of a table checks the lengths of its slices, counts and strides when it is called, in a
// time that doesn't depend on lengths. A mistake there is one of the program: it panics before any
// memory is touched, with a message such as "asm: ArcCos: dst has 4 values, c 3". What numbers
// inside of slices point to isn't checked, since that would take as long as the kernel: offsets
// into a panel, documents and cursors of posting lists, columns, and indices are the caller's duty,
// as each generic function says, and a wrong one may read or write anywhere. Nor is it checked that
// a destination overlaps nothing else.
//
// What doesn't live here: documents, kernels as mathematical objects, scheduling. This package
// knows slices of numbers only.
//
// # Similarities of histograms
//
// χ² and Jensen-Shannon similarities are sums over common terms, as dot products are, so they take
// the same panels, with a term in the place of a product ([Pairing]). On the Go source files, AVX2,
// one core of an AMD Zen 4, a value of a document against a panel takes 9 ns (χ²: a division a
// register) and 34 ns (Jensen-Shannon: a division and 16 multiply-adds), where a dot product takes
// 2 ns: so their heads are smaller, 455 and 150 terms instead of 569. The Jensen-Shannon term in
// the form (a+b) ln(a+b) - a ln a - b ln b would take one polynomial instead of two and no
// division, but cancels: its error grows with the entropy, and c would be off by more than 10⁻⁶.
//
// # What was tried for the dot products
//
// On the Go source files (7,711 documents), AVX2, one core of an AMD Zen 3, dot products and c of
// the symmetric half; shares are those of the peak of fused multiply-adds, measured in the same
// run, that the head reaches:
//
//   - R = 32, one document at a time 50 %, two 52 %; R = 48, two documents 53 %; R = 64, one
//     document (as many chains as two panels of 32 in flight) 58 %: kept.
//   - blocks of documents in the order of their counts, so that loops run as often as the one
//     before: no mispredicted ends are left to save (58 % with equal counts): kept.
//   - offsets of 16 bits, and four of them and four values per load, since loads are the bound (8.5
//     instead of 10 a value): head 8 % faster, 60 %: kept.
//   - segments of 48 values at most instead of 192, summed in groups of 8: a tenth slower, but c
//     stays within 10⁻⁶: kept.
//   - prefetching the panel's rows four values ahead: head 10 % slower, for each costs a load: left
//     out.
//   - the tail in a buffer of its own, a column a panel document, in blocks of 4,096 documents
//     instead of 512, lists fetched 12 ahead: tail 45 % faster: kept (8,192: 6 % faster yet, but 4
//     MiB a core).
//   - short documents (at most 32 values in the tail) without that buffer: 1.2 to 2.3 billion
//     pairs/s for documents of 10 words: kept.
//   - one pass from sums over c to close pairs instead of two: a quarter less time there: kept.
//   - the most frequent terms as a dense block: counted, not built: sharing a panel's row among
//     documents needs R = 32 to fit registers, 4 cycles a term against 4.9 a value at 88 % density.
//   - values of 16 bits: excluded by the bound on c; half precision errs by 2⁻¹², 100 times too
//     much.
package asm
