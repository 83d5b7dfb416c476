// Package engine computes Gram matrices of kernels on sparse documents.
//
// A [kernel.Kernel] is an embedding plus an elementwise map of c = 1 - cosine and the two norms. The unit of
// computation is a tile of c: a panel of documents against a range of others, computed by the inner loops of
// package asm from head/tail panels; a kernel is a map that is applied when a tile is read. [Reference]
// computes the same in float64 by a slow and simple algorithm; [Engine] computes it in float32, fast.
//
// Kernels, their algebra and their specifications are in package kernel.
//
// # Pairings
//
// The cosine is one of several similarities of two documents that are inner products of unit
// vectors in some Hilbert space. The others compare histograms term by term, by χ² and by Jensen
// and Shannon, and are part of the embedding (sparse.Pairing): tf-l1-chi2, tf-l1-js. With such an
// embedding c is 1 - similarity, half a squared distance as ever, and all that is said here of c
// holds of it, its accuracy included. What differs is what is summed over the common terms, in
// package asm. chi2 and js are kernels of these distances; every other kernel may be taken of them,
// too, such as linear:embed=tf-l1-js, the similarity itself.
//
// # Accuracy
//
// The error of c is at most 2.7e-6 and at most 2.7e-5 of c ([device.SlackC]); of documents that are the
// same up to a factor it is 0, or about 10⁻³² where the embedding rounds their rows differently. The map adds its
// own error, which Kernel.Error bounds, and magnifies the error in c and in the norms, each rounded to float32.
// [kernel.Tolerance] adds these up, and [kernel.Within] tests a value. Of the diffusion kernel's parametrix, whose
// values may all be beyond float32, Properties says so beforehand.
//
// # Back ends
//
// What computes c is a device.Backend: the processor, in package panel, unless Options.Device makes
// another. An engine maps c by a kernel and stores it in one way for all of them.
//
// Package corpus reads documents, package sparse embeds them, and package tiles keeps tiles. Package gram trains models
// on engines.
package engine
