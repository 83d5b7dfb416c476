// Package asm holds the kernels that take most of the time, on raw slices: panel dot products,
// posting lists of the tail, the step from cosines to c, transpositions, elementwise maps of c,
// maps in float64 that layers of kernels are made of, and what a solver asks of a row.
//
// A table of kernels, [Kernels], belongs to one instruction set. [For] and [Best] return one; an
// engine asks once, when it is made. Every kernel has a generic Go form, which is compiled on every
// platform and is the reference for the forms in assembly. The generator in _gen writes the
// assembly (make generate). All kernels may be called concurrently as long as destinations don't
// overlap.
//
// # What is checked
//
// A kernel of a table checks the lengths of its slices, counts and strides, in a time that doesn't
// depend on them. A mistake there is one of the program: the kernel panics before it touches
// memory, with a message such as "asm: Exp: dst has 4 values, x 3".
//
// The caller's duty, which isn't checked, is what numbers inside of slices point to: offsets into a
// panel, entries and visits of posting lists, columns, and indices. To check them would take as
// long as the kernel. A wrong one may read or write anywhere; the generic functions say what is
// asked of each. Nor is it checked that a destination overlaps nothing else.
//
// Documents, kernels as mathematical objects and scheduling live elsewhere: this package knows
// slices of numbers only.
//
// # Similarities of histograms
//
// χ² and Jensen-Shannon similarities are sums over common terms, as dot products are. They take the
// same panels, with a term in the place of a product ([Pairing]).
//
// On the Go source files, AVX2, one core of an AMD Zen 4, a value of a document against a panel
// takes 2 ns for a dot product, 9 ns for χ² (a division per register) and 34 ns for Jensen-Shannon
// (a division and 16 multiply-adds). So their heads are smaller: 455 and 150 terms instead of 569.
//
// The Jensen-Shannon term in the form (a+b) ln(a+b) - a ln a - b ln b would take one polynomial
// instead of two and no division. But it cancels: its error grows with the entropy, and c would be
// off by more than 10⁻⁶.
//
// # What was tried for the dot products
//
// Measured on the Go source files (7,711 documents), AVX2, one core of an AMD Zen 3: dot products
// and c of the symmetric half. Shares are those of the peak of fused multiply-adds, measured in the
// same run, that the head reaches.
//
//   - R = 32, one document at a time 50 %, two 52 %; R = 48, two documents 53 %; R = 64, one
//     document (as many chains as two panels of 32 in flight) 58 %: kept.
//   - Blocks of documents in the order of their counts, so that a loop runs as often as the one
//     before: no mispredicted ends are left to save (58 % with equal counts). Kept.
//   - Offsets of 16 bits, and four of them and four values per load, since loads are the bound (8.5
//     instead of 10 per value): head 8 % faster, 60 %. Kept.
//   - Segments of at most 48 values instead of 192, summed in groups of 8: a tenth slower, but c
//     stays within 10⁻⁶. Kept.
//   - Prefetching the panel's rows four values ahead: head 10 % slower, since each costs a load.
//     Left out.
//   - The tail in a buffer of its own, a column per panel document, in blocks of 4,096 documents
//     instead of 512, lists fetched 12 ahead: tail 45 % faster. Kept. (8,192 are another 6 %
//     faster, but take 4 MiB per core.)
//   - Short documents (at most 32 values in the tail) without that buffer: 1.2 to 2.3 billion
//     pairs/s for documents of 10 words. Kept.
//   - One pass from sums over c to close pairs instead of two: a quarter less time there. Kept.
//   - The most frequent terms as a dense block: counted, not built. Sharing a panel's row among
//     documents needs R = 32 to fit registers: 4 cycles per term against 4.9 per value at 88 %
//     density.
//   - Values of 16 bits: excluded by the bound on c. Half precision errs by 2⁻¹², 100 times too
//     much.
package asm
