// Package matrixio writes float32 matrices to files, row by row: NumPy's .npy, LIBSVM's
// precomputed kernel format and MatrixMarket.
//
// A [File] takes care that a file is there whole or not at all: rows go to a temporary name in the
// same folder, and [File.Commit] renames it once everything is on the disk. Standard output, FIFOs
// and devices take bytes as they come. A [Writer] turns rows into a format and never holds more than one row's text.
//
// Writers and files are for one goroutine each.
package matrixio
