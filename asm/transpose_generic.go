package asm

// transposeGeneric turns a tile of len(src)/R documents by R = 32 panel columns around:
//
//	dst[r*stride+j] = src[j*R+r],  0 <= j < len(src)/R, 0 <= r < R
//
// dst has at least (R-1)*stride + len(src)/R values and doesn't overlap src.
func transposeGeneric(dst []float32, stride int, src []float32) {
	n := len(src) / 32
	j := 0
	for ; j+8 <= n; j += 8 {
		for r := range 32 {
			d := (*[8]float32)(dst[r*stride+j:])
			s := src[j*32+r:]
			d[0], d[1], d[2], d[3] = s[0], s[32], s[64], s[96]
			d[4], d[5], d[6], d[7] = s[128], s[160], s[192], s[224]
		}
	}
	for ; j < n; j++ {
		for r := range 32 {
			dst[r*stride+j] = src[j*32+r]
		}
	}
}
