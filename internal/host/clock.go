package host

import (
	"runtime"
	"time"
)

// chain multiplies n·16 times, each time waiting for the product before.
//
//go:noinline
func chain(x, by uint64, n int) uint64 {
	for range n {
		x = x * by * by * by * by
		x = x * by * by * by * by
		x = x * by * by * by * by
		x = x * by * by * by * by
	}
	return x
}

// clock measures a frequency by a chain of instructions of so many cycles each.
func clock(cycles int) (mhz float64, known bool) {
	const tries, n = 5, 2000
	if cycles == 0 {
		return 0, false
	}
	for range tries {
		begin := time.Now()
		runtime.KeepAlive(chain(uint64(begin.UnixNano())|1, 0x9e3779b97f4a7c15, n))
		mhz = max(mhz, float64(n*16*cycles)/float64(time.Since(begin).Nanoseconds())*1e3)
	}
	return mhz, true
}
