//go:build cuda && cgo && linux

package cuda

import "strings"

// warpSize is the number of consecutive threads in a warp.
const warpSize = 32

// together executes the next warp instruction if all threads of a warp wait at it, and reports
// whether it did. It is an error if only some threads wait at it.
func (b *block) together(w []*thread) bool {
	here := 0
	for _, t := range w {
		if t.state == inWarp {
			here++
		}
	}
	if here == 0 {
		return false
	}
	pc := w[0].pc
	for _, t := range w {
		if here != warpSize || t.pc != pc {
			fail("%s: %d of 32 threads of a warp, or not all of them at the same place, come to %q",
				b.e.Name, here, b.e.text[t.pc])
		}
	}
	b.e.warp[pc](w)
	for _, t := range w {
		t.state = ready
		t.pc++
	}
	return true
}

// multiplyMatrices is mma: d = a b + c of matrices of 16 × 32 and 32 × 8 bytes with a sign and of
// 16 × 8 words, whose parts lie in the registers of a warp's threads as the PTX ISA's chapter
// "Matrix Fragments for mma.m16n8k32" has them:
//
//	a  element i = 0 … 15 of a thread is at row groupID where 0 <= i < 4 or 8 <= i < 12, else
//	   groupID + 8, and column threadID_in_group · 4 + (i & 3), and 16 more where i >= 8
//	b  element i = 0 … 7 is at row threadID_in_group · 4 + (i & 3), and 16 more where i >= 4,
//	   and column groupID
//	c  element i = 0 … 3, as of d, is at row groupID where i < 2, else groupID + 8, and column
//	   threadID_in_group · 2 + (i & 1)
//
// with groupID = lane / 4 and threadID_in_group = lane mod 4. Without .satfinite sums wrap around.
func (c *compiler) multiplyMatrices() instruction {
	if c.name != "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32" {
		c.unknown()
	}
	c.need(4)
	vector := func(operand string, n int) []string {
		list := operands(operand[1 : len(operand)-1])
		if operand[0] != '{' || operand[len(operand)-1] != '}' || len(list) != n {
			c.unknown()
		}
		return list
	}
	var to []func(*thread, uint64)
	for _, o := range vector(c.operands[0], 4) {
		to = append(to, c.e.destination(o, "s32"))
	}
	sources := func(operand string, n int) (list []source) {
		for _, o := range vector(operand, n) {
			list = append(list, c.e.source(o, "b32"))
		}
		return list
	}
	left, right, addend := sources(c.operands[1], 4), sources(c.operands[2], 2), sources(c.operands[3], 4)
	element := func(t *thread, from []source, i int) int32 { return int32(int8(from[i/4](t) >> (8 * (i % 4)))) }
	c.e.warp[len(c.e.code)] = func(w []*thread) {
		var a [16][32]int32
		var b [32][8]int32
		var d [16][8]int32
		for lane, t := range w {
			group, inGroup := lane>>2, lane%4
			for i := range 16 {
				row, column := group+8, inGroup*4+i&3
				if i < 4 || i >= 8 && i < 12 {
					row = group
				}
				if i >= 8 {
					column += 16
				}
				a[row][column] = element(t, left, i)
			}
			for i := range 8 {
				row := inGroup*4 + i&3
				if i >= 4 {
					row += 16
				}
				b[row][group] = element(t, right, i)
			}
		}
		for i := range d {
			for j := range d[i] {
				for k := range b {
					d[i][j] += a[i][k] * b[k][j]
				}
			}
		}
		for lane, t := range w {
			var sums [4]uint32 // all sums are computed before any is written, because a result may also be an addend
			for i := range sums {
				row, column := lane>>2, lane%4*2+i&1
				if i >= 2 {
					row += 8
				}
				sums[i] = uint32(d[row][column]) + uint32(addend[i](t))
			}
			for i, v := range sums {
				to[i](t, uint64(v))
			}
		}
	}
	return func(t *thread) { t.state = inWarp }
}

// loadMatrices is ldmatrix for four matrices of eight lines of 16 bytes. Lanes 0 … 7, 8 … 15 and so
// on hold the addresses of the lines. Lane i gets word i mod 4 of line i / 4 of each matrix.
func (c *compiler) loadMatrices() instruction {
	if c.name != "ldmatrix.sync.aligned.m8n8.x4.shared.b16" {
		c.unknown()
	}
	c.need(2)
	list := operands(strings.Trim(c.operands[0], "{}"))
	if len(list) != 4 {
		c.unknown()
	}
	var to []func(*thread, uint64)
	for _, o := range list {
		to = append(to, c.e.destination(o, "b32"))
	}
	at := c.e.source(strings.Trim(c.operands[1], "[]"), "b32")
	c.e.warp[len(c.e.code)] = func(w []*thread) {
		var lines [warpSize][]byte
		for lane, t := range w {
			lines[lane] = t.memory("shared", at(t), 16)
		}
		for lane, t := range w {
			for q, d := range to {
				d(t, numberIn(lines[8*q+lane/4][lane%4*4:][:4]))
			}
		}
	}
	return func(t *thread) { t.state = inWarp }
}

// shuffle copies to each lane of a warp the word of another lane.
func (c *compiler) shuffle() instruction {
	c.need(5)
	if c.name != "shfl.sync.idx.b32" || c.operands[3] != "31" || c.operands[4] != "-1" {
		c.unknown()
	}
	to, _, _ := strings.Cut(c.operands[0], "|")
	d, v, from := c.e.destination(to, c.ty), c.e.source(c.operands[1], c.ty), c.e.source(c.operands[2], "b32")
	c.e.warp[len(c.e.code)] = func(w []*thread) {
		var words [warpSize]uint64
		for lane, t := range w {
			words[lane] = v(t)
		}
		for _, t := range w {
			d(t, words[from(t)%warpSize])
		}
	}
	return func(t *thread) { t.state = inWarp }
}

// ballot returns to all lanes of a warp a word with one bit per lane.
func (c *compiler) ballot() instruction {
	c.need(3)
	if c.name != "vote.sync.ballot.b32" || c.operands[2] != "-1" {
		c.unknown()
	}
	d, v := c.e.destination(c.operands[0], "b32"), c.e.source(c.operands[1], "pred")
	c.e.warp[len(c.e.code)] = func(w []*thread) {
		var word uint64
		for lane, t := range w {
			word |= v(t) & 1 << lane
		}
		for _, t := range w {
			d(t, word)
		}
	}
	return func(t *thread) { t.state = inWarp }
}
