//go:build !(cuda && cgo && linux)

// Package driver opens the CUDA driver. It is empty unless the build is for Linux, with cgo and the
// tag cuda.
package driver
