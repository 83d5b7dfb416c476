// Package mkm implements multilayer kernel machines: layers of feature selection and kernel
// principal components, and a classifier on the features of the last layer.
//
// Each layer takes the features x of the layer below, the first layer the documents, and
//
//  1. selects the w features with the most mutual information with the class (package selection),
//  2. finds the leading principal components of a kernel on these (package pca): features
//     z_i(t) = s (Σ_j k(t, xⱼ) a_ij - b_i) for the next layer, where s scales the mean of ‖z‖² to 1 on
//     the documents x on which the components were found.
//
// The features of the last layer are selected once more, and classified by a learnt metric (package
// lmnn), by nearest neighbours (package width) or by support vector machines (package svm).
//
// Widths are chosen from the documents up. A part of the documents is held out; the width among 10,
// 20, … up to 300 features (or all Components), and the number of neighbours from 1 to 15, that
// classify it best are those of the layer. Then everything is fitted to all documents with these
// widths.
//
// The scale s keeps values within float32, because degrees and layers multiply them. Arc-cosine
// kernels, neighbours and metrics don't depend on it. Gaussian kernels can have a gamma of about 1.
//
// Source: Cho, Kernel methods for deep learning, UCSD thesis 2012, §5.2.3.
package mkm
