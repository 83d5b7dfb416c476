package cuda

// Options controls the use of a device. The zero value uses all defaults.
type Options struct {
	// MemoryBytes is the limit for device memory: documents, programs and tiles. Default: 90 % of
	// the free memory when the device is opened.
	MemoryBytes int64

	// Tensor computes the products of up to 1,024 of the most frequent terms on tensor cores, if
	// the model of internal/timemodel predicts a gain. Images usually gain, text rarely, and
	// histogram similarities never. This takes 4 bytes of device memory per such term and document.
	// Default: off.
	Tensor bool
}
