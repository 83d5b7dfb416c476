package main

import (
	"math/bits"

	"github.com/gramengine/gram/asm/internal/coeff"
	"github.com/gramengine/gram/asm/internal/layout"
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// panels adds the kernels for dot products with panels. With AVX2, the dot products of a document
// with the 64 columns take eight registers. Eight independent chains hide the latency of a fused
// multiply-add. With AVX-512, the dot products take four registers, so two documents are processed
// at a time.
func panels(f file) {
	for _, set := range isas {
		g := f.gen(set)
		for _, to := range []result{added, distances, rowDistances} {
			g.panel("Dot", 8*g.lanes/layout.PanelWidth, to, func(m Mem, value, sum VecVirtual) { g.VFMADD231PS(m, value, sum) })
		}
	}
}

// A stream iterates over the values of a document. Its three registers are pointers to the ends of
// the document's offsets and values, and the number n of remaining values.
type stream struct{ offset, value, n Register }

// A result selects what a panel kernel does with a document's sums.
type result int

const (
	added        result = iota // add the sums to the document's row of the tile
	distances                  // add the sums to the row, and convert the row to c
	rowDistances               // add the sums to the document's tail sums, and convert the total to c
)

// panel generates a kernel that processes 1 or 2 documents at a time. term adds a term to sum,
// where m is the address of panel values, and value is a register filled with the document's value.
// Documents are ordered by their number of values, so the second of two documents has at least as
// many values as the first.
func (g *gen) panel(name string, documents int, to result, term func(m Mem, value, sum VecVirtual)) {
	from, tile, returns, last := "", "out, ", "", to != added
	if last {
		from, returns = "index []uint32, first int, limit float32, ", " int"
	}
	if to == rowDistances {
		tile = "out []float32, outStride int, sums []int32, stride int, "
	}
	name += [...]string{added: "", distances: "Last", rowDistances: "Rows"}[to]
	g.function("panel"+name+g.suffix,
		"func("+from+tile+"panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)"+returns)
	g.Doc("panel" + name + g.suffix + " is panel" + name + "Generic for " + g.suffix + ", with R = 64.")
	var out Register // rows of the tile are addressed by arguments in memory, because registers are scarce
	if to != rowDistances {
		out = g.base("out")
	}
	panel := g.base("panel")
	start := g.base("start")
	doc := g.base("doc")
	places := g.length("doc")
	offset := g.base("offset")
	value := g.base("value")

	first := g.GP64() // start of the next document's values
	g.MOVQ(Mem{Base: start}, first)
	g.LEAQ(element(offset, first, 2), offset)
	g.LEAQ(element(value, first, 4), value)

	sums := make([]vec, documents)
	broadcast := g.regs(documents)
	for d := range sums {
		sums[d] = g.regs(layout.PanelWidth / g.lanes)
	}

	var one, two, zero, limit VecVirtual
	if last {
		one, two, zero, limit = g.constant(1), g.constant(2), g.reg(), g.reg()
		g.VXORPS(zero, zero, zero)
		g.VBROADCASTSS(g.address(g.Param("limit")), limit)
		g.Store(g.base("index"), g.ReturnIndex(0)) // the result holds the address of the next index until the kernel ends
	}

	// take sets s.n to the number of values of document slot, and first to the end of the values.
	take := func(s stream, slot int) {
		last := g.GP64()
		g.MOVQ(Mem{Base: start, Disp: 8 * (slot + 1)}, last)
		g.MOVQ(last, s.n)
		g.SUBQ(first, s.n)
		g.MOVQ(last, first)
	}
	advance := func(n Register) {
		g.LEAQ(element(offset, n, 2), offset)
		g.LEAQ(element(value, n, 4), value)
	}
	// addTerms adds the terms of broadcast[d] and the panel row at offset o to document d's sums.
	addTerms := func(d int, o Register) {
		for i, sum := range sums[d] {
			term(element(panel, o, 4).Offset(4*g.lanes*i), broadcast[d], sum)
		}
	}
	// add adds the terms of a value to the sums of document d. at is the value's index relative to
	// the end of the stream.
	add := func(d int, s stream, at Register) {
		o := g.GP64()
		g.MOVWQZX(element(s.offset, at, 2), o)
		g.VBROADCASTSS(element(s.value, at, 4), broadcast[d])
		addTerms(d, o)
	}
	// addFour adds the terms of the four values before index at. Loads are the bottleneck, because
	// a core does two loads per cycle, and each multiply-add loads from the panel. So the four
	// values are loaded at once and extracted by shuffles, and the four offsets by shifts.
	addFour := func(d int, s stream, at Register) {
		offsets := g.GP64()
		g.MOVQ(element(s.offset, at, 2).Offset(-2*4), offsets)
		four := g.reg()
		if g.lanes == 16 {
			g.VBROADCASTF32X4(element(s.value, at, 4).Offset(-4*4), four)
		} else {
			g.VBROADCASTF128(element(s.value, at, 4).Offset(-4*4), four)
		}
		for q := range 4 {
			o := g.GP64()
			if q < 3 {
				g.MOVWLZX(offsets.As16(), o.As32())
				g.SHRQ(U8(16), offsets)
			} else {
				o = offsets
			}
			g.VPERMILPS(U8(0x55*q), four, broadcast[d])
			addTerms(d, o)
		}
	}
	// loop adds the terms of the last n > 0 values of each stream to the sums of documents d, d+1,
	// …. The streams have equal lengths. loop overwrites n.
	loop := func(n Register, d int, streams ...stream) {
		top, single, done := g.label("four"), g.label("value"), g.label("through")
		g.NEGQ(n)
		g.ADDQ(U8(4), n)
		g.JG(single + "begin")
		g.Label(top)
		for i, s := range streams {
			addFour(d+i, s, n)
		}
		g.ADDQ(U8(4), n)
		g.JLE(top)
		g.Label(single + "begin")
		g.SUBQ(U8(4), n)
		g.JZ(done)
		g.Label(single)
		for i, s := range streams {
			add(d+i, s, n)
		}
		g.INCQ(n)
		g.JNZ(single)
		g.Label(done)
	}
	// place returns the address of document d's row in a slice.
	place := func(d int, slice, stride string) GPVirtual {
		row := g.GP64()
		g.MOVBQZX(Mem{Base: doc, Disp: d}, row)
		g.IMULQ(g.address(g.Param(stride)), row)
		g.SHLQ(U8(2), row)
		g.ADDQ(g.address(g.Param(slice).Base()), row)
		return row
	}
	store := func(d int) {
		var row, tail GPVirtual
		if to == rowDistances {
			tail, row = place(d, "sums", "stride"), place(d, "out", "outStride")
		} else {
			row = g.GP64()
			g.MOVBQZX(Mem{Base: doc, Disp: d}, row)
			g.SHLQ(U8(bits.TrailingZeros(4*layout.PanelWidth)), row)
			g.ADDQ(out, row)
		}
		for i, sum := range sums[d] {
			m := Mem{Base: row, Disp: 4 * g.lanes * i}
			if to == rowDistances {
				from, t := Mem{Base: tail, Disp: 4 * g.lanes * i}, g.reg()
				g.VCVTDQ2PS(from, t)
				g.VMULPS(g.mem(1.0/layout.TailOne), t, t)
				g.VMOVUPS(zero, from)
				g.VADDPS(t, sum, sum)
			} else {
				g.VADDPS(m, sum, sum)
			}
			if last {
				g.VSUBPS(sum, one, sum)
				g.VMAXPS(sum, zero, sum) // NaN stays NaN
				g.VMINPS(sum, two, sum)
			}
			g.VMOVUPS(sum, m)
		}
		if last {
			g.SUBQ(g.address(g.Param("out").Base()), row)
			g.SHRQ(U8(2), row)
			g.small(sums[d], limit, row)
		}
	}
	next := func(n int) {
		g.ADDQ(U8(8*n), start)
		g.ADDQ(U8(n), doc)
	}

	if documents == 2 {
		g.SUBQ(U8(2), places)
		g.JLT(LabelRef("odd"))
		g.Label("pair")
		a := stream{offset, value, g.GP64()}
		b := stream{g.GP64(), g.GP64(), g.GP64()}
		take(a, 0)
		take(b, 1)
		if last {
			g.zero(sums[0])
			g.zero(sums[1])
		}
		g.TESTQ(b.n, b.n)
		if last {
			g.JZ(LabelRef("storePair"))
		} else {
			g.JZ(LabelRef("nextPair"))
			g.zero(sums[0])
			g.zero(sums[1])
		}
		// The first a.n values of both streams are processed together, then the rest of b.
		g.SUBQ(a.n, b.n)
		advance(a.n)
		g.LEAQ(element(offset, a.n, 2), b.offset)
		g.LEAQ(element(value, a.n, 4), b.value)
		g.TESTQ(a.n, a.n)
		g.JZ(LabelRef("rest"))
		loop(a.n, 0, a, b)
		g.Label("rest")
		g.MOVQ(b.offset, offset)
		g.MOVQ(b.value, value)
		g.TESTQ(b.n, b.n)
		g.JZ(LabelRef("storePair"))
		advance(b.n)
		loop(b.n, 1, stream{offset, value, nil})
		g.Label("storePair")
		store(0)
		store(1)
		g.Label("nextPair")
		next(2)
		g.SUBQ(U8(2), places)
		g.JGE(LabelRef("pair"))
		g.Label("odd")
		g.ADDQ(U8(2), places)
	}
	g.TESTQ(places, places)
	g.JZ(LabelRef("done"))
	g.Label("single")
	s := stream{offset, value, g.GP64()}
	take(s, 0)
	if last {
		g.zero(sums[0])
	}
	g.TESTQ(s.n, s.n)
	if last {
		g.JZ(LabelRef("storeSingle"))
	} else {
		g.JZ(LabelRef("nextSingle"))
		g.zero(sums[0])
	}
	advance(s.n)
	loop(s.n, 0, s)
	g.Label("storeSingle")
	store(0)
	g.Label("nextSingle")
	next(1)
	g.DECQ(places)
	g.JNZ(LabelRef("single"))
	g.Label("done")
	if last {
		found := g.word(g.ReturnIndex(0))
		g.SUBQ(g.address(g.Param("index").Base()), found)
		g.SHRQ(U8(2), found)
		g.Store(found, g.ReturnIndex(0))
	}
	g.end()
}

// small lists the elements of c below limit. row is the index of the first element of c. Usually no
// element is below limit, so the minimum is tested first.
func (g *gen) small(c vec, limit VecVirtual, row GPVirtual) {
	least, none := g.reg(), g.label("none")
	g.VMOVAPS(c[0], least)
	for _, v := range c[1:] {
		g.VMINPS(least, v, least) // the result is least if v or least is NaN
	}
	any := g.GP32()
	g.lanesWhere(notAtLeast, least, limit, any)
	g.TESTL(any, any)
	g.JZ(none)
	index := g.word(g.ReturnIndex(0))
	g.ADDQ(g.address(g.Param("first")), row)
	for i, v := range c {
		bits := g.GP32()
		g.lanesWhere(less, v, limit, bits)
		g.eachBit(bits, func(place GPVirtual) {
			g.LEAQ(element(row, place, 1).Offset(g.lanes*i), place)
			g.MOVL(place.As32(), Mem{Base: index})
			g.ADDQ(U8(4), index)
		})
	}
	g.Store(index, g.ReturnIndex(0))
	g.Label(none)
}

// lanesWhere sets bits to the lanes in which a comparison is true.
func (g *gen) lanesWhere(predicate U8, a, b VecVirtual, bits GPVirtual) {
	if g.lanes == 16 {
		k := g.K()
		g.VCMPPS(predicate, b, a, k)
		g.KMOVW(k, bits)
		return
	}
	m := g.reg()
	g.VCMPPS(predicate, b, a, m)
	g.VMOVMSKPS(m, bits)
}

// eachBit generates a loop that runs do for each set bit in ascending order, and clears the bits.
func (g *gen) eachBit(bits GPVirtual, do func(place GPVirtual)) {
	top, through := g.label("bit"), g.label("through")
	g.Label(top)
	g.TESTL(bits, bits)
	g.JZ(through)
	place := g.GP64()
	g.TZCNTL(bits, place.As32())
	do(place)
	g.BLSRL(bits, bits)
	g.JMP(top)
	g.Label(through)
}

func (g *gen) address(c gotypes.Component) Mem {
	b, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

func (g *gen) zero(v vec) {
	for _, r := range v {
		g.VXORPS(r, r, r)
	}
}

// pairings adds the kernels for histogram similarities: panel kernels and maps. A panel kernel
// processes one document at a time, because computing terms takes many registers.
func pairings(f file) {
	for _, p := range []struct {
		name, terms string
		term        func(g *gen, y vec, x VecVirtual) vec
	}{
		{"ChiSquare", "chiSquareTerms", (*gen).chiSquare},
		{"JensenShannon", "jensenShannonTerms", (*gen).jensenShannon},
	} {
		for _, set := range isas {
			g := f.gen(set)
			g.panel(p.name, 1, added, func(m Mem, value, sum VecVirtual) {
				y := g.reg()
				g.VMOVUPS(m, y)
				g.VADDPS(p.term(g, vec{y}, value)[0], sum, sum)
			})
			mapKernel{name: p.terms, in: []string{"y"}, scalars: []string{"x"}, unroll: 1,
				body: func(a args) vec { return p.term(a.gen, a.in[0], a.s[0]) }}.write(f.gen(set))
		}
	}
}

// The functions below repeat the operations of asm/panel_generic.go in the same order.

// chiSquare returns 2xy/(x+y).
func (g *gen) chiSquare(y vec, x VecVirtual) vec {
	product := g.scale(g.add(y, y), x)
	sum := g.apply(g.VADDPS, x, y)
	return g.apply(g.VDIVPS, sum, product)
}

// jensenShannon returns min(x, y)·h, where h is a function of the ratio of x and y.
func (g *gen) jensenShannon(y vec, x VecVirtual) vec {
	least := g.apply(g.VMINPS, x, y)
	most := g.apply(g.VMAXPS, x, y)
	r := g.apply(g.VDIVPS, most, least)
	h := g.twoChains(r, coeff.Entropy7, coeff.Entropy6, coeff.Entropy5, coeff.Entropy4,
		coeff.Entropy3, coeff.Entropy2, coeff.Entropy1, coeff.Entropy0)
	// e holds the exponents of r. z holds the mantissas, and can take the registers of r.
	e := g.each(len(y), func(i int, d VecVirtual) {
		g.subBits(coeff.RootHalfBits, r[i], d)
		g.VPSRAD(U8(23), d, d)
	})
	z := g.each(len(y), func(i int, d VecVirtual) {
		g.VPSLLD(U8(23), e[i], d)
		g.VPSUBD(d, r[i], d)
	})
	g.issue(g.VCVTDQ2PS, e, e)
	g.subMulConst(h, e, 0.5)
	z = g.subConst(z, 1)
	l := g.twoChains(z, coeff.Log7, coeff.Log6, coeff.Log5, coeff.Log4, coeff.Log3, coeff.Log2, coeff.Log1, coeff.Log0)
	g.issue(g.VFNMADD231PS, l, z, h)
	return g.mul(least, h)
}

// twoChains evaluates a polynomial, given an even number of coefficients, highest first. It sums
// odd and even powers in two independent chains.
func (g *gen) twoChains(x vec, c ...float32) vec {
	var chains [2][]float32
	for i, v := range c {
		chains[i%2] = append(chains[i%2], v)
	}
	s := g.mul(x, x)
	odd, even := g.poly(s, chains[0]...), g.poly(s, chains[1]...)
	g.mulAdd(odd, x, even)
	return odd
}

// subBits subtracts a constant from integers. It adds the negated constant as a memory operand.
func (g *gen) subBits(bits uint32, a, dst VecVirtual) { g.VPADDD(g.memBits(-bits), a, dst) }
