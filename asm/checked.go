package asm

import (
	"fmt"
	"math"
	"math/bits"
)

// withChecks returns a table whose kernels check their arguments before any memory access. Checks
// take constant time, or constant time per row in AddRows and Prefetch. If a check fails, the
// kernel panics with the names of the kernel and the argument. Kernels in assembly check nothing.
//
// The package documentation states what isn't checked.
func withChecks(k *Kernels) *Kernels {
	c := *k
	c.PanelDot = checkPanel("PanelDot", k.PanelWidth, k.PanelDot)
	nothing := func(_, _ []float32, _ []int64, _ []uint8, _ []uint16, _ []float32) {}
	check := checkPanel("PanelDotLast", k.PanelWidth, nothing)
	c.PanelDotLast = func(
		index []uint32, first int, limit float32,
		out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int {
		check(out, panel, start, doc, offset, value)
		checkMinLen("PanelDotLast", "index", len(index), len(doc)*k.PanelWidth)
		return k.PanelDotLast(index, first, limit, out, panel, start, doc, offset, value)
	}
	checkDots := checkPanel("PanelDotRows", k.PanelWidth, nothing)
	c.PanelDotRows = func(
		index []uint32, first int, limit float32, out []float32, outStride int, sums []int32, stride int,
		panel []float32, start []int64, doc []uint8, offset []uint16, value []float32,
	) int {
		checkDots(out, panel, start, doc, offset, value)
		if len(doc) == 0 {
			return 0
		}
		checkMin("PanelDotRows", "outStride", outStride, k.PanelWidth)
		checkMin("PanelDotRows", "stride", stride, k.PanelWidth)
		checkRectangle("PanelDotRows", "out", len(out), len(doc), outStride, k.PanelWidth)
		checkRectangle("PanelDotRows", "sums", len(sums), len(doc), stride, k.PanelWidth)
		checkMinLen("PanelDotRows", "index", len(index), len(doc)*k.PanelWidth)
		return k.PanelDotRows(index, first, limit, out, outStride, sums, stride, panel, start, doc, offset, value)
	}
	c.TailAdd = func(sums []int32, stride int, doc []uint16, value []float32, visits []Visit) {
		checkMin("TailAdd", "stride", stride, 0)
		checkMinLen("TailAdd", "value", len(value), len(doc))
		if n := len(visits); n > 0 { // only the last visit is checked
			v := visits[n-1]
			checkMin("TailAdd", "count of the last visit", int(v.Count), 1)
			checkMinLen("TailAdd", "doc", len(doc), int(v.First)+int(v.Count)+TailSlack)
			checkMinLen("TailAdd", "sums", len(sums), int(v.Column)*stride+1)
		}
		k.TailAdd(sums, stride, doc, value, visits)
	}
	c.Finish = func(index []uint32, c []float32, limit float32) int {
		checkMinLen("Finish", "index", len(index), len(c))
		return k.Finish(index, c, limit)
	}
	c.Select = func(index []uint32, c []float32, stride int, lines, places []float32) int {
		checkMax("Select", "lines", len(lines), selectMax)
		checkMax("Select", "places", len(places), selectMax)
		if len(lines) == 0 || len(places) == 0 {
			return 0
		}
		checkMin("Select", "stride", stride, len(places))
		checkRectangle("Select", "c", len(c), len(lines), stride, len(places))
		checkMinLen("Select", "index", len(index), len(lines)*len(places))
		return k.Select(index, c, stride, lines, places)
	}
	c.Min = func(least []float32, levels int, c []float32, stride, lines, places, group int) {
		if levels <= 0 || lines <= 0 || places <= 0 {
			return
		}
		checkMin("Min", "group", group, 1)
		checkMin("Min", "stride", stride, places)
		checkRectangle("Min", "least", len(least), levels, places, places)
		checkRectangle("Min", "c", len(c), lines, stride, places)
		k.Min(least, levels, c, stride, lines, places, group)
	}
	c.TailStore = checkTransposition("TailStore", "sums", "stride", k.TailStore)
	c.Transpose = checkTransposition("Transpose", "src", "srcStride", k.Transpose)

	c.ChiSquare = checkPairing("ChiSquare", k.PanelWidth, k.ChiSquare)
	c.JensenShannon = checkPairing("JensenShannon", k.PanelWidth, k.JensenShannon)

	c.Add = checkBinary("Add", k.Add)
	c.Exp = checkMap("Exp", "x", k.Exp)
	c.Diffusion = checkMapBy("Diffusion", "c", k.Diffusion)
	c.NGD = checkMapBy("NGD", "c", k.NGD)
	c.NGDExp = checkMapBy("NGDExp", "c", k.NGDExp)
	c.Dot = checkNorms("Dot", k.Dot)
	c.Gaussian = func(dst, c, y []float32, x, gamma float32) {
		checkInputs("Gaussian", "c", "y", len(dst), len(c), len(y))
		k.Gaussian(dst, c, y, x, gamma)
	}
	c.ArcCosine0 = checkMap("ArcCosine0", "c", k.ArcCosine0)
	c.ArcCosine1 = checkNorms("ArcCosine1", k.ArcCosine1)
	c.ArcCosine2 = checkNorms("ArcCosine2", k.ArcCosine2)
	c.Piecewise = func(dst, c []float32, rows [][8]float32, bits uint) {
		checkInput("Piecewise", "c", len(dst), len(c))
		checkBits("Piecewise", bits)
		checkLen("Piecewise", "rows", len(rows), PiecewiseOctaves<<bits+1)
		k.Piecewise(dst, c, rows, bits)
	}
	c.HalfLine = func(dst []float32, v []float64, rows [][8]float64, zero float64) (outside bool) {
		checkInput("HalfLine", "v", len(dst), len(v))
		checkMinLen("HalfLine", "rows", len(rows), HalfLineRows+1)
		return k.HalfLine(dst, v, rows, zero)
	}
	c.Tanh = checkMap("Tanh", "v", k.Tanh)
	c.Decay = checkMap("Decay", "v", k.Decay)
	c.Affine = func(dst []float64, c, y []float32, x, gamma, r float64) {
		checkInputs("Affine", "c", "y", len(dst), len(c), len(y))
		k.Affine(dst, c, y, x, gamma, r)
	}
	c.Squares = func(dst, x, y, c []float64) {
		checkInputs("Squares", "x", "y", len(dst), len(x), len(y))
		checkInput("Squares", "c", len(dst), len(c))
		k.Squares(dst, x, y, c)
	}
	c.Narrow = checkMap("Narrow", "v", k.Narrow)
	c.Widen = checkMap("Widen", "v", k.Widen)
	c.Add64 = checkBinary("Add64", k.Add64)
	c.Sub64 = checkBinary("Sub64", k.Sub64)
	c.Mul64 = checkBinary("Mul64", k.Mul64)
	c.Div64 = checkBinary("Div64", k.Div64)

	c.AddRows = func(sum []float64, rows [][]float32, from int, by []float64) {
		checkMinLen("AddRows", "by", len(by), len(rows))
		checkRows("AddRows", "rows", rows, from, len(sum))
		k.AddRows(sum, rows, from, by)
	}
	c.Extremes = func(g []float64, mask []byte, up, low byte) (maxAt int, most float64, minAt int, least float64) {
		checkScores("Extremes", len(g), len(mask))
		return k.Extremes(g, mask, up, low)
	}
	c.Step = func(g []float64, ki, kj []float32, a, b float64, mask []byte, bit byte) (at int, most float64) {
		checkScores("Step", len(g), len(mask))
		checkMinLen("Step", "ki", len(ki), len(g))
		checkMinLen("Step", "kj", len(kj), len(g))
		return k.Step(g, ki, kj, a, b, mask, bit)
	}
	c.ArgGain = func(
		g []float64, ki, diag []float32, mask []byte, bit byte, gmax, kii float64,
	) (at int, gain, low float64) {
		checkScores("ArgGain", len(g), len(mask))
		checkMinLen("ArgGain", "ki", len(ki), len(g))
		checkMinLen("ArgGain", "diag", len(diag), len(g))
		return k.ArgGain(g, ki, diag, mask, bit, gmax, kii)
	}
	c.Prefetch = func(rows [][]float32, from, to int) {
		checkMin("Prefetch", "to", to, from)
		checkRows("Prefetch", "rows", rows, from, to-from)
		k.Prefetch(rows, from, to)
	}
	c.Gather = func(dst, src []float32, index []int32) {
		checkMinLen("Gather", "dst", len(dst), len(index))
		checkMinLen("Gather", "src", len(src), min(len(index), 1))
		k.Gather(dst, src, index)
	}
	c.Beyond = func(index []int32, g []float64, mask []byte, bit byte, way, above float64) (n int) {
		checkScores("Beyond", len(g), len(mask))
		checkMinLen("Beyond", "index", len(index), len(g))
		return k.Beyond(index, g, mask, bit, way, above)
	}
	c.RowSums = func(sum []float64, rows []float32, base int, at []int32, coef []float64) {
		checkLen("RowSums", "coef", len(coef), len(at))
		if len(at) > 0 {
			checkMinLen("RowSums", "rows", len(rows), len(sum))
		}
		k.RowSums(sum, rows, base, at, coef)
	}
	c.Multiply = checkMultiply("Multiply", k.Multiply)
	c.MultiplyWide = checkMultiply("MultiplyWide", k.MultiplyWide)

	c.Peak = func(sum []float32, x, y float32, rounds int) {
		checkMultiple("Peak", "sum", len(sum), PeakSums)
		checkMin("Peak", "rounds", rounds, 0)
		k.Peak(sum, x, y, rounds)
	}
	c.Read = k.Read // no checks, because Read accepts any slice
	return &c
}

type panelKernel = func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32)

func checkPanel(kernel string, width int, f panelKernel) panelKernel {
	return func(out, panel []float32, start []int64, doc []uint8, offset []uint16, value []float32) {
		checkLen(kernel, "start", len(start), len(doc)+1)
		first, end := start[0], start[len(doc)]
		if first < 0 || end < first {
			fail(kernel, "start must be nonnegative and ascending, got %d to %d", first, end)
		}
		checkMinLen(kernel, "offset", len(offset), int(min(end, math.MaxInt)))
		checkMinLen(kernel, "value", len(value), int(min(end, math.MaxInt)))
		if end > first {
			checkMinLen(kernel, "panel", len(panel), width)
		}
		checkMinLen(kernel, "out", len(out), len(doc)*width)
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
		checkInput(kernel, arg, len(dst), len(v))
		f(dst, v)
	}
}

func checkMapBy(kernel, arg string, f func(dst, c []float32, by float32)) func(dst, c []float32, by float32) {
	return func(dst, c []float32, by float32) {
		checkInput(kernel, arg, len(dst), len(c))
		f(dst, c, by)
	}
}

func checkBinary[T float32 | float64](kernel string, f func(dst, a, b []T)) func(dst, a, b []T) {
	return func(dst, a, b []T) {
		checkInputs(kernel, "a", "b", len(dst), len(a), len(b))
		f(dst, a, b)
	}
}

func checkNorms(kernel string, f func(dst, c, y []float32, x float32)) func(dst, c, y []float32, x float32) {
	return func(dst, c, y []float32, x float32) {
		checkInputs(kernel, "c", "y", len(dst), len(c), len(y))
		f(dst, c, y, x)
	}
}

type transposition[T float32 | int32] = func(dst []float32, dstStride int, src []T, srcStride, rows, cols int)

func checkTransposition[T float32 | int32](kernel, source, sourceStride string, f transposition[T]) transposition[T] {
	return func(dst []float32, dstStride int, src []T, srcStride, rows, cols int) {
		if rows <= 0 || cols <= 0 {
			checkMin(kernel, "rows", rows, 0)
			checkMin(kernel, "cols", cols, 0)
			return
		}
		checkMin(kernel, "dstStride", dstStride, rows)
		checkMin(kernel, sourceStride, srcStride, cols)
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

func checkRows[T float32 | float64](kernel, arg string, rows [][]T, from, n int) {
	checkMin(kernel, "from", from, 0)
	for i, row := range rows {
		if len(row)-n < from {
			fail(kernel, "%s[%d] has %d values, but needs at least %d from index %d on", arg, i, len(row), n, from)
		}
	}
}

func checkMultiply[T float32 | float64](
	kernel string,
	f func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int),
) func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int) {
	return func(sum []float64, apart int, c []T, stride, lines, width int, by []float64, byStride, vectors int) {
		if lines <= 0 || width <= 0 || vectors <= 0 {
			checkMin(kernel, "lines", lines, 0)
			checkMin(kernel, "width", width, 0)
			checkMin(kernel, "vectors", vectors, 0)
			return
		}
		checkMin(kernel, "apart", apart, width)
		checkMin(kernel, "stride", stride, width)
		checkMin(kernel, "byStride", byStride, vectors)
		checkRectangle(kernel, "sum", len(sum), vectors, apart, width)
		checkRectangle(kernel, "c", len(c), lines, stride, width)
		checkRectangle(kernel, "by", len(by), lines, byStride, vectors)
		f(sum, apart, c, stride, lines, width, by, byStride, vectors)
	}
}

func checkScores(kernel string, g, mask int) {
	checkMultiple(kernel, "g", g, ScanBlock)
	checkMinLen(kernel, "mask", mask, g)
}

func checkBits(function string, bits uint) {
	if bits > piecewiseMax {
		fail(function, "bits must be at most %d, got %d", piecewiseMax, bits)
	}
}

func checkInputs(kernel, a, b string, dst, haveA, haveB int) {
	checkInput(kernel, a, dst, haveA)
	checkInput(kernel, b, dst, haveB)
}

func checkInput(kernel, arg string, dst, have int) {
	if have < dst {
		failInts(kernel, "dst has %[3]d values, but %[1]s has %[2]d", arg, have, dst)
	}
}

func checkMinLen(kernel, arg string, have, need int) {
	if have < need {
		failInts(kernel, "%s has %d values, but needs at least %d", arg, have, need)
	}
}

func checkLen(kernel, arg string, have, want int) {
	if have != want {
		failInts(kernel, "%s has %d values, but needs %d", arg, have, want)
	}
}

func checkMultiple(kernel, arg string, have, block int) {
	if have%block != 0 {
		failInts(kernel, "%s has %d values, but needs a multiple of %d", arg, have, block)
	}
}

func checkMin(kernel, arg string, have, least int) {
	if have < least {
		failInts(kernel, "%s is %d, but must be at least %d", arg, have, least)
	}
}

// selectMax is the maximum number of lines of Select, and the maximum number of places, because
// indices have 16 bits.
const selectMax = 1 << 16

func checkMax(kernel, arg string, have, most int) {
	if have > most {
		failInts(kernel, "%s has %d values, but may have at most %d", arg, have, most)
	}
}

// failInts calls [fail] with the name of an argument and two integers. It is a separate function so
// that the checks can be inlined.
//
//go:noinline
func failInts(kernel, format, arg string, have, expected int) {
	fail(kernel, format, arg, have, expected)
}

func fail(kernel, format string, args ...any) {
	panic(fmt.Sprintf("asm: "+kernel+": "+format, args...))
}
