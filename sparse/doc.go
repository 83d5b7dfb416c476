// Package sparse holds documents as sparse vectors and turns them into points on a sphere.
//
// What lives here: the compressed-row matrix [CSR], readers of text and vector formats ([Read]), the
// vocabulary, the embeddings (term frequencies, tf-idf, scaled columns) with their normalisations ([Embedding],
// [Embedder], [Embedded]), and SHA-256 digests that are the same on every platform. Pairs of documents are the
// business of package engine.
//
// Data flows one way. [Read] turns a source (a file, a folder, a generator) into a [Corpus] of raw
// counts. An [Embedder], fitted on the training documents, maps it to an [Embedded] matrix of unit
// rows, or of histograms, and their norms. The engine reads only that.
//
// Functions do not change values that they have returned (exception: Corpus.KernelRows); any number of
// goroutines may read them.
package sparse
