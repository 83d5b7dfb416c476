// Package svm trains support vector machines on sparse documents and predicts with them. It
// connects package engine, which computes kernels, with package solver, which works on matrices.
//
// A [Problem] holds an embedded training corpus, sorted by class, and a cache of tiles of c = 1 -
// cosine. Training ([Problem.Train]) and cross-validation ([Evaluator]) share the tiles: each dot
// product is computed once, whatever the kernel parameters, folds and pairs of classes. The result
// is a model.Model, from which [NewPredictor] makes a [Predictor].
//
// # Devices
//
// With Options.Device, a device such as a GPU (package cuda) computes kernel values. The caller
// must close a problem or a predictor with a device: Problem.Engine().Close, Predictor.Close.
package svm
