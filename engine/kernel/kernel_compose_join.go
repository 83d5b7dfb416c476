package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// joint is room for putting vectors together from parts, see asm.Kernels.Join: for a block what rows need of the columns, and for a row its own. Vectors without length have no
// direction; for them c2 is made of the c that is given.
type joint struct {
	q     [mostSummands][chunk]float64
	cols  [mostSummands][]float64 // q, as long as the block
	p     [mostSummands]float64
	given [mostSummands][]float32 // the parts' c
	long  [chunk]float64          // the columns' lengths
	empty []int                   // columns without length
	kept  [chunk]float32          // their c
}

// begin makes room for so many columns of so many parts. The caller fills cols with the parts' norms, and then calls directions.
func (m *joint) begin(parts, n int) {
	for i := range parts {
		m.cols[i] = m.q[i][:n]
	}
}

// directions scales the columns' vectors to length 1.
func (m *joint) directions(parts int) {
	m.empty = m.empty[:0]
	for j := range m.cols[0] {
		var sum float64
		for _, q := range m.cols[:parts] {
			sum += float64(q[j] * q[j])
		}
		length := math.Sqrt(sum)
		if m.long[j] = length; sum == 0 {
			m.empty = append(m.empty, j)
			continue
		}
		for _, q := range m.cols[:parts] {
			q[j] /= length
		}
	}
}

// direction scales the row's vector to length 1, where it has any, and returns what it had.
func (m *joint) direction(parts int) float64 {
	var sum float64
	for _, a := range m.p[:parts] {
		sum += float64(a * a)
	}
	if sum == 0 {
		return 0
	}
	length := math.Sqrt(sum)
	for i := range m.p[:parts] {
		m.p[i] /= length
	}
	return length
}

// row computes dst[j] = 1 - (1-v)^degree with 1 - cosine v of the row's vector and the columns', of which the first parts have a c that is given; c is that of vectors without
// length. dst may be c. It returns the length of the row's vector.
func (m *joint) row(k *asm.Kernels, dst, c []float32, parts, given, degree int) float64 {
	length := m.direction(parts)
	if length == 0 {
		for j, v := range c[:len(dst)] {
			dst[j] = float32(powerDeficit(float64(v), degree))
		}
		return 0
	}
	for i, j := range m.empty {
		m.kept[i] = c[j]
	}
	k.Join(dst, m.given[:given], m.cols[:parts], m.p[:parts], degree)
	for i, j := range m.empty {
		dst[j] = float32(powerDeficit(float64(m.kept[i]), degree))
	}
	return length
}

// jointError bounds what float64 adds to v: see asm.Kernels.Join, where the parts' norms are good to 2⁻⁴⁵, as powers of up to 64 are; gap is Σ (pᵢ-qᵢ)².
func jointError(v, gap float64) float64 { return 0x1p-44*math.Sqrt(gap) + 0x1p-46*v }
