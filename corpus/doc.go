// Package corpus reads documents: files in text and vector formats, folders, texts in memory and synthetic corpora.
//
// [Read] turns a source into a [Corpus]: a matrix of raw counts (package sparse), the classes of its rows, and the
// vocabulary. Package token cuts text into terms. [Fit] learns an embedding from a corpus.
//
// Functions do not change values that they have returned (exception: [Corpus.KernelRows]); any number of goroutines may
// read them.
package corpus
