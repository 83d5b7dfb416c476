// Package corpus reads documents: files in text and vector formats, folders, texts in memory, and
// synthetic corpora.
//
// [Read] turns a source into a [Corpus]: a matrix of counts (package sparse), the classes of its
// rows, and the vocabulary. Package token divides text into terms. [Fit] fits an embedding.
//
// Functions don't change values that they have returned. These values may be read concurrently.
package corpus
