//go:build !(cuda && cgo && linux)

// Package driver opens the CUDA driver. Without the build tag cuda, cgo and Linux it is empty.
package driver
