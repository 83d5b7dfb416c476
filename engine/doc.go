// Package engine computes Gram matrices of kernels on sparse documents.
//
// A [Kernel] is an embedding plus an elementwise map of c = 1 - cosine and the two norms. The unit of computation is a tile of c: a
// panel of documents against a range of others, computed by the kernels of package asm from head/tail panels; kernels are maps applied when a
// tile is read. [Reference] computes the same in float64, slowly and obviously right; [Engine] computes it in float32, fast.
// [HyperbolicGram] has a way of its own: it compares sets of points, as [Normals], by a distance that is no function of a cosine.
//
// What doesn't live here: reading documents (package sparse), tile geometry and caching (package tiles), learning (package solver).
package engine
