package cuda

// Options says what a device may be used for. The zero value works.
type Options struct {
	// MemoryBytes bounds the memory of the device that is taken: documents, programs and tiles. Default: 90 % of what is free when the device is opened.
	MemoryBytes int64

	// TileBytes bounds one of the two tiles that are computed and copied in turn, and as much page-locked memory of the machine for each. Default: 128 MiB. A matrix
	// is as many tiles as it takes.
	TileBytes int64
}
