package asm

// panelDotGeneric adds the dot products of the documents of a block with the R = genericPanel documents of a dense panel to out, taking the
// block's documents in the order of their places p, 0 <= p < len(doc):
//
//	s[r] = Σ_k value[k] * panel[offset[k]+r],  start[p] <= k < start[p+1], summed in the order of k
//	out[doc[p]*R+r] += s[r],  0 <= r < R
//
// len(start) = len(doc)+1; out has at least R values for each of the documents; offset and value
// reach to start[len(doc)]. It is the caller's duty, which isn't checked, that start ascends, that
// (doc[p]+1)*R <= len(out) and that offset[k]+R <= len(panel).
//
// Every sum starts from zero and is added to out at the end, so a call is a block of a blocked summation. Terms that the panel's document doesn't have
// add an exact zero; where k ascends with the term, the result for two documents depends only on their common terms and is the same bits whichever of
// them is in the panel.
//
// Accuracy: each of the n terms with a common value carries the rounding of a product and of a sum (one rounding where the
// instruction set fuses them): |error| <= 2n·2⁻²⁴·Σ|value·panel| at worst, and in the root mean square about 2⁻²⁴·√(n/3)·s.
func panelDotGeneric(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32) {
	for p, d := range doc {
		lo, hi := start[p], start[p+1]
		if lo == hi {
			continue
		}
		row := (*[genericPanel]float32)(out[int(d)*genericPanel:])
		addDots7((*[7]float32)(row[0:]), panel, offset[lo:hi], value[lo:hi])
		addDots7((*[7]float32)(row[7:]), panel[7:], offset[lo:hi], value[lo:hi])
		addDots7((*[7]float32)(row[14:]), panel[14:], offset[lo:hi], value[lo:hi])
		addDots7((*[7]float32)(row[21:]), panel[21:], offset[lo:hi], value[lo:hi])
	}
}

// genericPanel is R of the portable kernels, four times as many sums as the compiler keeps in registers.
const genericPanel = 28

// addDots7 adds one document's dot products with seven columns of a panel to out. It stands alone because the compiler keeps seven sums and
// the seven products that are added to them in registers only where little else is alive.
func addDots7(out *[7]float32, panel []float32, offset []uint16, value []float32) {
	var s0, s1, s2, s3, s4, s5, s6 float32
	value = value[:len(offset)]
	for k, o := range offset {
		v := value[k]
		p := (*[7]float32)(panel[o:])
		s0 += float32(v * p[0])
		s1 += float32(v * p[1])
		s2 += float32(v * p[2])
		s3 += float32(v * p[3])
		s4 += float32(v * p[4])
		s5 += float32(v * p[5])
		s6 += float32(v * p[6])
	}
	out[0] += s0
	out[1] += s1
	out[2] += s2
	out[3] += s3
	out[4] += s4
	out[5] += s5
	out[6] += s6
}
