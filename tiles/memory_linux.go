package tiles

import "syscall"

const madvHugepage = 14

// adviseHuge requests huge pages for aligned memory. It has no effect on kernels without them.
func adviseHuge(memory []byte) { _ = syscall.Madvise(memory, madvHugepage) }
