//go:build cuda && cgo && linux

package cuda

// What kernels/shape.h has, too; a test holds both together.
const (
	panelWidth    = 128 // documents in a panel
	panelThreads  = 512
	panelBlocks   = 2 // of panelDot that a multiprocessor has registers for
	tailColumns   = 4096
	tailThreads   = 256
	narrowValues  = 1024
	closeThreads  = 256
	reduceThreads = 256

	tensorRows    = 128 // that a block of panelTensor takes
	tensorColumns = 64
	tensorThreads = 256
)

// entry is a place and a value's word, see Entry in kernels/shape.h.
type entry struct{ place, word uint32 }
