//go:build !amd64 || purego

package asm

// nativeTables returns no tables on platforms without assembly.
func nativeTables() []*Kernels { return nil }
