// Package model holds trained support vector machines with all that a prediction needs, and their
// files.
//
// A [Model] is plain data: the kernel's specification, the embedding with what it learnt from the
// training documents, the vocabulary, the classes, the support vectors as raw counts, and the
// machines. Package svm computes with it.
//
// There are two formats of files, which [IsLIBSVM] tells apart. The project's own format keeps all of a model, bit for
// bit, see docs/formats.md. [Model.WriteLIBSVM] and [ReadLIBSVM] use LIBSVM's text format, for the kernels that LIBSVM
// has: linear, polynomial, Gaussian, sigmoid and precomputed. It holds support vectors and machines, but neither
// vocabulary nor embedding nor parameters.
package model
