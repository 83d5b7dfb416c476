// Package model holds trained support vector machines with all that a prediction needs, and their files.
//
// A [Model] is plain data: the kernel's specification, the embedding with what it learnt from the training documents, the vocabulary, the classes,
// the support vectors as raw counts, and the machines. What computes with it is package svm, above.
//
// Two forms of file: the project's own, complete, versioned and checksummed (Write, Read), and LIBSVM's text format for the kernels
// that LIBSVM knows (WriteLIBSVM, ReadLIBSVM).
package model
