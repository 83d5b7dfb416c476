// Package shape answers questions about slices that hold matrices: whether a length fits, and
// whether two share memory.
package shape

import "unsafe"

// IsProduct reports whether n = rows·cols, for lengths of slices. Nothing overflows.
func IsProduct(n, rows, cols int) bool {
	if rows == 0 || cols == 0 {
		return n == 0
	}
	return n%cols == 0 && n/cols == rows
}

// Overlap reports whether two slices share memory.
func Overlap[T float32 | float64](a, b []T) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	first, other := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	size := unsafe.Sizeof(a[0])
	return first < other+size*uintptr(len(b)) && other < first+size*uintptr(len(a))
}
