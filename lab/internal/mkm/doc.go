// Package mkm implements multilayer kernel machines: layers of feature selection and kernel
// principal component analysis, with a classifier on the features of the last layer.
//
// The input x of each layer is the output of the previous layer or, in the first layer, the
// documents. Each layer
//
//  1. selects the w features with the most mutual information with the class (package selection),
//  2. computes leading kernel principal components of the selected features (package pca). The
//     layer's output is z_i(t) = s (Σ_j k(t, xⱼ) a_ij - b_i). The components are computed from the
//     documents xⱼ. The factor s scales the mean of ‖z‖² on these documents to 1.
//
// Features of the last layer are also selected. The classifier uses a learnt metric (package lmnn),
// nearest neighbours (package width) or support vector machines (package svm).
//
// Widths are selected on held-out documents, layer by layer. The candidates are 10, 20, … features,
// up to 300 or, if larger, the number of components, each tested with 1 to 15 nearest neighbours.
// The candidate with the fewest errors is selected. Afterwards, all layers and the classifier are
// fitted to all documents.
//
// The scale s keeps values within the range of float32, and makes a gamma of about 1 suitable for
// Gaussian kernels. Predictions with arc-cosine kernels, neighbours and metrics don't depend on s.
//
// Source: Cho, Kernel methods for deep learning, UCSD thesis 2012, §5.2.3.
package mkm
