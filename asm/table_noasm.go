//go:build !amd64 || purego

package asm

// native returns no tables on platforms without assembly.
func native() []*Kernels { return nil }
