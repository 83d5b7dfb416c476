package tiles

import "syscall"

const madvHugepage = 14

// adviseHuge asks for large pages behind memory that begins and ends where such pages do. A kernel
// without them says no.
func adviseHuge(memory []byte) { _ = syscall.Madvise(memory, madvHugepage) }
