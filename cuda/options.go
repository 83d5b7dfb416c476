package cuda

// Options says what a device may be used for. The zero value works.
type Options struct {
	// MemoryBytes bounds the memory of the device that is taken: documents, programs and tiles.
	// Default: 90 % of what is free when the device is opened.
	MemoryBytes int64

	// Tensor has the tensor cores take the products of the most frequent terms, up to 1,024, where
	// that takes less time by the model of internal/timemodel: images gain, text hardly ever does, and
	// documents compared by a pairing of histograms never. It takes 4 bytes of the device's memory for
	// each such term and document. Default: off.
	Tensor bool
}
