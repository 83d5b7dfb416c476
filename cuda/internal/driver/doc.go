//go:build !(cuda && cgo && linux)

// Package driver opens the CUDA driver. It is empty in builds without the tag cuda, cgo or Linux.
package driver
