// Package svm trains support vector machines on sparse documents and predicts with them: it binds
// package engine, which computes the kernels, to package solver, which knows of matrices only.
//
// A [Problem] is a training corpus, embedded, with its documents in the order of their classes and
// a cache of tiles of c = 1 - cosine that everything done with it shares: training (Train),
// cross-validation (CrossValidate) and search (Search) compute each dot product once, whatever the
// kernel's parameters, the folds and the pairs of classes. The result is a model.Model, from which
// a [Predictor] is made.
//
// # Devices
//
// With Options.Device another back end than the processor computes kernel values, such as a GPU
// (package cuda), and Options.Place says whose memory has the solver's rows and scores meanwhile.
// On a device each kernel has rows of its own, which all machines, folds and values of C share, and
// the machine needs no room for a matrix; machines are those of the processor with the same rows,
// to the bit. PredictOptions.Device is the same for predictions. Who makes a problem or a predictor
// with a device closes it: Problem.Engine().Close, Predictor.Close.
package svm
