package host

import "github.com/klauspost/cpuid/v2"

// multiplyCycles is the latency of a product of 64 bits: 3 on Intel since Nehalem and on AMD since Zen (Fog,
// Instruction tables, 2022).
const multiplyCycles = 3

// Hypervisor returns the name that the processor gives the hypervisor, "" for none.
func Hypervisor() string {
	if id := cpuid.CPU.HypervisorVendorID; id != cpuid.VendorUnknown {
		return id.String()
	}
	return cpuid.CPU.HypervisorVendorString
}
