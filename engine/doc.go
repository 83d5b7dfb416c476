// Package engine computes Gram matrices of kernels on sparse documents.
//
// A [Kernel] is an embedding plus an elementwise map of c = 1 - cosine and the two norms. The unit
// of computation is a tile of c: a panel of documents against a range of others, computed by the
// kernels of package asm from head/tail panels; kernels are maps applied when a tile is read.
// [Reference] computes the same in float64, slowly and obviously right; [Engine] computes it in
// float32, fast. [HyperbolicGram] has a way of its own: it compares sets of points, as [Normals],
// by a distance that is no function of a cosine.
//
// Kernels, their algebra and their specifications are in package kernel; this package has their
// names, too.
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
// c errs by 1e-6 at most, and by 1e-5 relative; of documents that are the same up to a factor it is
// exactly 0. The map adds its own error, which Kernel.Error bounds, and magnifies the error in c
// and in the norms, each rounded to float32. [Tolerance] adds these up, and [Within] tests a value.
// Of the diffusion kernel's parametrix, whose values may all be beyond float32, Properties says so
// beforehand.
//
// # Back ends
//
// What computes c is a device.Backend: the processor, in package panel, unless Options.Device makes
// another. An engine maps c by a kernel and stores it in one way for all of them.
//
// What doesn't live here: reading documents (package sparse), the schedule and files of tiles
// (package tiles), learning (package solver).
package engine
