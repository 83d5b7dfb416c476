package host

import (
	"runtime"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Hypervisor returns the name that the processor gives the hypervisor, "" for none.
func Hypervisor() string {
	if id := cpuid.CPU.HypervisorVendorID; id != cpuid.VendorUnknown {
		return id.String()
	}
	return cpuid.CPU.HypervisorVendorString
}

// MHz returns the frequency of the core that it runs on, by a chain of products of 64 bits, each of which takes 3
// cycles on Intel since Nehalem and on AMD since Zen (Fog, Instruction tables, 2022), and false on other processors. It
// takes some 200 µs, and the best of several tries, which an interruption doesn't slow down.
func MHz() (mhz float64, known bool) {
	const tries, n, cycles = 5, 2000, 3
	if runtime.GOARCH != "amd64" {
		return 0, false
	}
	for range tries {
		begin := time.Now()
		runtime.KeepAlive(chain(uint64(begin.UnixNano())|1, 0x9e3779b97f4a7c15, n))
		mhz = max(mhz, float64(n*8*cycles)/float64(time.Since(begin).Nanoseconds())*1e3)
	}
	return mhz, true
}

// chain multiplies 8n times, each time waiting for the product before.
//
//go:noinline
func chain(x, by uint64, n int) uint64 {
	for range n {
		x = x * by * by * by * by * by * by * by * by
	}
	return x
}
