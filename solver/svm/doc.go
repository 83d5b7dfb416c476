// Package svm trains support vector machines on sparse documents and predicts with them: it binds package engine, which computes the kernels, to
// package solver, which knows of matrices only.
//
// A [Problem] is a training corpus, embedded, with its documents in the order of their classes and a cache of tiles of c = 1 - cosine that
// everything done with it shares: training (Train), cross-validation (CrossValidate) and search (Search) compute each dot product once, whatever
// the kernel's parameters, the folds and the pairs of classes. The result is a model.Model, from which a [Predictor] is made.
package svm
