// Package svm trains support vector machines on sparse documents and predicts with them. It binds
// package engine, which computes the kernels, to package solver, which knows matrices only.
//
// A [Problem] is a training corpus, embedded, with its documents in the order of their classes and
// a cache of tiles of c = 1 - cosine. Training ([Problem.Train]) and cross-validation ([Evaluator])
// share the tiles: each dot product is computed once, whatever the kernel's parameters, the folds
// and the pairs of classes. The result is a model.Model, from which a [Predictor] is made.
//
// # Devices
//
// With Options.Device another back end than the processor computes kernel values, such as a GPU
// (package cuda). The caller must close a problem or a predictor with a device: Problem.Engine().Close,
// Predictor.Close.
package svm
