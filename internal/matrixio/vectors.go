package matrixio

import "strconv"

// AppendVector appends a line with a document in svmlight/LIBSVM format to b:
//
//	label index₀:value₀ index₁:value₁ ...
//
// Column j has index j+1. columns and values must have the same length, columns must ascend, and
// values must be finite. Zeros are omitted. bits is 32 or 64: a value has the smallest number of
// digits that identifies the float32 or float64.
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
