// Package mkm has multilayer kernel machines: layers of feature selection and kernel principal
// components, and a classifier on the features of the last one.
//
// Each layer takes the features x of the one below, for the first the documents, and
//
//  1. selects the w that say most of the class, by mutual information (package selection),
//  2. finds the leading principal components of a kernel on these (package pca): features
//     z_i(t) = s (Σ_j k(t, xⱼ) a_ij - b_i) for the next layer, with s such that their mean square
//     ‖z‖² is 1 on the documents x that the components were found on.
//
// The features of the last layer are selected once more, and classified by a metric that is learnt
// (package lmnn), by nearest neighbours (package width) or by support vector machines (package svm).
//
// Widths are chosen from the documents up: a part of the documents is left out, and the width and
// number of neighbours that classify it best, among 10, 20, … up to 300 features (or all Components) and 1 to 15
// neighbours, hold for that layer. Then all is fitted again, to all documents, with these widths.
//
// layer.go fits and applies a layer, train.go has the two passes, final.go the classifiers, file.go the
// model's file.
//
// The scale s keeps values in the range of float32 where degrees and layers multiply; arc-cosine
// kernels, neighbours and metrics don't depend on it. For Gaussian kernels it makes widths of
// about 1 sensible.
//
// Source: Cho, Kernel methods for deep learning, UCSD thesis 2012, §5.2.3.
package mkm
