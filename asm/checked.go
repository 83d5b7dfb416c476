package asm

import (
	"fmt"
	"math"
	"math/bits"
)

// checked returns a table whose kernels check the lengths of their arguments in constant time,
// before any memory access. If a slice or a stride is too small, or if a count is negative, the
// kernel panics with the names of the kernel and the argument. Kernels in assembly check nothing.
//
// The package documentation states what isn't checked.
func checked(k *Kernels) *Kernels {
	c := *k
	c.PanelDot = checkPanel("PanelDot", k.Panel, k.PanelDot)
	nothing := func(_, _ []float32, _ []int64, _ []uint8, _ []uint16, _ []float32) {}
	check := checkPanel("PanelDotLast", k.Panel, nothing)
	c.PanelDotLast = func(
		index []uint32, first int, limit float32,
		out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int {
		check(out, panel, start, doc, offset, value)
		values("PanelDotLast", "index", len(index), len(doc)*k.Panel)
		return k.PanelDotLast(index, first, limit, out, panel, start, doc, offset, value)
	}
	checkDots := checkPanel("PanelDotRows", k.Panel, nothing)
	c.PanelDotRows = func(
		index []uint32, first int, limit float32, out []float32, outStride int, sums []int32, stride int,
		panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int {
		checkDots(out, panel, start, doc, offset, value)
		if len(doc) == 0 {
			return 0
		}
		atLeast("PanelDotRows", "outStride", outStride, k.Panel)
		atLeast("PanelDotRows", "stride", stride, k.Panel)
		checkRectangle("PanelDotRows", "out", len(out), len(doc), outStride, k.Panel)
		checkRectangle("PanelDotRows", "sums", len(sums), len(doc), stride, k.Panel)
		values("PanelDotRows", "index", len(index), len(doc)*k.Panel)
		return k.PanelDotRows(index, first, limit, out, outStride, sums, stride, panel, start, doc, offset, value)
	}
	c.TailAdd = func(sums []int32, stride int, doc []uint16, value []float32, visits []Visit) {
		atLeast("TailAdd", "stride", stride, 0)
		values("TailAdd", "value", len(value), len(doc))
		if n := len(visits); n > 0 { // only the last visit is checked
			v := visits[n-1]
			atLeast("TailAdd", "count of the last visit", int(v.Count), 1)
			values("TailAdd", "doc", len(doc), int(v.First)+int(v.Count)+TailSlack)
			values("TailAdd", "sums", len(sums), int(v.Column)*stride+1)
		}
		k.TailAdd(sums, stride, doc, value, visits)
	}
	c.Finish = func(index []uint32, c []float32, limit float32) int {
		values("Finish", "index", len(index), len(c))
		return k.Finish(index, c, limit)
	}
	c.Select = func(index []uint32, c []float32, stride int, lines, places []float32) int {
		atMost("Select", "lines", len(lines), selectMax)
		atMost("Select", "places", len(places), selectMax)
		if len(lines) == 0 || len(places) == 0 {
			return 0
		}
		atLeast("Select", "stride", stride, len(places))
		checkRectangle("Select", "c", len(c), len(lines), stride, len(places))
		values("Select", "index", len(index), len(lines)*len(places))
		return k.Select(index, c, stride, lines, places)
	}
	c.Min = func(least []float32, levels int, c []float32, stride, lines, places, group int) {
		if levels <= 0 || lines <= 0 || places <= 0 {
			return
		}
		atLeast("Min", "group", group, 1)
		atLeast("Min", "stride", stride, places)
		checkRectangle("Min", "least", len(least), levels, places, places)
		checkRectangle("Min", "c", len(c), lines, stride, places)
		k.Min(least, levels, c, stride, lines, places, group)
	}
	c.TailStore = checkTransposition("TailStore", "sums", "stride", k.TailStore)
	c.Transpose = checkTransposition("Transpose", "src", "srcStride", k.Transpose)

	c.ChiSquare = checkPairing("ChiSquare", k.Panel, k.ChiSquare)
	c.JensenShannon = checkPairing("JensenShannon", k.Panel, k.JensenShannon)

	c.Add = checkTwo("Add", k.Add)
	c.Exp = checkMap("Exp", "x", k.Exp)
	c.Diffusion = checkMapBy("Diffusion", "c", k.Diffusion)
	c.NGD = checkMapBy("NGD", "c", k.NGD)
	c.NGDExp = checkMapBy("NGDExp", "c", k.NGDExp)
	c.Dot = checkNorms("Dot", k.Dot)
	c.Gaussian = func(dst, c, y []float32, x, gamma float32) {
		inputs("Gaussian", "c", "y", len(dst), len(c), len(y))
		k.Gaussian(dst, c, y, x, gamma)
	}
	c.ArcCosine0 = checkMap("ArcCosine0", "c", k.ArcCosine0)
	c.ArcCosine1 = checkNorms("ArcCosine1", k.ArcCosine1)
	c.ArcCosine2 = checkNorms("ArcCosine2", k.ArcCosine2)
	c.Piecewise = func(dst, c []float32, rows [][8]float32, bits uint) {
		input("Piecewise", "c", len(dst), len(c))
		checkBits("Piecewise", bits)
		equal("Piecewise", "rows", len(rows), PiecewiseOctaves<<bits+1)
		k.Piecewise(dst, c, rows, bits)
	}
	c.HalfLine = func(dst []float32, v []float64, rows [][8]float64, zero float64) (outside bool) {
		input("HalfLine", "v", len(dst), len(v))
		values("HalfLine", "rows", len(rows), HalfLineRows+1)
		return k.HalfLine(dst, v, rows, zero)
	}
	c.Tanh = checkMap("Tanh", "v", k.Tanh)
	c.Decay = checkMap("Decay", "v", k.Decay)
	c.Affine = func(dst []float64, c, y []float32, x, gamma, r float64) {
		inputs("Affine", "c", "y", len(dst), len(c), len(y))
		k.Affine(dst, c, y, x, gamma, r)
	}
	c.Squares = func(dst, x, y, c []float64) {
		inputs("Squares", "x", "y", len(dst), len(x), len(y))
		input("Squares", "c", len(dst), len(c))
		k.Squares(dst, x, y, c)
	}
	c.Narrow = checkMap("Narrow", "v", k.Narrow)
	c.Widen = checkMap("Widen", "v", k.Widen)
	c.Add64 = checkTwo("Add64", k.Add64)
	c.Sub64 = checkTwo("Sub64", k.Sub64)
	c.Mul64 = checkTwo("Mul64", k.Mul64)
	c.Div64 = checkTwo("Div64", k.Div64)

	c.AddRows = func(sum []float64, rows [][]float32, from int, by []float64) {
		values("AddRows", "by", len(by), len(rows))
		checkRows("AddRows", "rows", rows, from, len(sum))
		k.AddRows(sum, rows, from, by)
	}
	c.Extremes = func(g []float64, mask []byte, up, low byte) (maxAt int, most float64, minAt int, least float64) {
		checkScores("Extremes", len(g), len(mask))
		return k.Extremes(g, mask, up, low)
	}
	c.Step = func(g []float64, ki, kj []float32, a, b float64, mask []byte, bit byte) (at int, most float64) {
		checkScores("Step", len(g), len(mask))
		values("Step", "ki", len(ki), len(g))
		values("Step", "kj", len(kj), len(g))
		return k.Step(g, ki, kj, a, b, mask, bit)
	}
	c.ArgGain = func(
		g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64,
	) (at int, gain, low float64) {
		checkScores("ArgGain", len(g), len(mask))
		values("ArgGain", "ki", len(ki), len(g))
		values("ArgGain", "diag", len(diag), len(g))
		return k.ArgGain(g, ki, diag, mask, bit, gmax, kii)
	}
	c.Prefetch = func(rows [][]float32, from, to int) {
		atLeast("Prefetch", "to", to, from)
		checkRows("Prefetch", "rows", rows, from, to-from)
		k.Prefetch(rows, from, to)
	}
	c.Gather = func(dst, src []float32, index []int32) {
		values("Gather", "dst", len(dst), len(index))
		values("Gather", "src", len(src), min(len(index), 1))
		k.Gather(dst, src, index)
	}
	c.Beyond = func(index []int32, g []float64, mask []byte, bit byte, way, above float64) (n int) {
		checkScores("Beyond", len(g), len(mask))
		values("Beyond", "index", len(index), len(g))
		return k.Beyond(index, g, mask, bit, way, above)
	}
	c.RowSums = func(sum []float64, rows []float32, base int, at []int32, coef []float64) {
		equal("RowSums", "coef", len(coef), len(at))
		if len(at) > 0 {
			values("RowSums", "rows", len(rows), len(sum))
		}
		k.RowSums(sum, rows, base, at, coef)
	}
	c.Multiply = checkMultiply("Multiply", k.Multiply)
	c.MultiplyWide = checkMultiply("MultiplyWide", k.MultiplyWide)

	c.Peak = func(sum []float32, x, y float32, rounds int) {
		multiple("Peak", "sum", len(sum), PeakSums)
		atLeast("Peak", "rounds", rounds, 0)
		k.Peak(sum, x, y, rounds)
	}
	c.Read = k.Read // no checks, because Read accepts any slice
	return &c
}

// panelKernel is the type of PanelDot.
type panelKernel = func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)

func checkPanel(kernel string, width int, f panelKernel) panelKernel {
	return func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32) {
		equal(kernel, "start", len(start), len(doc)+1)
		first, end := start[0], start[len(doc)]
		if first < 0 || end < first {
			fail(kernel, "start must be nonnegative and ascending, got %d to %d", first, end)
		}
		values(kernel, "offset", len(offset), int(min(end, math.MaxInt)))
		values(kernel, "value", len(value), int(min(end, math.MaxInt)))
		if end > first {
			values(kernel, "panel", len(panel), width)
		}
		values(kernel, "out", len(out), len(doc)*width)
		f(out, panel, start, doc, offset, value)
	}
}

func checkPairing(kernel string, width int, p Pairing) Pairing {
	p.Panel = checkPanel(kernel+".Panel", width, p.Panel)
	p.Terms = checkMapBy(kernel+".Terms", "y", p.Terms)
	return p
}

func checkMap[D, T float32 | float64](kernel, arg string, f func(dst []D, v []T)) func(dst []D, v []T) {
	return func(dst []D, v []T) {
		input(kernel, arg, len(dst), len(v))
		f(dst, v)
	}
}

func checkMapBy(kernel, arg string, f func(dst, c []float32, by float32)) func(dst, c []float32, by float32) {
	return func(dst, c []float32, by float32) {
		input(kernel, arg, len(dst), len(c))
		f(dst, c, by)
	}
}

func checkTwo[T float32 | float64](kernel string, f func(dst, a, b []T)) func(dst, a, b []T) {
	return func(dst, a, b []T) {
		inputs(kernel, "a", "b", len(dst), len(a), len(b))
		f(dst, a, b)
	}
}

func checkNorms(kernel string, f func(dst, c, y []float32, x float32)) func(dst, c, y []float32, x float32) {
	return func(dst, c, y []float32, x float32) {
		inputs(kernel, "c", "y", len(dst), len(c), len(y))
		f(dst, c, y, x)
	}
}

// transposition is the type of Transpose and TailStore.
type transposition[T float32 | int32] = func(dst []float32, dstStride int, src []T, srcStride, rows, cols int)

// checkTransposition returns f with argument checks. The returned function does nothing for an
// empty tile.
func checkTransposition[T float32 | int32](kernel, source, sourceStride string, f transposition[T]) transposition[T] {
	return func(dst []float32, dstStride int, src []T, srcStride, rows, cols int) {
		if rows <= 0 || cols <= 0 {
			atLeast(kernel, "rows", rows, 0)
			atLeast(kernel, "cols", cols, 0)
			return
		}
		atLeast(kernel, "dstStride", dstStride, rows)
		atLeast(kernel, sourceStride, srcStride, cols)
		checkRectangle(kernel, "dst", len(dst), cols, dstStride, rows)
		checkRectangle(kernel, source, len(src), rows, srcStride, cols)
		f(dst, dstStride, src, srcStride, rows, cols)
	}
}

// checkRectangle checks that a slice holds the given number of rows, which must be positive. Rows
// have width elements and begin stride elements apart.
func checkRectangle(kernel, arg string, have, rows, stride, width int) {
	hi, lo := bits.Mul64(uint64(rows-1), uint64(stride))
	lo, carry := bits.Add64(lo, uint64(width), 0)
	if hi|carry != 0 || lo > uint64(have) {
		fail(kernel, "%s has %d values, too few for %d rows of %d values with stride %d", arg, have, rows, width, stride)
	}
}

// checkRows checks that each row has at least n elements from index from on.
func checkRows[T float32 | float64](kernel, arg string, rows [][]T, from, n int) {
	atLeast(kernel, "from", from, 0)
	for i, row := range rows {
		if len(row)-n < from {
			fail(kernel, "%s[%d] has %d values, but needs at least %d from index %d on", arg, i, len(row), n, from)
		}
	}
}

// checkMultiply returns f with argument checks. The returned function does nothing if there are no
// products to add.
func checkMultiply[T float32 | float64](
	kernel string,
	f func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int),
) func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int) {
	return func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int) {
		if lines <= 0 || width <= 0 || vectors <= 0 {
			atLeast(kernel, "lines", lines, 0)
			atLeast(kernel, "width", width, 0)
			atLeast(kernel, "vectors", vectors, 0)
			return
		}
		atLeast(kernel, "apart", apart, width)
		atLeast(kernel, "stride", stride, width)
		atLeast(kernel, "byStride", byStride, vectors)
		checkRectangle(kernel, "sum", len(sum), vectors, apart, width)
		checkRectangle(kernel, "c", len(c), lines, stride, width)
		checkRectangle(kernel, "by", len(by), lines, byStride, vectors)
		f(sum, apart, c, stride, lines, width, by, byStride, vectors)
	}
}

func checkScores(kernel string, g, mask int) {
	multiple(kernel, "g", g, ScanBlock)
	values(kernel, "mask", mask, g)
}

func checkBits(function string, bits uint) {
	if bits > piecewiseMax {
		fail(function, "bits must be at most %d, got %d", piecewiseMax, bits)
	}
}

// inputs checks that both inputs of a map are at least as long as dst. input checks the only input
// of a map.
func inputs(kernel, a, b string, dst, haveA, haveB int) {
	input(kernel, a, dst, haveA)
	input(kernel, b, dst, haveB)
}

func input(kernel, arg string, dst, have int) {
	if have < dst {
		failNumbers(kernel, "dst has %[3]d values, but %[1]s has %[2]d", arg, have, dst)
	}
}

// values checks that an argument has at least need values. equal checks that an argument has
// exactly want values. multiple checks that the length of an argument is a multiple of block.
func values(kernel, arg string, have, need int) {
	if have < need {
		failNumbers(kernel, "%s has %d values, but needs at least %d", arg, have, need)
	}
}

func equal(kernel, arg string, have, want int) {
	if have != want {
		failNumbers(kernel, "%s has %d values, but needs %d", arg, have, want)
	}
}

func multiple(kernel, arg string, have, block int) {
	if have%block != 0 {
		failNumbers(kernel, "%s has %d values, but needs a multiple of %d", arg, have, block)
	}
}

func atLeast(kernel, arg string, have, least int) {
	if have < least {
		failNumbers(kernel, "%s is %d, but must be at least %d", arg, have, least)
	}
}

// selectMax is the maximum number of lines of Select, and the maximum number of places, because
// indices have 16 bits.
const selectMax = 1 << 16

func atMost(kernel, arg string, have, most int) {
	if have > most {
		failNumbers(kernel, "%s has %d values, but may have at most %d", arg, have, most)
	}
}

// failNumbers calls [fail] with the name of an argument and two integers. It is a separate function
// so that the checks can be inlined.
//
//go:noinline
func failNumbers(kernel, format, arg string, have, expected int) {
	fail(kernel, format, arg, have, expected)
}

func fail(kernel, format string, args ...any) {
	panic(fmt.Sprintf("asm: "+kernel+": "+format, args...))
}
