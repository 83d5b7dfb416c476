package asm

import (
	"sync/atomic"

	"github.com/klauspost/cpuid/v2"
)

// Caches are the sizes in bytes of one core's first-level data cache and second-level cache. Which
// terms are dense, and so the order of sums, goes by them: machines of one instruction set have the
// same bits where they use the same sizes.
type Caches struct {
	L1 int `json:"l1"`
	L2 int `json:"l2"`
}

// MachineCaches returns the sizes of this machine, 32 and 512 KiB where they aren't known.
func MachineCaches() Caches {
	c := Caches{cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2}
	if c.L1 <= 0 {
		c.L1 = 32 << 10
	}
	if c.L2 <= 0 {
		c.L2 = 512 << 10
	}
	return c
}

var used atomic.Pointer[Caches]

// UseCaches has engines that are made from now on go by other sizes than this machine's, as those of
// the machine whose bits are wanted; a size of 0 or below is this machine's. It may be called at any
// time, and stays for the process.
func UseCaches(c Caches) {
	own := MachineCaches()
	if c.L1 <= 0 {
		c.L1 = own.L1
	}
	if c.L2 <= 0 {
		c.L2 = own.L2
	}
	if c == own {
		used.Store(nil) // tests change the machine's
		return
	}
	used.Store(&c)
}

// UsedCaches returns the sizes that engines go by.
func UsedCaches() Caches {
	if c := used.Load(); c != nil {
		return *c
	}
	return MachineCaches()
}
