package cuda

// Options says what a device may be used for. The zero value works.
type Options struct {
	// MemoryBytes bounds the memory of the device that is taken: documents, programs and tiles.
	// Default: 90 % of what is free when the device is opened.
	MemoryBytes int64

	// Tensor has the tensor cores take the products of the terms that at least a quarter of the
	// documents have, up to 1,024 of the most frequent ones, where these are enough to be worth it:
	// no dense data, or documents compared by a pairing of histograms, and it changes nothing. It
	// takes 4 bytes of the device's memory for each such term and document. Default: off, since it
	// has yet to be measured.
	Tensor bool
}
