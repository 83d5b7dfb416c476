package job

import (
	"encoding/binary"
	"math"
	"unsafe"
)

// littleEndian says whether this machine has float32 in memory as results have them.
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

// FloatsOf turns the bytes of a result into the values in whose memory they are: b must be v's, as
// [Job.Result] makes it of FloatBytes(v).
func FloatsOf(v []float32, b []byte) {
	if littleEndian && len(b) > 0 && &b[0] == (*byte)(unsafe.Pointer(&v[0])) {
		return
	}
	for i := range min(len(v), len(b)/4) {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}
