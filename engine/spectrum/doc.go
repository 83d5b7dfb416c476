// Package spectrum computes eigenvalues of symmetric matrices: all of a matrix that fits into
// memory (All), or the extremes of one that is only known by its products with vectors (Lanczos).
// Centre and CentreOperator look at a matrix where conditionally positive definite kernels are
// positive: on vectors that add to 0. Rademacher sums bound how rich a kernel's class of functions
// is.
//
// What doesn't live here: the kernels and the matrices, which package engine makes. Matrices may be
// float32; arithmetic is float64.
package spectrum
