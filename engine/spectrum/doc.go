// Package spectrum computes eigenvalues of symmetric matrices. Eigenvalues computes all eigenvalues
// of a matrix in memory. Lanczos computes the largest and smallest eigenvalues of a matrix defined
// by its products with vectors. Centre and SubtractMeans restrict a matrix to vectors with sum 0,
// on which matrices of conditionally positive definite kernels are positive semidefinite.
//
// Kernels and matrices are in package engine. Matrices may be float32. Arithmetic is float64.
package spectrum
