package compute

import (
	"math"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// Norms rounded to float32 are too inaccurate for kernels of vectors, because distances far from
// the origin are differences of large norms. So the variable of such a kernel, ⟨x, y⟩ or ‖x-y‖², is
// computed in float64, and the kernel is applied with norms of 1. The inner product of integer
// counts is an integer. If the error of c is small enough, rounding makes this integer exact, and
// then ‖x-y‖² = ‖x‖² + ‖y‖² - 2⟨x, y⟩ is exact, too. The error is small enough if the product of
// the norms is at most 1.9·10⁵. For small c the product may be larger.

// variableOf returns the variable that is computed in float64. It returns VariableAll for distances
// of vectors with norm 1, for inner products of fractional values, and for other kernels.
func (c *Computer) variableOf(k kernel.Kernel) kernel.Variable {
	of := kernel.VariableOf(k)
	e := c.X.Embedder.Embedding
	if of == kernel.VariableDistance && (e.Pairing != sparse.Cosine || e.Norm == sparse.NormL2 && e.Power == 0 ||
		e == sparse.SphereEmbedding) {
		return kernel.VariableAll
	}
	if of == kernel.VariableProduct && !c.hasIntegerCounts() {
		return kernel.VariableAll
	}
	return of
}

func (c *Computer) hasIntegerCounts() bool {
	c.integersOnce.Do(func() {
		c.allIntegers = true
		for i := range c.X.Rows() {
			c.allIntegers = c.allIntegers && hasIntegerRow(c.X, i, false)
		}
	})
	return c.allIntegers
}

// hasIntegerRow reports whether document i has unweighted integer counts and a norm below 2²⁵, so
// that sums of two squared norms are exact. unseen allows a fractional value in the last column of
// an open embedder, which holds √Σv² of unknown columns.
func hasIntegerRow(x *sparse.Embedded, i int, unseen bool) bool {
	f := x.Embedder
	if f.Embedding != (sparse.Embedding{}) || f.Weights != nil || f.Views != nil || !(x.Norms[i] < 1<<25) {
		return false
	}
	terms, _ := x.Row(i)
	for at, v := range x.RawValues[x.Offsets[i]:x.Offsets[i+1]] {
		last := int(terms[at]) == x.Cols-1
		if last && f.Open && !unseen && x.Norms[i] > 0 || !last && float64(v) != math.Trunc(float64(v)) {
			return false
		}
	}
	return true
}

func (c *Computer) mapVariable(k kernel.Kernel, of kernel.Variable, r *device.Request, t *device.Tile) error {
	from, whole := c.X, 0
	if r.RowDocuments != nil {
		from = r.RowDocuments
	}
	for _, i := range r.RowIndices[t.FirstRow : t.FirstRow+t.Rows] {
		if c.hasIntegerCounts() && (from == c.X || hasIntegerRow(from, i, true)) {
			whole++
		}
	}
	switch {
	case whole == 0 && of == kernel.VariableProduct:
		return c.mapPlain(k, r, t)
	case whole != 0 && whole != t.Rows: // row by row, because the result of a row must not depend on other rows
		for row := t.FirstRow; row < t.FirstRow+t.Rows; row++ {
			one := SubTile(t, row, row+1, t.Lo, t.Hi)
			if err := c.mapVariable(k, of, r, &one); err != nil {
				return err
			}
		}
		return nil
	}
	lines, length, stride := Lines(t)
	count := t.Rows
	if t.PaddingValid {
		count = stride
	}
	rows := make([]float64, count)
	for i := range t.Rows {
		rows[i] = from.Norms[r.RowIndices[t.FirstRow+i]]
	}
	x, y := c.X.Norms[t.Lo:t.Hi], rows
	if t.ColStride == 1 {
		x, y = y, x
	}
	if len(y) == stride {
		lines, length = 1, lines*stride // one call of Apply for all lines
	}
	for i, norm := range x {
		v := t.Values[i*stride:][:len(y)]
		substitute(of, v, v, norm, y, whole > 0)
	}
	for i := range lines {
		v := t.Values[i*stride:][:length]
		if err := kernel.Apply(k, c.Kernels, v, v, ones(1), ones(length)); err != nil {
			return err
		}
	}
	return nil
}

// Adding and then subtracting magic rounds a number below 2⁵¹ to an integer, half to even.
const magic = 0x1.8p52

// substitute computes the variable of a document with norm x and documents with norms y, as the c
// that [kernel.Apply] expects with norms of 1. dst and c may be the same slice.
func substitute(of kernel.Variable, dst, c []float32, x float64, y []float64, whole bool) {
	c, y = c[:len(dst)], y[:len(dst)]
	switch {
	case of == kernel.VariableProduct:
		for j, v := range c {
			dst[j] = float32(1 - innerProduct(float64(v), x*y[j]))
		}
	case whole:
		xx := float64(x * x)
		for j, v := range c {
			squares := xx + float64(y[j]*y[j])
			squares = (squares + magic) - magic
			if dot := innerProduct(float64(v), x*y[j]); dot == math.Trunc(dot) {
				dst[j] = float32(squares/2 - dot)
			} else {
				dst[j] = halfSquaredDistance(float64(v), x, y[j])
			}
		}
	default:
		for j, v := range c {
			dst[j] = halfSquaredDistance(float64(v), x, y[j])
		}
	}
}

// innerProduct returns ⟨x, y⟩ of integer counts, given c and the product of the norms. It is exact
// if the error of c is small enough.
func innerProduct(c, norms float64) float64 {
	dot := norms * (1 - c)
	if norms*min(device.MaxError, device.MaxError/device.CloseThreshold*c) < 0.49 {
		dot = (dot + magic) - magic
	}
	return dot
}

func halfSquaredDistance(c, x, y float64) float32 {
	d := x - y
	return float32(float64(d*d)/2 + float64(x*y*c))
}

func ones(n int) []float32 {
	if n <= len(sharedOnes) {
		return sharedOnes[:n]
	}
	return slices.Repeat([]float32{1}, n)
}

var sharedOnes = slices.Repeat([]float32{1}, BlockDocs*64)
