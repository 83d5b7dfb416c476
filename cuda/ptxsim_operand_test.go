//go:build cuda && cgo && linux

package cuda

import (
	"math"
	"strconv"
	"strings"
)

// source returns an operand's value as raw bits.
type source func(t *thread) uint64

// register returns the number of a register that is used as a type. The sizes must be equal, as in
// ptxas.
func (e *ptxEntry) register(name, ty string) int {
	i, ok := e.registers[name]
	if !ok {
		fail("%s: register %s is not declared", e.Name, name)
	}
	if kind := e.kinds[i]; (kind == "pred") != (ty == "pred") || ty != "pred" && sizes[kind] != sizes[ty] {
		fail("%s: register %s is .%s, used as .%s", e.Name, name, kind, ty)
	}
	return i
}

// source reads an operand: a special register, a register, the address of shared memory or a
// number.
func (e *ptxEntry) source(o, ty string) source {
	for _, special := range []string{"%tid.", "%ctaid."} {
		if axis, ok := strings.CutPrefix(o, special); ok {
			k := int(axis[0] - 'x')
			if special == "%tid." {
				return func(t *thread) uint64 { return uint64(t.at[k]) }
			}
			return func(t *thread) uint64 { return uint64(t.b.at[k]) }
		}
	}
	if _, declared := e.registers[o]; declared || strings.HasPrefix(o, "%") {
		i := e.register(o, ty)
		return func(t *thread) uint64 {
			if !t.written[i] {
				fail("%s: %s is read before it was written, by %q", e.Name, o, e.text[t.pc])
			}
			return t.registers[i]
		}
	}
	v, ok := e.literal(o, ty)
	if !ok {
		fail("%s: operand %q", e.Name, o)
	}
	return func(*thread) uint64 { return v }
}

// literal reads the address of shared memory or a number.
func (e *ptxEntry) literal(o, ty string) (uint64, bool) {
	if a, ok := e.shared[o]; ok {
		return uint64(a), true
	}
	if strings.HasPrefix(o, "0f") || strings.HasPrefix(o, "0d") {
		v, err := strconv.ParseUint(o[2:], 16, 64)
		return v, err == nil
	}
	v, err := strconv.ParseInt(o, 0, 64)
	return uint64(v) & mask(ty), err == nil
}

// mask keeps the bits of a type.
func mask(ty string) uint64 {
	if w := sizes[ty]; w > 0 && w < 8 {
		return 1<<(8*w) - 1
	}
	return math.MaxUint64
}

// destination writes a register.
func (e *ptxEntry) destination(o, ty string) func(t *thread, v uint64) {
	i, m := e.register(o, ty), mask(ty)
	return func(t *thread, v uint64) { t.registers[i], t.written[i] = v&m, true }
}

// loaded writes a loaded value to a register. If the register is wider, the value is extended by
// its sign or by zeros.
func (e *ptxEntry) loaded(o, ty string) func(t *thread, v uint64) {
	i, ok := e.registers[o]
	if !ok || sizes[e.kinds[i]] <= sizes[ty] || e.kinds[i][0] == 'f' || ty[0] == 'f' {
		return e.destination(o, ty)
	}
	write := e.destination(o, e.kinds[i])
	if ty[0] != 's' {
		return write
	}
	return func(t *thread, v uint64) { write(t, uint64(signed(v, sizes[ty]))) }
}

// stored reads an operand to store, which may be wider than the stored type.
func (e *ptxEntry) stored(o, ty string) source {
	if i, ok := e.registers[o]; ok && sizes[e.kinds[i]] > sizes[ty] && e.kinds[i][0] != 'f' && ty[0] != 'f' {
		return e.source(o, e.kinds[i])
	}
	return e.source(o, ty)
}

// address reads [base+offset].
func (e *ptxEntry) address(o string) source {
	o = strings.TrimSuffix(strings.TrimPrefix(o, "["), "]")
	var offset int64
	if base, more, ok := strings.Cut(o, "+"); ok {
		v, err := strconv.ParseInt(more, 10, 64)
		if err != nil {
			fail("%s: address %q", e.Name, o)
		}
		offset, o = v, base
	}
	base := e.source(strings.TrimSpace(o), "b64")
	return func(t *thread) uint64 { return base(t) + uint64(offset) }
}

// operands splits a list at commas outside braces and brackets.
func operands(s string) (list []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	return append(list, strings.TrimSpace(s[from:]))
}

// Conversions between bits and numbers.
func float32Of(v uint64) float64   { return float64(math.Float32frombits(uint32(v))) }
func bitsOf32(f float64) uint64    { return uint64(math.Float32bits(float32(f))) }
func signed(v uint64, w int) int64 { return int64(v<<(64-8*w)) >> (64 - 8*w) }
func float64Of(v uint64) float64   { return math.Float64frombits(v) }
func bitsOf64(f float64) uint64    { return math.Float64bits(f) }
func floatOf(v uint64, ty string) float64 {
	if ty == "f32" {
		return float32Of(v)
	}
	return float64Of(v)
}
func bitsOf(f float64, ty string) uint64 {
	if ty == "f32" {
		return bitsOf32(f)
	}
	return bitsOf64(f)
}
