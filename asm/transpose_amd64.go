//go:build !purego

package asm

// transposeAVX2 is transposeGeneric for AVX2: blocks of 8×8 in registers, the edges one by one.
func transposeAVX2(dst []float32, dstStride int, src []float32, srcStride, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	r, c := rows&^7, cols&^7
	transpose8AVX2(dst, dstStride, src, srcStride, r, c)
	if c < cols {
		transposeGeneric(dst[c*dstStride:], dstStride, src[c:], srcStride, r, cols-c)
	}
	if r < rows {
		transposeGeneric(dst[r:], dstStride, src[r*srcStride:], srcStride, rows-r, cols)
	}
}

// tailStoreAVX2 is tailStoreGeneric for AVX2, likewise.
func tailStoreAVX2(dst []float32, dstStride int, tail []float64, stride, rows, cols int) {
	if rows == 0 || cols == 0 {
		return
	}
	r, c := rows&^7, cols&^7
	tailStore8AVX2(dst, dstStride, tail, stride, r, c)
	if c < cols {
		tailStoreGeneric(dst[c*dstStride:], dstStride, tail[c:], stride, r, cols-c)
	}
	if r < rows {
		tailStoreGeneric(dst[r:], dstStride, tail[r*stride:], stride, rows-r, cols)
	}
}
