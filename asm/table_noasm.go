//go:build !amd64 || purego

package asm

// native returns the tables in assembly that this processor can run, best last: none.
func native() []*Kernels { return nil }
