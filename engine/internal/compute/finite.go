package compute

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/gramengine/gram/engine/device"
)

// ErrNotFinite is part of the errors of Finite.
var ErrNotFinite = errors.New("expected a finite number")

// Finite returns an error where a value of a kernel is an infinity, which is one beyond the range of
// float32, or no number. All values that engines hand out pass here. at returns the documents of
// v[i], counted from 0; it is nil where nobody knows them.
func Finite(k fmt.Stringer, v []float32, at func(i int) (row, column int)) error {
	if allFinite(v) {
		return nil
	}
	i := slices.IndexFunc(v, func(v float32) bool { return v-v != 0 })
	of := "a value"
	if at != nil {
		row, column := at(i)
		of = fmt.Sprintf("the value of documents %d and %d", row+1, column+1)
	}
	return fmt.Errorf("engine: kernel %s: %s is %v, %w", k, of, v[i], ErrNotFinite)
}

// allFinite looks at two values at a time, for some 0.2 ns each where a pair takes 5 to 15: an
// exponent of ones carries into the place of the sign.
func allFinite(v []float32) bool {
	const exponent, one, sign = 0x7f800000_7f800000, 0x00800000_00800000, 0x80000000_80000000
	var a, b uint64
	var groups [][8]uint64
	if len(v) >= 16 { // fewer may end before a group does
		groups = unsafe.Slice((*[8]uint64)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/16)
	}
	for i := range groups {
		p := &groups[i]
		a |= (p[0]&exponent + one) | (p[1]&exponent + one) | (p[2]&exponent + one) | (p[3]&exponent + one)
		b |= (p[4]&exponent + one) | (p[5]&exponent + one) | (p[6]&exponent + one) | (p[7]&exponent + one)
	}
	for _, v := range v[len(v)/16*16:] {
		a |= uint64(math.Float32bits(v))&exponent + one
	}
	return (a|b)&sign == 0
}

// finiteTile is Finite for the values of a tile.
func finiteTile(k fmt.Stringer, r *device.Request, t *device.Tile) error {
	lines, length, stride := Lines(t)
	if length == stride {
		lines, length = 1, lines*length
	}
	for line := range lines {
		err := Finite(k, t.Value[line*stride:][:length], func(i int) (int, int) {
			i += line * stride
			row, column := i/stride, i%stride
			if t.ColStride != 1 {
				row, column = column, row
			}
			return r.Docs[t.First+row], t.Lo + column
		})
		if err != nil {
			return err
		}
	}
	return nil
}
