package matrixio

import "strconv"

// AppendVector appends a document in svmlight/LIBSVM form, the label followed by an index:value for
// each value,
//
//	label index₀:value₀ index₁:value₁ ...
//
// to b, and a line end. Column j has index j+1. columns and values are equally long, columns ascend, values are finite.
// bits is 32 or 64: a value has the fewest digits that give the same float32 or float64 back.
// Values of 0 are left out.
func AppendVector(b []byte, label string, columns []uint64, values []float64, bits int) []byte {
	b = append(b, label...)
	for k, v := range values {
		if v == 0 {
			continue
		}
		b = append(b, ' ')
		b = strconv.AppendUint(b, columns[k]+1, 10)
		b = append(b, ':')
		b = strconv.AppendFloat(b, v, 'g', -1, bits)
	}
	return append(b, '\n')
}
