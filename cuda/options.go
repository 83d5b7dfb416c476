package cuda

// Options controls the use of a device. The zero value works.
type Options struct {
	// MemoryBytes bounds the device memory in use: documents, programs and tiles. Default: 90 % of
	// the free memory when the device is opened.
	MemoryBytes int64

	// Tensor computes the products of the most frequent terms, up to 1,024, on tensor cores if the
	// model of internal/timemodel predicts a gain. Images gain, text hardly ever, and histogram
	// similarities never. It takes 4 bytes of device memory for each such term and document.
	// Default: off.
	Tensor bool
}
