package cuda

// Options controls the use of a device. The zero value uses all defaults.
type Options struct {
	// MemoryBytes limits the device memory for documents, programs and tiles. Default: 90% of the
	// free memory when the device is opened.
	MemoryBytes int64

	// Tensor allows tensor cores for up to 1,024 of the most frequent terms. Tensor cores are used
	// if internal/timemodel predicts that this saves time. Images usually gain, text rarely, and
	// histogram similarities never. Tensor cores need 4 additional bytes of device memory per such
	// term and document. Default: off.
	Tensor bool
}
