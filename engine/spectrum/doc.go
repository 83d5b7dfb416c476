// Package spectrum computes eigenvalues of symmetric matrices: all of a matrix that fits into
// memory (All), or the extremes of a matrix that is only known by its products with vectors
// (Lanczos). Centre and SubtractMeans restrict a matrix to vectors that add to 0, on which
// conditionally positive definite kernels are positive.
//
// What doesn't live here: the kernels and the matrices, which package engine makes. Matrices may be
// float32; arithmetic is float64.
package spectrum
