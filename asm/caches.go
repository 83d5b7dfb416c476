package asm

import (
	"sync/atomic"

	"github.com/klauspost/cpuid/v2"
)

// Caches holds the sizes of a core's L1 data cache and L2 cache in bytes. The sizes determine which
// terms are dense, and therefore the order of summation. If two computers use the same instruction
// set and cache sizes, their results are bit-identical.
type Caches struct {
	L1 int `json:"l1"`
	L2 int `json:"l2"`
}

// DetectCaches returns the cache sizes of this computer. If a size is unknown, it returns 32 KiB
// for L1 or 512 KiB for L2.
func DetectCaches() Caches {
	c := Caches{cpuid.CPU.Cache.L1D, cpuid.CPU.Cache.L2}
	if c.L1 <= 0 {
		c.L1 = 32 << 10
	}
	if c.L2 <= 0 {
		c.L2 = 512 << 10
	}
	return c
}

var cacheOverride atomic.Pointer[Caches]

// SetCaches sets the cache sizes for engines created after the call, for example to reproduce the
// results of another computer bit for bit. A size of 0 or less means this computer's size.
// SetCaches may be called concurrently, and applies to the whole process.
func SetCaches(c Caches) {
	own := DetectCaches()
	if c.L1 <= 0 {
		c.L1 = own.L1
	}
	if c.L2 <= 0 {
		c.L2 = own.L2
	}
	if c == own {
		cacheOverride.Store(nil) // use the current result of DetectCaches, which tests change
		return
	}
	cacheOverride.Store(&c)
}

// CurrentCaches returns the cache sizes for new engines.
func CurrentCaches() Caches {
	if c := cacheOverride.Load(); c != nil {
		return *c
	}
	return DetectCaches()
}
