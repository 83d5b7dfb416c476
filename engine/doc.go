// Package engine computes Gram matrices of kernels on sparse documents.
//
// A [kernel.Kernel] is a function of c = 1 - cosine of two embedded documents and of their norms.
// The unit of computation is a tile of c between a panel of documents and a range of other
// documents. The inner loops of package asm compute tiles. The kernel is applied when a tile is
// read. [Engine] computes values fast in float32. [Reference] computes the same values in float64
// by a slow and simple algorithm.
//
// Package kernel defines kernels, their combinations and their specifications.
//
// # Pairings
//
// The cosine, χ² and Jensen-Shannon similarities of two documents are inner products of unit
// vectors in a Hilbert space. The χ² and Jensen-Shannon similarities compare histograms term by
// term. The embedding selects the similarity (sparse.Pairing), for example tf-l1-chi2 or tf-l1-js.
// For all similarities c is 1 - similarity, which is half a squared distance, and c has the same
// accuracy. Package asm has one set of inner loops per similarity. By default the kernels chi2 and
// js use the similarities of the same name. Every kernel can use every similarity:
// linear:embed=tf-l1-js is the Jensen-Shannon similarity itself.
//
// # Accuracy
//
// The error of c is at most 2.7e-6, and at most 2.7e-5 relative to c ([device.ErrorBound]). For
// documents that are equal up to a factor, c is 0, or about 10⁻³² if the embedding rounds the rows
// differently. Kernel.Error bounds the rounding error of the kernel. The kernel also magnifies the
// errors of c and of the norms, which are rounded to float32. [kernel.Tolerance] adds up these
// errors, and [kernel.WithinTolerance] compares a value with the reference value.
//
// # Back ends
//
// A device.Backend computes c. By default package panel computes c on the CPU. Options.Device can
// select another back end. The engine applies the kernel to c and stores the result in the same way
// for all back ends.
//
// Package corpus reads documents. Package sparse embeds documents. Package tiles stores tiles.
// Package gram uses engines to train models.
package engine
