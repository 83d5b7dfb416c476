package asm

// panelDotGeneric adds, for each of the documents j, 0 <= j < len(start)-1, the dot products with the R = 32 documents of a dense panel to
// out:
//
//	s[r] = Σ_k value[k] * panel[offset[k]+r], start[j] <= k < start[j+1], summed in the order of k
//	out[j*R+r] += s[r],  0 <= r < R
//
// out has R values a document. offset[k] is a multiple of R and offset[k]+R <= len(panel).
//
// Every sum starts from zero and is added to out at the end, so a call is a block of a blocked summation. Terms that the panel's document doesn't have
// add an exact zero; where k ascends with the term, the result for two documents depends only on their common terms and is the same bits whichever of
// them is in the panel.
//
// Accuracy: each of the n terms with a common value carries the rounding of a product and of a sum (one rounding where the
// instruction set fuses them): |error| <= 2n·2⁻²⁴·Σ|value·panel| at worst, and in the root mean square about 2⁻²⁴·√(n/3)·s.
func panelDotGeneric(out, panel []float32, start []int64, offset []uint16, value []float32) {
	for j := range len(start) - 1 {
		lo, hi := start[j], start[j+1]
		if lo == hi {
			continue
		}
		offset := offset[lo:hi]
		value := value[lo:hi]
		row := out[j*32 : j*32+32]
		// Eight sums at a time stay in registers.
		for r := 0; r < 32; r += 8 {
			var s0, s1, s2, s3, s4, s5, s6, s7 float32
			from := panel[r:]
			for k, o := range offset {
				v := value[k]
				p := (*[8]float32)(from[o:])
				s0 += float32(v * p[0])
				s1 += float32(v * p[1])
				s2 += float32(v * p[2])
				s3 += float32(v * p[3])
				s4 += float32(v * p[4])
				s5 += float32(v * p[5])
				s6 += float32(v * p[6])
				s7 += float32(v * p[7])
			}
			o := (*[8]float32)(row[r:])
			o[0] += s0
			o[1] += s1
			o[2] += s2
			o[3] += s3
			o[4] += s4
			o[5] += s5
			o[6] += s6
			o[7] += s7
		}
	}
}

