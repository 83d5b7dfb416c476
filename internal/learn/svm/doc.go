// Package svm trains support vector machines on sparse documents and predicts with them. It
// connects package engine, which computes kernels, with package solver, which works on matrices.
//
// A [Problem] holds an embedded training corpus, sorted by class, and a cache of tiles of c = 1 -
// cosine. Training ([Problem.Train]) and cross-validation ([Evaluator]) share the tiles. If all
// tiles fit into memory, each dot product is computed once for all kernel parameters, folds and
// pairs of classes. Training returns a model.Model, from which [NewPredictor] makes a [Predictor].
//
// # Devices
//
// If Options.Device is set, a device such as a GPU (package cuda) computes kernel values. The
// caller must close a problem or a predictor with a device: Problem.Engine().Close,
// Predictor.Close.
package svm
