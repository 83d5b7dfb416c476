//go:build !amd64

package host

// multiplyCycles is unknown: it differs from core to core.
const multiplyCycles = 0

// Hypervisor returns the name that the processor gives the hypervisor, "" for none.
func Hypervisor() string { return "" }
