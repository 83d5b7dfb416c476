//go:build cuda && cgo && linux

package cuda

// These constants are copied from kernels/shape.h. A test compares them.
const (
	panelWidth    = 128 // documents in a panel
	panelThreads  = 512
	panelBlocks   = 2 // blocks of panelDot per multiprocessor, limited by registers
	tailColumns   = 4096
	tailThreads   = 256
	narrowValues  = 1024
	closeThreads  = 256
	reduceThreads = 256

	tensorRows    = 128 // rows per block of panelTensor
	tensorColumns = 64
	tensorThreads = 256
)

// entry is a column and the word of a value, see Entry in kernels/shape.h.
type entry struct{ place, word uint32 }
