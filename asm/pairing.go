package asm

// Pairing holds the kernels of a similarity of histograms that is no dot product,
//
//	s = Σ f(a[i], b[i]),   f(a, 0) = 0
//
// so that, as with a dot product, only the terms that both histograms have count. f is symmetric to the bit.
//
// Values of histograms are float32 numbers from LeastShare to 1, or 0.
type Pairing struct {
	Cost Cost

	// Panel adds the similarities of documents with those of a dense panel to out, as
	// Kernels.PanelDot adds dot products, with its preconditions; panel and value hold histograms.
	Panel func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)

	// Terms computes the terms of one value with many,
	//
	//	dst[j] = f(x, y[j]),  0 <= j < len(dst)
	//
	// with the preconditions of the maps, and 0 < x.
	Terms func(dst, y []float32, x float32)
}

// LeastShare is the least value above 0 that a histogram may have: products and quotients of such values are normal numbers. What is smaller adds less to a similarity than
// any rounding of it.
const LeastShare = 0x1p-60
