// Package model defines trained support vector machines, with all data for predictions, and their
// file formats.
//
// A [Model] is plain data: the kernel's specification, the fitted embedding, the vocabulary, the
// classes, the support vectors as raw values, and the binary classifiers. Package svm trains models
// and predicts with them.
//
// There are two file formats, which [IsLIBSVM] distinguishes. The project's own format stores the
// whole model, bit for bit, see docs/formats.md. [Model.WriteLIBSVM] and [ReadLIBSVM] use LIBSVM's
// text format, for LIBSVM's kernels: linear, polynomial, Gaussian, sigmoid and precomputed. This
// format lacks the vocabulary, the embedding and the parameters.
package model
