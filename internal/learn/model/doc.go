// Package model holds trained support vector machines with all that a prediction needs, and their
// files.
//
// A [Model] is plain data: the kernel's specification, the embedding with what it learnt from the
// training documents, the vocabulary, the classes, the support vectors as raw counts, and the
// machines. What computes with it is package svm, above.
//
// There are two forms of file. [IsLIBSVM] tells them apart.
//
// # The project's own form
//
// It is complete: what [Model.Write] wrote, [Read] gives back to the bit. The same model has the
// same bytes on every platform. A file begins with two lines of text, which head -n 2 shows:
//
//	gram model 1                     the name of the form and its version
//	{"type":"c_svc","kernel":…}      the header, a JSON object in one line
//
// The header's keys, those in parentheses only where there is something to say:
//
//	type, kernel                     as in Model
//	settings                         (c, nu, epsilon, probabilities, thresholds, seed,) tolerance,
//	                                 (weights: a list of {"class", "weight"} by name of the class)
//	source, corpus, documents        corpus is the digest in hexadecimal
//	laplace                          (as in Model)
//	classes                          (the names, in the order of the machines)
//	scheme, machines, coefficients   name of the scheme, number m of machines,
//	                                 number c of coefficients in all of them together
//	at_least_one                     (as in solver.Classifier; thresholds of labels are in each rho)
//	temperature                      ({"t", "odds"} of the probabilities, as in solver.Temperature)
//	rejection                        ({"below", "coverage", "error"}, as in solver.Rejection)
//	vocabulary                       ({"terms": v, "bytes": b}, where there is a vocabulary)
//	read                             (how the documents were read, a [corpus.Form])
//	tokenizer                        (what cut the texts, in the text form of [corpus.Tokenizer];
//	                                 the default if it is missing)
//	embedding, open, fitted, terms   name of the embedding, (whether it is open,) documents it was
//	                                 fitted on, its number e of terms
//	vectors, columns, values         support vectors s, columns of their matrix, their stored values z
//
// A name that isn't UTF-8 stands there as {"bytes": its bytes in base64}. After the header come
// arrays without gaps, all numbers little-endian, floating-point numbers as their IEEE 754 bits:
//
//	vocabulary       v × uint32      length of each term in bytes
//	                 b × byte        the terms, one after the other
//	embedding        e × uint32      term of each column, ascending
//	                 e × int32       its document frequency
//	                 e × float64     its weight, only with idf or scaled columns
//	                 e × float64     its shift, only with scaled columns
//	support          (s+1) × int64   offsets of the vectors
//	                 z × uint32      terms
//	                 z × float32     raw values
//	                 s × int64       number in the training corpus, -1 for unknown
//	                 s × int32       class, -1 for none
//	machines         m × 72 bytes    a record each:
//	                                   uint64   number of coefficients
//	                                   uint64   bit 0: there is a machine, bit 1: converged, bit 2: there is a sigmoid
//	                                   float64  rho, objective, gap
//	                                   uint64   iterations, coefficients at their bound
//	                                   float64  A and B of the sigmoid
//	coefficients     c × uint32      support vector, ascending within a machine
//	                 c × float64     coefficient
//
// and at the end 32 bytes, the SHA-256 of all bytes before them. Nothing follows. Where there is no
// machine, or no sigmoid, the rest of the record is 0. A later version of the form has another
// number in the first line, and programs that don't know it say so.
//
// # LIBSVM's form
//
// [Model.WriteLIBSVM] and [ReadLIBSVM] speak LIBSVM's text format, for the kernels that LIBSVM
// knows: linear, polynomial, Gaussian, sigmoid and precomputed. It holds support vectors and
// machines, and neither vocabulary nor embedding nor settings. A model of another embedding than tf is not written.
package model
