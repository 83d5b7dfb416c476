package host

import (
	"runtime"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Hypervisor returns the name of the hypervisor from CPUID, or "" if there is none.
func Hypervisor() string {
	if id := cpuid.CPU.HypervisorVendorID; id != cpuid.VendorUnknown {
		return id.String()
	}
	return cpuid.CPU.HypervisorVendorString
}

// MHz returns the frequency of the current core. It times a chain of 64-bit multiplications, which
// take 3 cycles each on Intel since Nehalem and on AMD since Zen (Fog, Instruction tables, 2022).
// On other CPUs it returns false. It takes about 200 µs, and uses the fastest of several tries.
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

// chain multiplies 8n times, where each product depends on the previous one.
//
//go:noinline
func chain(x, by uint64, n int) uint64 {
	for range n {
		x = x * by * by * by * by * by * by * by * by
	}
	return x
}
