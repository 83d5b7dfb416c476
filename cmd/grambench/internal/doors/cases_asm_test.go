package doors

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/asm"
)

func asmCases() map[string]testCase {
	return map[string]testCase{
		"asm.For": {run: func(p *program) {
			for _, isa := range asm.Available() {
				p.good(string(isa), func() error {
					k, err := asm.For(isa)
					if err == nil && k.ISA != isa {
						p.fails("%s instead of %s", k.ISA, isa)
					}
					return err
				})
			}
			for _, isa := range []asm.ISA{"", "AVX2", "nonsense"} {
				p.bad(fmt.Sprintf("%q", isa), func() error { _, err := asm.For(isa); return err })
			}
		}},
		"asm.HalfAngle": {run: func(p *program) {
			var row, other [asm.HalfAngleNumbers]float64
			for i := range row {
				row[i], other[i] = p.strange(), p.strange()
			}
			c := p.strange()
			p.quiet(fmt.Sprint(c, row, other), func() { asm.HalfAngle(c, &row, &other) })
		}},
		"asm.HalfLineRow": {run: func(p *program) {
			v := p.strange()
			p.quiet(fmt.Sprint(v), func() {
				if row, _ := asm.HalfLineRow(v); row < 0 || row > asm.HalfLineRows {
					p.fails("row %d of %v", row, v)
				}
			})
		}},
		"asm.UseCaches": {run: func(p *program) {
			defer asm.UseCaches(asm.Caches{})
			c := asm.Caches{L1: p.odd(), L2: p.odd()}
			p.quiet(fmt.Sprint(c), func() { asm.UseCaches(c) })
			own, used := asm.MachineCaches(), asm.UsedCaches()
			if min(own.L1, own.L2, used.L1, used.L2) < 1 || c.L1 > 0 && used.L1 != c.L1 || c.L2 <= 0 && used.L2 != own.L2 {
				p.fails("%+v of %+v for %+v", used, own, c)
			}
		}},
		"asm.PiecewiseRow": {panics: true, run: func(p *program) {
			c, bits := float32(p.strange()), uint(p.IntN(12))
			p.quiet(fmt.Sprint(c, bits), func() {
				if row, _ := asm.PiecewiseRow(c, bits); row < 0 || row >= asm.PiecewiseRows(bits) {
					p.fails("row %d of %v with %d bits, of %d rows", row, c, bits, asm.PiecewiseRows(bits))
				}
			})
			p.quiet("many bits", func() { asm.PiecewiseRow(c, pick(p, uint(13), 31, 63, 64, math.MaxUint)) })
		}},
		"asm.PiecewiseRows": {panics: true, run: func(p *program) {
			p.quiet("many bits", func() { asm.PiecewiseRows(pick(p, uint(0), 12, 13, 31, 63, 64, math.MaxUint)) })
		}},
	}
}
