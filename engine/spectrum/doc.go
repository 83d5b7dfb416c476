// Package spectrum computes eigenvalues of symmetric matrices: all of them if the matrix fits in
// memory (All), or the largest and smallest of a matrix that is defined by its products with
// vectors (Lanczos). Centre and SubtractMeans restrict a matrix to vectors with sum 0, on which
// conditionally positive definite kernels are positive.
//
// Kernels and matrices are in package engine. Matrices may be float32; arithmetic is float64.
package spectrum
