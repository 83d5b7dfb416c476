//go:build cuda && cgo && linux

package cuda

// These constants must equal the constants of kernels/shape.h. A test checks this.
const (
	panelWidth    = 128 // documents in a panel
	panelThreads  = 512
	panelBlocks   = 2 // thread blocks of panelDot per multiprocessor, as limited by registers
	tailColumns   = 4096
	tailThreads   = 256
	narrowValues  = 1024
	closeThreads  = 256
	reduceThreads = 256

	tensorRows    = 128 // rows per thread block of panelTensor
	tensorColumns = 64
	tensorThreads = 256
)

// entry is Entry in kernels/shape.h: a position and the encoding of a value (see layout.encode).
type entry struct{ position, word uint32 }
