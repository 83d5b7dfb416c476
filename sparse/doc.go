// Package sparse holds documents as sparse vectors and turns them into points on a sphere.
//
// What lives here: the compressed-row matrix [CSR], the classes of its rows ([Labels]), the embeddings (term
// frequencies, tf-idf, scaled columns) with their normalisations ([Embedding], [Embedder], [Embedded]), and SHA-256
// digests that are the same on every platform. Package corpus reads documents. Package engine compares pairs of them.
//
// An [Embedder], fitted on the training documents, maps a matrix of raw counts to an [Embedded] matrix of unit rows, or
// of histograms, and their norms. The engine reads only that.
//
// Functions do not change values that they have returned (exception: [CSR.LimitDF]); any number of goroutines may read
// them.
package sparse
