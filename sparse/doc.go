// Package sparse holds documents as sparse vectors and embeds them as unit vectors.
//
// It contains the compressed-row matrix [CSR], the classes of its rows ([Labels]), embeddings such
// as tf-idf and scaled columns with their normalisations ([Embedding], [Embedder], [Embedded]), and
// SHA-256 digests that are the same on every platform. Package corpus reads documents, and package
// engine compares pairs of documents.
//
// An [Embedder] is fitted to training documents. It maps a matrix of raw counts to an [Embedded]
// matrix of unit rows or histograms, with their norms. The engine reads only this matrix.
//
// Returned values may be read concurrently. Only [CSR.LimitDF] changes its matrix.
package sparse
