// Package engine computes Gram matrices of kernels on sparse documents.
//
// A [kernel.Kernel] is an embedding and an elementwise function of c = 1 - cosine and the two
// norms. The unit of computation is a tile of c: a panel of documents against a range of other
// documents, computed by the inner loops of package asm. The kernel is applied when a tile is read.
// [Engine] computes values fast in float32. [Reference] computes the same values in float64 by a
// slow and simple algorithm.
//
// Package kernel defines kernels, their combinations and their specifications.
//
// # Pairings
//
// The cosine is one of several similarities of two documents that are inner products of unit
// vectors in a Hilbert space. Others compare histograms term by term, with the χ² or the
// Jensen-Shannon divergence. The embedding selects the similarity (sparse.Pairing), for example
// tf-l1-chi2 or tf-l1-js. With such an embedding c is 1 - similarity, again half a squared
// distance, with the same accuracy. Only the inner loops in package asm differ. The kernels chi2
// and js are functions of these distances. Any other kernel can use these distances, too:
// linear:embed=tf-l1-js is the similarity itself.
//
// # Accuracy
//
// The error of c is at most 2.7e-6, and at most 2.7e-5 relative to c ([device.SlackC]). c of
// documents that are equal up to a factor is 0, or about 10⁻³² if the embedding rounds their rows
// differently. The kernel adds another error, which Kernel.Error bounds. It also magnifies the
// errors of c and of the norms, which are rounded to float32. [kernel.Tolerance] adds up these
// errors, and [kernel.Within] compares a value with its reference.
//
// # Back ends
//
// A device.Backend computes c: package panel on the CPU, unless Options.Device makes another back
// end. The engine applies the kernel to c and stores the result in the same way for all back ends.
//
// Package corpus reads documents, package sparse embeds them, and package tiles stores tiles.
// Package gram trains models on engines.
package engine
