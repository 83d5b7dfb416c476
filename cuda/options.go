package cuda

// Options says what a device may be used for. The zero value works.
type Options struct {
	// MemoryBytes bounds the memory of the device that is taken: documents, programs and tiles.
	// Default: 90 % of what is free when the device is opened.
	MemoryBytes int64

	// TileBytes bounds one of the two tiles that are computed and copied in turn, and as much
	// page-locked memory of the machine for each. Default: 128 MiB. A matrix is as many tiles as it
	// takes.
	TileBytes int64

	// Tensor has the tensor cores take the products of the terms that at least a quarter of the
	// documents have, up to 1,024 of the most frequent ones, where these are enough to be worth it:
	// no dense data, or documents compared by a pairing of histograms, and it changes nothing. It
	// takes 4 bytes of the device's memory for each such term and document. Default: off, since it
	// has yet to be measured.
	Tensor bool

	// Module is a file with the kernels, a cubin for the device's compute capability or PTX, in
	// place of the PTX that is built in: a machine may lack the driver's compiler. Default: what
	// the environment variable GRAM_CUDA_MODULE names, or else the PTX that is built in.
	Module string

	// Times has each launch of a kernel timed on the device, see [Device.KernelTimes]. Default: on
	// where the environment has GRAM_CUDA_TIMES=1.
	Times bool
}
