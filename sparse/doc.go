// Package sparse holds documents as sparse vectors and embeds them as unit vectors.
//
// [CSR] is a sparse matrix with a row per document, and [Labels] holds the classes of the rows.
// [Embedding] describes weights, such as tf-idf or column scales, and a normalisation. Digests are
// the same on every platform. Package corpus reads documents, and package engine compares pairs of
// documents.
//
// An [Embedder] is fitted to training documents. It maps a matrix of raw counts to an [Embedded]
// matrix of unit rows or histograms, with their norms. The engine reads only this matrix.
//
// Returned values may be read concurrently. Only [CSR.Allocate] and [CSR.LimitDF] change a matrix.
package sparse
