//go:build !(cuda && cgo && linux)

// Package driver opens the CUDA driver; it is empty without the build tag cuda, cgo and Linux.
package driver
