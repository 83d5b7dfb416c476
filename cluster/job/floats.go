package job

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// littleEndian reports whether this machine has float32 in memory as results have them.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// FloatBytes returns values as results have them, little-endian. Where the machine has them so, the
// bytes are those of the values themselves, and no copy is made.
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

// Floats returns the values that results have as these bytes: they are in the memory of b where the
// machine has them so, else copied. Bytes after the last whole value are left out.
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
