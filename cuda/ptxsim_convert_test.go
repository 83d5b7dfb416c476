//go:build cuda && cgo && linux

package cuda

import (
	"math"
	"strings"
)

// compare sets a predicate. The second form of a comparison of floats (ltu, …) is true for NaN,
// too.
func (c *compiler) compare() instruction {
	relation := c.parts[1]
	unordered := c.isFloat() && len(relation) == 3 && relation[2] == 'u'
	if unordered {
		relation = relation[:2]
	}
	holds, ok := map[string]func(less, equal bool) bool{
		"lt": func(l, e bool) bool { return l },
		"le": func(l, e bool) bool { return l || e },
		"gt": func(l, e bool) bool { return !l && !e },
		"ge": func(l, e bool) bool { return !l },
		"eq": func(l, e bool) bool { return e },
		"ne": func(l, e bool) bool { return !e },
	}[relation]
	if !ok {
		c.unknown()
	}
	return c.typed(func(a, b, _ uint64) uint64 {
		result := false
		switch {
		case c.isFloat():
			u, v := floatOf(a, c.ty), floatOf(b, c.ty)
			result = unordered
			if u == u && v == v {
				result = holds(u < v, u == v)
			}
		case c.isSigned():
			result = holds(signed(a, c.width) < signed(b, c.width), a == b)
		default:
			result = holds(a < b, a == b)
		}
		if result {
			return 1
		}
		return 0
	}, "pred", c.ty, c.ty)
}

// choose is selp: the first operand if the predicate is true, else the second.
func (c *compiler) choose() instruction {
	return c.typed(func(x, y, z uint64) uint64 {
		if z != 0 {
			return x
		}
		return y
	}, c.ty, c.ty, c.ty, "pred")
}

// convert is cvt.rounding.to.from. Values out of an integer's range are clamped, and NaN becomes 0.
func (c *compiler) convert() instruction {
	to, from := c.parts[len(c.parts)-2], c.ty
	var f func(v uint64) uint64
	switch toFloat, fromFloat := to[0] == 'f', from[0] == 'f'; {
	case !toFloat && !fromFloat && from[0] == 's':
		f = func(v uint64) uint64 { return uint64(signed(v, sizes[from])) }
	case !toFloat && !fromFloat:
		f = func(v uint64) uint64 { return v }
	case toFloat && fromFloat && c.has("rni"):
		f = func(v uint64) uint64 { return bitsOf(math.RoundToEven(floatOf(v, from)), to) }
	case to == "f32" && from == "f64" && c.has("rn"), to == "f64" && from == "f32":
		f = func(v uint64) uint64 { return bitsOf(floatOf(v, from), to) }
	case toFloat && c.has("rn") && from[0] == 's':
		f = func(v uint64) uint64 { return bitsOf(float64(signed(v, sizes[from])), to) }
	case toFloat && c.has("rn"):
		f = func(v uint64) uint64 { return bitsOf(float64(v), to) }
	case fromFloat && (c.has("rni") || c.has("rzi")):
		f = func(v uint64) uint64 { return toInteger(floatOf(v, from), to, c.has("rni")) }
	default:
		c.unknown()
	}
	return c.typed(func(x, _, _ uint64) uint64 { return f(x) }, to, from)
}

func toInteger(v float64, to string, nearest bool) uint64 {
	if nearest {
		v = math.RoundToEven(v)
	} else {
		v = math.Trunc(v)
	}
	n := float64(8 * sizes[to])
	low, high := 0.0, math.Exp2(n)
	if to[0] == 's' {
		low, high = -math.Exp2(n-1), math.Exp2(n-1)
	}
	switch {
	case v != v:
		return 0
	case v < low:
		return uint64(int64(low))
	case v >= high && to[0] == 's':
		return 1<<(8*sizes[to]-1) - 1
	case v >= high:
		return math.MaxUint64 & mask(to)
	case v < 0:
		return uint64(int64(v))
	}
	return uint64(v)
}

// memory compiles loads, stores and atomics.
func (c *compiler) memory() instruction {
	e, o := c.e, c.operands
	space := c.parts[1]
	switch {
	case c.parts[0] == "atom":
		f, ok := map[string]func(a, b uint64) uint64{
			"atom.shared.add.u32": func(a, b uint64) uint64 { return a + b },
			"atom.global.or.b32":  func(a, b uint64) uint64 { return a | b },
		}[c.name]
		if !ok {
			c.unknown()
		}
		c.need(3)
		d, at, v := e.destination(o[0], c.ty), e.address(o[1]), e.source(o[2], c.ty)
		return func(t *thread) {
			m := t.memory(space, at(t), 4)
			old := numberIn(m)
			store(m, f(old, v(t)))
			d(t, old)
		}
	case space == "param":
		c.need(2)
		p, ok := e.params[strings.Trim(o[1], "[]")]
		if !ok || p.size != c.width {
			fail("%s: parameter %s as .%s", e.Name, o[1], c.ty)
		}
		d := e.loaded(o[0], c.ty)
		return func(t *thread) { d(t, numberIn(t.b.g.arguments[p.offset:][:p.size])) }
	case space != "global" && space != "shared" && space != "local" || c.width == 0:
		c.unknown()
	}
	c.need(2)
	values, where := o[0], o[1]
	if c.parts[0] == "st" {
		values, where = o[1], o[0]
	}
	list := []string{values}
	n := 1
	if c.has("v2") {
		n = 2
	} else if c.has("v4") {
		n = 4
	}
	if n > 1 {
		list = operands(strings.Trim(values, "{}"))
	}
	if len(list) != n {
		c.unknown()
	}
	at, w := e.address(where), c.width
	if c.parts[0] == "ld" {
		var to []func(*thread, uint64)
		for _, v := range list {
			to = append(to, e.loaded(v, c.ty))
		}
		return func(t *thread) {
			m := t.memory(space, at(t), n*w)
			for i, d := range to {
				d(t, numberIn(m[i*w:][:w]))
			}
		}
	}
	var from []source
	for _, v := range list {
		from = append(from, e.stored(v, c.ty))
	}
	return func(t *thread) {
		m := t.memory(space, at(t), n*w)
		for i, v := range from {
			store(m[i*w:][:w], v(t))
		}
	}
}

func numberIn(b []byte) (v uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

func store(b []byte, v uint64) {
	for i := range b {
		b[i] = byte(v >> (8 * i))
	}
}
