// Package mkm implements multilayer kernel machines: layers of feature selection and kernel
// principal components, and a classifier on the features of the last layer.
//
// Each layer takes the features x of the layer below (the first layer takes the documents), and
//
//  1. selects the w features with the most mutual information with the class (package selection),
//  2. finds the leading principal components of a kernel on these (package pca). They are features
//     z_i(t) = s (Σ_j k(t, xⱼ) a_ij - b_i) of the next layer, where s scales the mean of ‖z‖² to 1 on
//     the documents x from which the components were computed.
//
// After a final selection, a learnt metric (package lmnn), nearest neighbours (package width) or
// support vector machines (package svm) classify the features of the last layer.
//
// Widths are selected on held-out documents, layer by layer. The candidates are 10, 20, … up to 300
// features (or all Components), each with 1 to 15 neighbours. The combination with the fewest
// errors is selected. Then all layers and the classifier are fitted to all documents.
//
// The scale s keeps values within float32, and allows a gamma of about 1 in Gaussian kernels.
// Arc-cosine kernels, neighbours and metrics don't depend on s.
//
// Source: Cho, Kernel methods for deep learning, UCSD thesis 2012, §5.2.3.
package mkm
