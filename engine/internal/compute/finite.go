package compute

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
)

// FirstNonFinite returns the index of the first value that is NaN or infinite, or -1.
func FirstNonFinite(v []float32) int {
	if allFinite(v) {
		return -1
	}
	return slices.IndexFunc(v, func(v float32) bool { return v-v != 0 })
}

// allFinite checks two values at a time, which takes 0.2 ns per value. Adding 1 to an exponent of
// all ones carries into the sign bit.
func allFinite(v []float32) bool {
	const exponent, one, sign = 0x7f800000_7f800000, 0x00800000_00800000, 0x80000000_80000000
	var a, b uint64
	var groups [][8]uint64
	if len(v) >= 16 { // fewer values may not fill a group
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

func (c *Computer) checkFinite(k fmt.Stringer, r *device.Request, t *device.Tile) error {
	lines, length, stride := Lines(t)
	together := length
	if length == stride {
		lines, together = 1, lines*length
	}
	for line := range lines {
		values := t.Values[line*stride:][:together]
		i := FirstNonFinite(values)
		if i < 0 {
			continue
		}
		row, column := line+i/length, i%length
		if t.ColStride != 1 {
			row, column = column, row
		}
		from := cmp.Or(r.RowDocuments, c.X)
		return &kernel.PairError{Kernel: k.String(), Row: from.SourceRow(r.RowIndices[t.FirstRow+row]),
			Column: c.X.SourceRow(t.Lo + column), IsCross: r.RowDocuments != nil, Value: values[i]}
	}
	return nil
}
