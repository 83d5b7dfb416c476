package asm

// transposeGeneric transposes a tile of rows×cols values:
//
//	dst[j*dstStride+i] = src[i*srcStride+j],  0 <= i < rows, 0 <= j < cols
//
// dstStride >= rows, srcStride >= cols, and dst doesn't overlap src.
func transposeGeneric(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	i := 0
	for ; i+4 <= rows; i += 4 { // four rows at a time, so that every line of dst is written once
		s0 := src[i*srcStride:][:cols]
		s1 := src[(i+1)*srcStride:][:cols]
		s2 := src[(i+2)*srcStride:][:cols]
		s3 := src[(i+3)*srcStride:][:cols]
		for j, v := range s0 {
			d := (*[4]float32)(dst[j*dstStride+i:])
			d[0], d[1], d[2], d[3] = v, s1[j], s2[j], s3[j]
		}
	}
	for ; i < rows; i++ {
		for j, v := range src[i*srcStride:][:cols] {
			dst[j*dstStride+i] = v
		}
	}
}
