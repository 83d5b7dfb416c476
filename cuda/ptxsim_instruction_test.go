//go:build cuda && cgo && linux

package cuda

import (
	"math"
	"math/bits"
	"slices"
	"strings"
)

// compile converts an instruction with its optional guard to an executable function.
func (e *ptxEntry) compile(s string, labels map[string]int) instruction {
	var guard source
	negated := false
	if s[0] == '@' {
		p, rest, _ := strings.Cut(s[1:], " ")
		if rest == "" {
			p, rest, _ = strings.Cut(s[1:], "\t")
		}
		p, negated = strings.TrimPrefix(p, "!"), strings.HasPrefix(p, "!")
		guard, s = e.source(p, "pred"), strings.TrimSpace(rest)
	}
	name, rest, _ := strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	c := &compiler{
		e: e, name: name, parts: strings.Split(name, "."),
		operands: operands(strings.TrimSpace(rest)), labels: labels,
	}
	c.ty = c.parts[len(c.parts)-1]
	c.width = sizes[c.ty]
	body := c.instruction()
	if guard == nil {
		return body
	}
	if c.parts[0] == "mma" || c.parts[0] == "ldmatrix" || c.parts[0] == "shfl" || c.parts[0] == "vote" {
		c.unknown() // the lanes of a warp execute it together
	}
	return func(t *thread) {
		if (guard(t) != 0) != negated {
			body(t)
		}
	}
}

// compiler is one instruction being compiled.
type compiler struct {
	e        *ptxEntry
	name     string
	parts    []string // parts of the name
	ty       string   // last part: the type
	width    int
	operands []string
	labels   map[string]int
}

func (c *compiler) has(part string) bool { return slices.Contains(c.parts[1:], part) }

func (c *compiler) unknown() { fail("%s: unknown instruction %s %v", c.e.Name, c.name, c.operands) }

func (c *compiler) need(n int) {
	if len(c.operands) != n {
		fail("%s: %s takes %d operands, found %v", c.e.Name, c.name, n, c.operands)
	}
}

func (c *compiler) isFloat() bool  { return c.ty == "f32" || c.ty == "f64" }
func (c *compiler) isSigned() bool { return c.ty[0] == 's' }

// unary and binary compile functions of raw bits, typed one of operands of some types, the result's
// first.
func (c *compiler) unary(f func(a uint64) uint64) instruction {
	return c.typed(func(x, _, _ uint64) uint64 { return f(x) }, c.ty, c.ty)
}

func (c *compiler) binary(f func(a, b uint64) uint64) instruction {
	return c.typed(func(x, y, _ uint64) uint64 { return f(x, y) }, c.ty, c.ty, c.ty)
}

func zero(*thread) uint64 { return 0 }

func (c *compiler) typed(f func(x, y, z uint64) uint64, types ...string) instruction {
	c.need(len(types))
	d := c.e.destination(c.operands[0], types[0])
	from := [3]source{1: zero, 2: zero}
	for i, ty := range types[1:] {
		from[i] = c.e.source(c.operands[1+i], ty)
	}
	return func(t *thread) { d(t, f(from[0](t), from[1](t), from[2](t))) }
}

// arithmetic compiles i for integer types and f for float types.
func (c *compiler) arithmetic(i func(a, b int64) int64, f func(a, b float64) float64) instruction {
	switch {
	case c.isFloat() && f != nil:
		ty := c.ty
		return c.binary(func(a, b uint64) uint64 { return bitsOf(f(floatOf(a, ty), floatOf(b, ty)), ty) })
	case !c.isFloat() && i != nil && c.isSigned():
		w := c.width
		return c.binary(func(a, b uint64) uint64 { return uint64(i(signed(a, w), signed(b, w))) })
	case !c.isFloat() && i != nil:
		return c.binary(func(a, b uint64) uint64 { return uint64(i(int64(a), int64(b))) })
	}
	c.unknown()
	return nil
}

// rounded checks that float arithmetic specifies rounding to nearest.
func (c *compiler) rounded() {
	if c.isFloat() && !c.has("rn") {
		c.unknown()
	}
}

func (c *compiler) instruction() instruction {
	switch c.parts[0] {
	case "ld", "st", "atom":
		return c.memory()
	case "mov":
		return c.move()
	case "cvta":
		return c.unary(func(a uint64) uint64 { return a })
	case "add":
		c.rounded()
		return c.arithmetic(func(a, b int64) int64 { return a + b }, func(a, b float64) float64 { return a + b })
	case "sub":
		c.rounded()
		return c.arithmetic(func(a, b int64) int64 { return a - b }, func(a, b float64) float64 { return a - b })
	case "div":
		c.rounded()
		return c.arithmetic(func(a, b int64) int64 { return a / b }, func(a, b float64) float64 { return a / b })
	case "max", "min":
		if c.ty[0] == 'u' || c.ty[0] == 'b' {
			return c.binary(map[string]func(a, b uint64) uint64{
				"max": func(a, b uint64) uint64 { return max(a, b) },
				"min": func(a, b uint64) uint64 { return min(a, b) },
			}[c.parts[0]])
		}
		if c.parts[0] == "min" {
			return c.arithmetic(func(a, b int64) int64 { return min(a, b) },
				func(a, b float64) float64 { return -larger(-a, -b) })
		}
		return c.arithmetic(func(a, b int64) int64 { return max(a, b) }, larger)
	case "and":
		return c.binary(func(a, b uint64) uint64 { return a & b })
	case "or":
		return c.binary(func(a, b uint64) uint64 { return a | b })
	case "xor":
		return c.binary(func(a, b uint64) uint64 { return a ^ b })
	case "not":
		if c.ty == "pred" {
			return c.unary(func(a uint64) uint64 { return a ^ 1 })
		}
		return c.unary(func(a uint64) uint64 { return ^a })
	case "neg":
		if c.isFloat() {
			return c.unary(func(a uint64) uint64 { return a ^ 1<<(8*c.width-1) })
		}
		return c.unary(func(a uint64) uint64 { return -a })
	case "abs":
		if !c.isFloat() {
			c.unknown()
		}
		return c.unary(func(a uint64) uint64 { return a &^ (1 << (8*c.width - 1)) })
	case "sqrt":
		c.rounded()
		return c.unary(func(a uint64) uint64 { return bitsOf(math.Sqrt(floatOf(a, c.ty)), c.ty) })
	case "shl", "shr":
		return c.shift()
	case "bfe":
		return c.extract()
	case "mul", "mad", "fma":
		return c.multiply()
	case "setp":
		return c.compare()
	case "selp":
		return c.choose()
	case "cvt":
		return c.convert()
	case "mma":
		return c.multiplyMatrices()
	case "ldmatrix":
		return c.loadMatrices()
	case "shfl":
		return c.shuffle()
	case "vote":
		return c.ballot()
	case "clz":
		if c.ty != "b32" {
			c.unknown()
		}
		return c.unary(func(a uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) })
	case "bra":
		c.need(1)
		to, ok := c.labels[c.operands[0]]
		if !ok {
			fail("%s: no label %s", c.e.Name, c.operands[0])
		}
		return func(t *thread) { t.pc = to }
	case "bar":
		if c.name != "bar.sync" || c.operands[0] != "0" {
			c.unknown()
		}
		return func(t *thread) { t.state, t.waitsAt = waiting, t.pc }
	case "ret":
		return func(t *thread) { t.state = done }
	}
	c.unknown()
	return nil
}

// larger is PTX's max: for a number and NaN it returns the number.
func larger(a, b float64) float64 {
	switch {
	case a != a:
		return b
	case b != b:
		return a
	}
	return max(a, b)
}

// move copies a value, or splits a pair: mov.b64 {low, high}, pair.
func (c *compiler) move() instruction {
	c.need(2)
	if !strings.HasPrefix(c.operands[0], "{") {
		return c.unary(func(a uint64) uint64 { return a })
	}
	parts := operands(strings.Trim(c.operands[0], "{}"))
	if len(parts) != 2 || c.ty != "b64" {
		c.unknown()
	}
	low, high := c.e.destination(parts[0], "b32"), c.e.destination(parts[1], "b32")
	from := c.e.source(c.operands[1], "b64")
	return func(t *thread) {
		v := from(t)
		low(t, v)
		high(t, v>>32)
	}
}

func (c *compiler) shift() instruction {
	return c.typed(func(x, y, _ uint64) uint64 {
		switch {
		case c.parts[0] == "shl":
			return x << y
		case c.isSigned():
			return uint64(signed(x, c.width) >> y)
		}
		return x >> y
	}, c.ty, c.ty, "b32")
}

// extract is bfe for unsigned numbers: it extracts bits. Position and number of bits are the low 8
// bits of their operands.
func (c *compiler) extract() instruction {
	if c.isFloat() || c.isSigned() {
		c.unknown()
	}
	return c.typed(func(x, y, z uint64) uint64 { return x >> (y & 255) & (1<<(z&255) - 1) }, c.ty, c.ty, "b32", "b32")
}

// multiply compiles products, integer multiply-adds and fused multiply-adds.
func (c *compiler) multiply() instruction {
	if c.isFloat() {
		c.rounded()
		if c.parts[0] == "mul" {
			return c.arithmetic(nil, func(a, b float64) float64 { return a * b })
		}
		return c.typed(func(x, y, z uint64) uint64 {
			if c.ty == "f32" {
				return uint64(math.Float32bits(fma32(float32Of(x), float32Of(y), float32Of(z))))
			}
			return bitsOf64(math.FMA(float64Of(x), float64Of(y), float64Of(z)))
		}, c.ty, c.ty, c.ty, c.ty)
	}
	result := c.ty
	if c.has("wide") {
		result = map[int]string{2: "b32", 4: "b64"}[c.width]
	} else if !c.has("lo") {
		c.unknown()
	}
	types := []string{result, c.ty, c.ty}
	if c.parts[0] == "mad" {
		types = append(types, result)
	}
	return c.typed(func(x, y, z uint64) uint64 { // the addend is 0 if there is none
		if c.isSigned() {
			return uint64(signed(x, c.width)*signed(y, c.width)) + z
		}
		return x*y + z
	}, types...)
}

// fma32 is a fused multiply-add in float32: the product is exact in float64, and the sum is rounded
// to odd in float64, so that rounding it to float32 gives the correctly rounded result.
func fma32(x, y, z float64) float32 {
	p := x * y
	s := p + z
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	v := s - p
	if lost := (p - (s - v)) + (z - v); lost != 0 && math.Float64bits(s)&1 == 0 {
		s = math.Nextafter(s, math.Copysign(math.Inf(1), lost))
	}
	return float32(s)
}
