// Package corpus reads documents: files in text and vector formats, folders, texts in memory, and
// synthetic corpora.
//
// [Read] returns a [Corpus]: a sparse matrix of counts or values, the classes of its rows, and the
// vocabulary. Package token divides text into terms. [Fit] fits an embedding to a corpus.
//
// Functions don't modify a value after returning it. Returned values may be read concurrently.
package corpus
