//go:build !amd64 || purego

package asm

func nativeTables() []*Kernels { return nil }
