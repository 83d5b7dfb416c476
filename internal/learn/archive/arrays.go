package archive

import (
	"fmt"
	"math"
	"unsafe"
)

type section struct {
	name  string
	size  int64
	write func(*Writer)
	read  func([]byte) error
}

// Section describes an array of n elements, each of the given size in bytes. write writes the
// array, and take receives the bytes of the array when reading. Sections are written and read in
// the order of the calls. Errors for a truncated file contain name.
func (f *File) Section(name string, each, n int64, write func(*Writer), take func([]byte) error) {
	if f.err == nil && (n < 0 || n > MaxBytes/each || n*each > MaxBytes-f.arrayBytes) {
		f.fail("%s: %d elements of %d bytes exceed the limit of %d bytes in total", name, n, each, int64(MaxBytes))
	}
	if f.err == nil {
		f.arrayBytes += each * n
		f.sections = append(f.sections, section{name, each * n, write, take})
	}
}

// product returns the product of the dimensions, or -1 if a dimension is negative or the product
// overflows int64.
func product(shape []int) int64 {
	n := int64(1)
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt64/int64(d) {
			return -1
		}
		n *= int64(d)
	}
	return n
}

// Array writes *values as an array of the given shape, or reads *values. When writing, the length
// of *values must match the shape.
func Array[T Number](f *File, name string, values *[]T, shape ...int) {
	n, v := product(shape), *values
	if f.writing && int64(len(v)) != n {
		f.fail("%s: %d values do not match the shape %d", name, len(v), shape)
	}
	f.Section(name, int64(unsafe.Sizeof(*new(T))), n, func(w *Writer) { WriteNumbers(w, v) }, func(b []byte) error {
		*values = DecodeNumbers[T](b)
		return nil
	})
}

// Table describes n consecutive arrays of the same length. row(i) returns a pointer to array i.
// When reading, row is called after the preceding sections have been read.
func Table[T Number](f *File, name string, n, length int, row func(i int) *[]T) {
	f.Section(name, int64(unsafe.Sizeof(*new(T))), product([]int{n, length}), func(w *Writer) {
		for i := range n {
			WriteNumbers(w, *row(i))
		}
	}, func(b []byte) error {
		all := DecodeNumbers[T](b)
		for i := range n {
			*row(i) = all[i*length : (i+1)*length : (i+1)*length]
		}
		return nil
	})
}

// Offsets describes the offsets of n rows in arrays whose length is total: the values of row i
// start at offsets[i] and end before offsets[i+1]. The file stores the row lengths as int64. When
// writing, nil offsets mean that all rows are empty.
func (f *File) Offsets(name string, offsets *[]int64, n int, total int64) {
	from := *offsets
	f.Section(name, 8, int64(n), func(w *Writer) {
		lengths := make([]int64, n)
		for i := range max(len(from)-1, 0) {
			lengths[i] = from[i+1] - from[i]
		}
		WriteNumbers(w, lengths)
	}, func(b []byte) error {
		out, end := []int64{0}, int64(0)
		for i, n := range DecodeNumbers[int64](b) {
			if n < 0 || n > total-end {
				return fmt.Errorf("row %d has %d values, but only %d of %d remain", i, n, total-end, total)
			}
			end += n
			out = append(out, end)
		}
		if end != total {
			return fmt.Errorf("%d of %d values do not belong to a row", total-end, total)
		}
		*offsets = out
		return nil
	})
}
