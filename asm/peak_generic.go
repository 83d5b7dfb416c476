package asm

import (
	"unsafe"

	"github.com/gramengine/gram/asm/internal/layout"
)

// PeakSums is the unit of len(sum) in Peak, which must be a multiple of PeakSums.
const PeakSums = layout.PeakSums

// peakGeneric measures the peak rate of multiply-adds in registers, as a reference for other
// kernels:
//
//	sum[i] = sum[i]*x + y, rounds times,  0 <= i < len(sum)
//
// A call performs len(sum)·rounds multiply-adds. len(sum) is a multiple of PeakSums. If |x| < 1,
// the sums approach y/(1-x), so they neither overflow nor become subnormal. Subnormal numbers are
// slow on some processors.
//
// Accuracy: product and sum are rounded separately, or once in a fused multiply-add.
func peakGeneric(sum []float32, x, y float32, rounds int) {
	for ; len(sum) >= 12; sum = sum[12:] {
		// The compiler keeps twelve sums in registers.
		s := (*[12]float32)(sum)
		a, b, c, d, e, f := s[0], s[1], s[2], s[3], s[4], s[5]
		g, h, i, j, k, l := s[6], s[7], s[8], s[9], s[10], s[11]
		for range rounds {
			a = float32(a*x) + y
			b = float32(b*x) + y
			c = float32(c*x) + y
			d = float32(d*x) + y
			e = float32(e*x) + y
			f = float32(f*x) + y
			g = float32(g*x) + y
			h = float32(h*x) + y
			i = float32(i*x) + y
			j = float32(j*x) + y
			k = float32(k*x) + y
			l = float32(l*x) + y
		}
		*s = [12]float32{a, b, c, d, e, f, g, h, i, j, k, l}
	}
}

// readGeneric reads src once, as fast as the processor can, and returns the bitwise OR of its
// values:
//
//	bits(src[0]) | bits(src[1]) | …
//
// It measures cache and memory bandwidth.
func readGeneric(src []float32) uint32 {
	// Integers are read, because float32 numbers would be loaded into vector registers singly.
	bits := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(src))), len(src))
	var a, b, c, d uint32
	for ; len(bits) >= 8; bits = bits[8:] {
		s := (*[8]uint32)(bits)
		a |= s[0] | s[4]
		b |= s[1] | s[5]
		c |= s[2] | s[6]
		d |= s[3] | s[7]
	}
	for _, v := range bits {
		a |= v
	}
	return a | b | c | d
}
