package tiles

import "syscall"

const madvHugepage = 14

// adviseHuge requests huge pages for aligned memory. It has no effect if the operating system
// doesn't support huge pages.
func adviseHuge(memory []byte) { _ = syscall.Madvise(memory, madvHugepage) }
