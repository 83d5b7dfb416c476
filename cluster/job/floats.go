package job

import (
	"encoding/binary"
	"math"
	"unsafe"
)

var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// FloatBytes returns the values in v as little-endian bytes. On a little-endian computer, the bytes
// share the memory of v.
func FloatBytes(v []float32) []byte {
	if len(v) == 0 {
		return nil
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&v[0])), 4*len(v))
	if littleEndian {
		return b
	}
	b = make([]byte, 4*len(v))
	for i, x := range v {
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(x))
	}
	return b
}

// Floats decodes b as little-endian float32 values. The result shares the memory of b if possible.
// Bytes after the last complete value are ignored.
func Floats(b []byte) []float32 {
	n := len(b) / 4
	if n == 0 {
		return nil
	}
	if first := unsafe.Pointer(&b[0]); littleEndian && uintptr(first)%4 == 0 {
		return unsafe.Slice((*float32)(first), n)
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}
