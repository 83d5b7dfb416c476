// Package matrixio writes float32 matrices to files, row by row: NumPy's .npy, LIBSVM's precomputed
// kernel format and MatrixMarket.
//
// A [File] appears either completely or not at all: rows are written to a temporary file in the
// same folder, which [File.Commit] renames once all data are on disk. Standard output, FIFOs and
// devices are written directly. A [Writer] formats rows and buffers at most one row of text.
//
// A writer or file must be used by one goroutine only.
package matrixio
