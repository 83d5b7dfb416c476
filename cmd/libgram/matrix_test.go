//go:build cgo

package main

import (
	"math"
	"slices"
	"testing"
	"unsafe"
)

// FuzzMatrix compares the decoded matrix with a simple loop.
func FuzzMatrix(f *testing.F) {
	f.Add(int64(3), int32(64), int32(32), int32(32), []byte{0, 2, 3}, []byte{0, 2, 1}, []byte{1, 2, 3})
	f.Add(int64(3), int32(32), int32(64), int32(64), []byte{0, 2, 2}, []byte{0, 2}, []byte{1, 255})
	f.Add(int64(-1), int32(32), int32(32), int32(32), []byte{0, 200}, []byte{130}, []byte{254})
	f.Add(int64(1)<<40, int32(32), int32(16), int32(32), []byte{0, 1}, []byte{1}, []byte{1})
	special := map[byte]float64{250: math.MaxFloat64, 251: math.NaN(), 252: math.Inf(1), 253: -1e-320, 254: math.Inf(-1)}
	f.Fuzz(func(t *testing.T, columns int64, offsetBits, indexBits, valueBits int32, offsets, indices, values []byte) {
		n := min(len(indices), len(values))
		if len(offsets) == 0 || n == 0 {
			return
		}
		m := &matrix{rows: int64(len(offsets)) - 1, columns: columns, stored: int64(n), offsetBits: offsetBits,
			indexBits: indexBits, valueBits: valueBits}
		var at, of []int64
		for _, b := range offsets {
			at = append(at, int64(int8(b)))
		}
		for _, b := range indices[:n] {
			of = append(of, int64(int8(b)))
		}
		var v []float64
		for _, b := range values[:n] {
			if x, ok := special[b]; ok {
				v = append(v, x)
			} else {
				v = append(v, float64(b))
			}
		}
		m.offsets, m.indices, m.values = laid[int32](at, offsetBits), laid[int32](of, indexBits),
			laid[float32](v, valueBits)
		got, err := m.csr()
		valid := columns >= 0 && columns <= 1<<32 && at[0] == 0 && at[len(at)-1] == int64(n)
		for _, width := range []int32{offsetBits, indexBits, valueBits} {
			valid = valid && (width == 32 || width == 64)
		}
		for i := 0; valid && i < len(at)-1; i++ {
			last := int64(-1)
			for k := at[i]; valid && k < at[i+1]; k++ {
				valid = k >= 0 && k < int64(n) && of[k] > last && of[k] < columns && !math.IsInf(float64(float32(v[k])), 0) &&
					v[k] == v[k]
				if valid {
					last = of[k]
				}
			}
			valid = valid && at[i] <= at[i+1]
		}
		if valid != (err == nil) {
			t.Fatalf("%+v: %v, expected valid: %v", m, err, valid)
		}
		if !valid {
			return
		}
		if !slices.Equal(got.Offsets, at) || got.Validate() != nil {
			t.Fatalf("offsets %v, expected %v", got.Offsets, at)
		}
		for k := range n {
			if int64(got.Terms[k]) != of[k] || got.Values[k] != float32(v[k]) {
				t.Fatalf("value %d is %v in column %d, expected %v in %d", k, got.Values[k], got.Terms[k], v[k], of[k])
			}
		}
		if inPlace := valueBits == 32; inPlace != (unsafe.Pointer(&got.Values[0]) == m.values) {
			t.Error("values of 32 bits are copied, or others read in place")
		}
	})
}

// laid returns numbers in memory with the given width in bits, and rounds the list to that width.
func laid[Narrow int32 | float32, Wide int64 | float64](list []Wide, bits int32) unsafe.Pointer {
	if bits != 32 {
		return unsafe.Pointer(&list[0])
	}
	narrow := make([]Narrow, len(list))
	for i, v := range list {
		narrow[i] = Narrow(v)
		list[i] = Wide(narrow[i])
	}
	return unsafe.Pointer(&narrow[0])
}
