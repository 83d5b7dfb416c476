// Package sparse holds documents as sparse vectors and turns them into points on a sphere.
//
// What lives here: the compressed-row matrix [CSR], readers of text and vector formats ([Read]),
// the vocabulary, the embeddings tf and tfidf with their normalisations ([Embedding], [Embedder],
// [Embedded]), and SHA-256 digests that are the same on every platform. What doesn't: anything
// about pairs of documents, which is the business of package engine.
//
// Data flows one way: a source (a file, a folder, a generator) is read into a [Corpus] of raw
// counts; an [Embedder], fitted on the training documents, maps a Corpus to an [Embedded] matrix of
// unit rows, or of histograms, with the norms kept beside them; the engine reads only that.
//
// Values are immutable once they are returned, so every type here may be read by any number of
// goroutines.
package sparse
