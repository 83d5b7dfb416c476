package device

import "math"

// Row layout of a [Table]: see asm.PiecewiseOctaves and asm.PiecewiseFold.
const (
	tableOctaves = 152 + 24
	tableFold    = 25
)

// eval returns the table's value at c, by Horner's rule in float32 with fused multiply-adds.
func (t *Table) eval(c float32) float64 {
	var fold uint32
	u := c * (1 << 24)
	if c > 1 {
		u = max(2-c, 0x1p-24) * (1 << 24)
		fold = tableFold << t.Bits
	}
	b := math.Float32bits(u)
	r := &t.Rows[min(b>>(23-t.Bits)+fold, tableOctaves<<t.Bits)]
	mantissa := b&(1<<23-1) | 127<<23
	mid := mantissa&^(1<<(23-t.Bits)-1) | 1<<(22-t.Bits)
	s := float64(math.Float32frombits(mantissa) - math.Float32frombits(mid))
	v := float64(r[5])
	for k := 4; k >= 0; k-- {
		v = float64(float32(v*s + float64(r[k])))
	}
	if t.IsLog {
		return math.Exp(v)
	}
	return v
}
